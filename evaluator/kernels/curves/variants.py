"""Sorts curve entries that have a code, and computes average precisions under several interpretations of the codes.

An entry is usually a prediction, and its code describes the outcome of the prediction. A *variant* is an interpretation
of the codes: it maps each code to a role, such as false positive. The explanation of a score compares many variants of
the same curves. The entries are sorted only once for all variants. The reference implementation is
``evaluator.metrics.average_precision``.
"""

import numpy as np
from numba import types

from evaluator.kernels.curves.sorting import SCRATCH, sort
from evaluator.kernels.jit import kernel, read_only, subroutine
from evaluator.kernels.text.bits import as_bits

CODE_BITS = 9
CODES = 1 << CODE_BITS
# Roles of an entry of a precision/recall curve: it is left out, or it is a true positive, a false positive or a true
# positive with a reduced weight. PARTIAL is the role of a matched group-of box, whose weight is a parameter of
# the track.
LEFT_OUT, TRUE, FALSE, PARTIAL = range(4)

SIGN = np.uint64(1 << 63)


@kernel(types.uint32[::1], types.int64, types.int64[:, ::1], types.int64[::1])
def count_codes(entries, reported, by_curve, by_code):
    """Count the entries of each curve and each code.

    An entry is usually a prediction, and its code describes its outcome.

    Parameters
    ----------
    entries : uint32 array of shape (N,)
        Curve × :data:`CODES`, plus the code.
    reported : int64
        Number of curves that are reported. They precede the other curves.
    by_curve : int64 array of shape (curves, low)
        The number of entries of each curve and each value of (code modulo ``low``); updated in place. ``low`` is a
        power of two.
    by_code : int64 array of shape (CODES,)
        The number of entries of each code in the reported curves; updated in place.
    """
    low = np.uint32(by_curve.shape[1] - 1)
    for entry in entries:
        curve = np.int64(entry >> np.uint32(CODE_BITS))
        by_curve[curve, entry & low] += 1
        by_code[entry & np.uint32(CODES - 1)] += curve < reported


@kernel(types.float64[::1], types.uint32[::1], types.int64[::1], types.uint64[::1], types.uint16[::1])
def scatter_codes(confidences, entries, next_free, keys, codes):
    """Write the sort key and the code of each entry to the bucket of its curve.

    An entry is usually a prediction with a confidence, and its code describes its outcome.

    Parameters
    ----------
    confidences : float64 array of shape (N,), no negative zero
    entries : uint32 array of shape (N,)
        As for :func:`count_codes`.
    next_free : int64 array of shape (curves,)
        Next free position of each bucket; updated in place.
    keys : uint64 array
        Receives the keys: the bits of the confidences, inverted for negative confidences, otherwise with the first bit
        set. Keys have the same order as the confidences.
    codes : uint16 array
    """
    for entry in range(len(entries)):
        curve = entries[entry] >> np.uint32(CODE_BITS)
        at = next_free[curve]
        bits = as_bits(confidences[entry])
        keys[at] = ~bits if bits & SIGN else bits | SIGN
        codes[at] = entries[entry] & np.uint32(CODES - 1)
        next_free[curve] = at + 1


@kernel(
    *(types.uint64[::1], types.uint16[::1], types.int64[::1], types.int64, types.int64),
    *(SCRATCH, types.uint16[::1]),
)
def sort_curves(keys, codes, ends, first, stop, scratch, scratch_codes):
    """Sort the entries of the curves from ``first`` to ``stop`` by ascending confidence.

    Parameters
    ----------
    keys, codes : uint64 and uint16 arrays
        The entries, curve by curve, as :func:`scatter_codes` writes them; sorted in place.
    ends : int64 array of shape (curves + 1,)
        Start of each curve in ``keys``, and the end of the last curve.
    first, stop : int64
    scratch : Scratch
    scratch_codes : uint16 array, as long as the longest curve
    """
    for curve in range(first, stop):
        part = slice(ends[curve], ends[curve + 1])
        sort(keys[part], codes[part], scratch, scratch_codes)


@subroutine
def _area(keys, codes, roles, positives, partial_weight, true, precisions):
    """Return the area under an interpolated precision/recall curve.

    As in :mod:`evaluator.kernels.curves.average_precision`, all entries with the same confidence form one point, and
    points without a new true positive are skipped.
    """
    hits, partial_hits, false, points, seen = 0, 0, 0, 0, 0
    for entry in range(len(keys) - 1, -1, -1):
        role = roles[codes[entry]]
        hits += role == TRUE
        partial_hits += role == PARTIAL
        false += role == FALSE
        if hits + partial_hits > seen and (entry == 0 or keys[entry - 1] != keys[entry]):
            seen = hits + partial_hits
            true[points] = partial_weight * partial_hits + np.float64(hits)
            precisions[points] = true[points] / (true[points] + np.float64(false))
            points += 1
    for point in range(points - 2, -1, -1):
        precisions[point] = max(precisions[point], precisions[point + 1])
    area, previous_recall = 0.0, 0.0
    for point in range(points):
        recall = true[point] / positives
        area += (recall - previous_recall) * precisions[point]
        previous_recall = recall
    return area


@kernel(
    *(read_only(types.uint64), read_only(types.uint16), types.int64[::1], types.int64, types.int64),
    *(types.uint8[:, ::1], types.float64[:, ::1], types.float64),
    *(types.float64[::1], types.float64[::1], types.float64[:, ::1]),
)
def areas_of_variants(keys, codes, ends, first, stop, roles, positives, partial_weight, true, precisions, areas):
    """Compute the average precision of each curve from ``first`` to ``stop`` in each variant.

    A variant maps each code, which describes the outcome of an entry, to a role, such as false positive.

    Parameters
    ----------
    keys, codes, ends, first, stop
        As for :func:`sort_curves`, sorted.
    roles : uint8 array of shape (variants, CODES)
        Role of each code in each variant.
    positives : float64 array of shape (variants, curves), above 0
    partial_weight : float64
        The amount that an entry with the role PARTIAL adds to the true positives.
    true, precisions : float64 arrays, as long as the longest curve
        Scratch memory.
    areas : float64 array of shape (variants, curves)
        Receives the average precisions.
    """
    for curve in range(first, stop):
        part = slice(ends[curve], ends[curve + 1])
        for variant in range(len(roles)):
            areas[variant, curve] = _area(
                keys[part], codes[part], roles[variant], positives[variant, curve], partial_weight, true, precisions
            )


@kernel(
    *(read_only(types.uint64), read_only(types.uint16), read_only(types.uint8)),
    *(types.uint64[::1], types.int64[:, ::1]),
)
def points_of_curve(keys, codes, roles, thresholds, counts):
    """Write one point for each distinct confidence of a curve, in descending order, and return their number.

    Parameters
    ----------
    keys, codes : uint64 and uint16 arrays of shape (N,)
        The entries of the curve, sorted as by :func:`sort_curves`. A code describes the outcome of an entry, and
        ``roles`` maps it to a role, such as false positive.
    roles : uint8 array of shape (CODES,)
    thresholds : uint64 array of shape (N,)
        Receives the sort key of the confidence of each point, as in ``keys``.
    counts : int64 array of shape (3, N)
        Receives the numbers of hits, of partial hits and of false positives at each point or before it.
    """
    hits, partial_hits, false, points, seen = 0, 0, 0, 0, 0
    for entry in range(len(keys) - 1, -1, -1):
        role = roles[codes[entry]]
        hits += role == TRUE
        partial_hits += role == PARTIAL
        false += role == FALSE
        if hits + partial_hits + false > seen and (entry == 0 or keys[entry - 1] != keys[entry]):
            seen = hits + partial_hits + false
            thresholds[points] = keys[entry]
            counts[0, points], counts[1, points], counts[2, points] = hits, partial_hits, false
            points += 1
    return points
