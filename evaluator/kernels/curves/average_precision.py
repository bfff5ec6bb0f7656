"""Sorts the entries of all precision/recall curves into buckets, and computes average precisions from the buckets.

An entry is a true or false positive with its confidence. Each curve has two buckets: one for entries from public
images, and one for entries from private images.
"""

import numpy as np
from numba import types

from evaluator.kernels.jit import kernel, subroutine
from evaluator.kernels.text.bits import as_bits

# Kinds of entries. An entry is a PARTIAL_HIT if it adds less than 1 to the true positives. Such entries are sorted by
# :mod:`evaluator.kernels.curves.variants`.
HIT, MISS, PARTIAL_HIT = 0, 1, 1 << 31
_1 = np.uint64(1)


@kernel(types.uint32[::1], types.int64[::1])
def count(codes, counts):
    """Add the number of entries with each code to ``counts``, as the first pass of a counting sort.

    The codes are those of :func:`scatter`.
    """
    for code in codes:
        counts[code] += 1


@kernel(types.float64[::1], types.uint32[::1], types.int64[::1], types.uint64[::1])
def scatter(confidences, codes, next_free, keys):
    """Write the sort key of each curve entry to its bucket, as the second pass of a counting sort (Seward 1954).

    An entry is a true or false positive with its confidence. Each curve has a bucket for entries from public images and
    one for entries from private images.

    Parameters
    ----------
    confidences : float64 array of shape (N,), nonnegative
    codes : uint32 array of shape (N,)
        2 × bucket, plus 1 for a false positive.
    next_free : int64 array of shape (buckets,)
        Next free position of each bucket in ``keys``; updated in place.
    keys : uint64 array
        Receives the keys: 2 × the bits of the confidence, plus 1 for a false positive. Keys have the same order as the
        confidences.
    """
    for entry in range(len(codes)):
        bucket = codes[entry] >> np.uint32(1)
        keys[next_free[bucket]] = (as_bits(confidences[entry]) << _1) | np.uint64(codes[entry] & np.uint32(1))
        next_free[bucket] += 1


@subroutine
def _area(hits, precisions, points, positives, interpolated):
    """Return the area under a curve, summed in order of descending confidence.

    If ``interpolated`` is true, each precision is first replaced by the highest precision at the same or a higher
    recall.
    """
    for point in range(points - 2 if interpolated else -1, -1, -1):
        precisions[point] = max(precisions[point], precisions[point + 1])
    area, previous_recall = 0.0, 0.0
    for point in range(points):
        recall = hits[point] / positives
        area += (recall - previous_recall) * precisions[point]
        previous_recall = recall
    return area


@subroutine
def _average_precision(keys, other_keys, positives, interpolated, hits, precisions):
    """Return the area under a precision/recall curve whose entries are in two sorted arrays of keys.

    A key encodes the confidence of an entry, and whether the entry is a false positive. One array contains the keys
    from public images, the other those from private images; either may be empty. Numbers are added in the same order as
    in :func:`evaluator.metrics.average_precision.average_precision` and
    :func:`~evaluator.metrics.average_precision.stepwise_average_precision`, so that the results are identical. All keys
    with the same confidence form one point. Points without a new true positive do not change the recall and are
    skipped.

    Parameters
    ----------
    keys, other_keys : uint64 arrays, ascending, as :func:`scatter` writes them
    positives : float64, above 0
    interpolated : bool
    hits, precisions : float64 arrays, as long as ``keys`` and ``other_keys`` together
        Scratch memory.
    """
    first, second = len(keys) - 1, len(other_keys) - 1
    true, false, points = 0, 0, 0
    while first >= 0 or second >= 0:
        from_first = second < 0 or (first >= 0 and keys[first] >= other_keys[second])
        confidence = (keys[first] if from_first else other_keys[second]) >> _1
        before = true
        while first >= 0 and keys[first] >> _1 == confidence:
            true += np.int64(_1 - (keys[first] & _1))
            false += np.int64(keys[first] & _1)
            first -= 1
        while second >= 0 and other_keys[second] >> _1 == confidence:
            true += np.int64(_1 - (other_keys[second] & _1))
            false += np.int64(other_keys[second] & _1)
            second -= 1
        if true > before:
            hits[points] = true
            precisions[points] = np.float64(true) / np.float64(true + false)
            points += 1
    return _area(hits, precisions, points, positives, interpolated)


@kernel(
    *(types.uint64[::1], types.int64[::1], types.int64, types.int64),
    *(types.float64[::1], types.boolean, types.boolean, types.boolean),
    *(types.float64[::1], types.float64[::1], types.float64[::1]),
)
def average_precisions(keys, ends, first, stop, positives, public, private, interpolated, hits, precisions, found):
    """Compute the average precision of the classes from ``first`` to ``stop``.

    Parameters
    ----------
    keys : uint64 array
        Sort keys of the curve entries, as :func:`scatter` writes them, ascending within each bucket.
    ends : int64 array of shape (2 * C + 1 or more,)
        Start of each bucket in ``keys``, and the end of the last bucket. The number of a bucket is class × 2, plus 1
        for private images.
    first, stop : int64
    positives : float64 array of shape (C,), above 0
    public, private : bool
        Whether to include the buckets of the public images and those of the private images.
    interpolated : bool
        Whether the area is computed from the interpolated curve.
    hits, precisions : float64 arrays, as long as the keys of the longest curve
        Scratch memory.
    found : float64 array of shape (C,)
        Receives the average precisions.
    """
    for label in range(first, stop):
        start, middle, end = ends[2 * label], ends[2 * label + 1], ends[2 * label + 2]
        public_keys = keys[start : middle if public else start]
        private_keys = keys[middle : end if private else middle]
        found[label] = _average_precision(public_keys, private_keys, positives[label], interpolated, hits, precisions)
