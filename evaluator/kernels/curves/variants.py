"""Sorts curve entries that have a code, and computes average precisions under several interpretations of the codes.

An entry is usually a prediction, and its code describes the outcome of the prediction. A *variant* is an interpretation
of the codes: it maps each code to a role, such as false positive. The explanation of a score compares many variants of
the same curves. The entries are sorted only once for all variants. The reference implementation is
``evaluator.metrics.average_precision``.
"""

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels.curves.sorting import SCRATCH, sort
from evaluator.kernels.jit import inlined, kernel, read_only
from evaluator.kernels.text.bits import as_bits, as_float

CODE_BITS = 9
CODES = 1 << CODE_BITS
# Roles of an entry of a precision/recall curve: it is a true positive, a false positive or a true positive with a
# reduced weight, or it is left out. PARTIAL is the role of a matched group-of box, whose weight is a parameter of
# the track.
TRUE, FALSE, PARTIAL, LEFT_OUT = range(4)
COUNTED = 3  # Number of roles whose entries are counted: all except LEFT_OUT, which is the last one.
LANES = 16  # Number of variants that are computed at once.

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


@kernel(read_only(types.uint16), types.int64[::1], types.boolean[::1])
def most_hits(codes, ends, can_hit):
    """Return the largest number of entries of a curve whose code can be a hit.

    ``can_hit``, a bool array of shape (CODES,), contains whether a code is a true positive in any variant.
    """
    most = 0
    for curve in range(len(ends) - 1):
        hits = 0
        for entry in range(ends[curve], ends[curve + 1]):
            hits += can_hit[codes[np.uint64(entry)]]
        most = max(most, hits)
    return most


@inlined
def _find_points(keys, codes, steps, can_hit, partial_weight, variants, counts, points, true, precisions):
    """Find the points of a curve in up to LANES variants at once. All entries with the same confidence form one point.

    Points without a new true positive are skipped, as in :mod:`evaluator.kernels.curves.average_precision`. The number
    of points of each variant is written to the first row of ``points``.
    """
    counts[:], points[:] = 0, 0
    pending = False
    for entry in range(len(keys) - 1, -1, -1):
        code = np.uint64(codes[np.uint64(entry)])
        pending |= can_hit[code]
        for count in range(COUNTED * LANES):
            counts[count] += steps[code, count]
        if not pending or (entry > 0 and keys[np.uint64(entry - 1)] == keys[np.uint64(entry)]):
            continue
        pending = False
        for lane in range(np.uint64(variants)):
            hits, partial = counts[lane + np.uint64(TRUE * LANES)], counts[lane + np.uint64(PARTIAL * LANES)]
            false, at = counts[lane + np.uint64(FALSE * LANES)], np.uint64(points[0, lane])
            # A point without a new true positive is overwritten by the next one. The CPU could not predict a branch.
            found = partial_weight * partial + np.float64(hits)
            true[lane, at], precisions[lane, at] = found, found / (found + np.float64(false))
            points[0, lane] += hits + partial > points[1, lane]
            points[1, lane] = hits + partial


@inlined
def _area(true, precisions, points, positives):
    """Return the area under an interpolated precision/recall curve, summed in order of descending confidence."""
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
    *(types.int32[:, :, ::1], types.boolean[::1], types.float64[:, ::1], types.float64),
    *(types.int32[::1], types.int32[:, ::1], types.float64[:, ::1], types.float64[:, ::1], types.float64[:, ::1]),
)
def areas_of_variants(
    keys, codes, ends, first, stop, steps, can_hit, positives, partial_weight, counts, points, true, precisions, areas
):
    """Compute the average precision of each curve from ``first`` to ``stop`` in each variant.

    A variant maps each code, which describes the outcome of an entry, to a role, such as false positive.

    Parameters
    ----------
    keys, codes, ends, first, stop
        As for :func:`sort_curves`, sorted.
    steps, can_hit
        The result of :func:`steps_of`.
    positives : float64 array of shape (variants, curves), above 0
    partial_weight : float64
        The amount that an entry with the role PARTIAL adds to the true positives.
    counts, points : int32 arrays of shapes (COUNTED × LANES,) and (2, LANES)
        Scratch memory.
    true, precisions : float64 arrays of shape (min(LANES, variants), M + 1)
        Scratch memory; M is the result of :func:`most_hits`.
    areas : float64 array of shape (variants, curves)
        Receives the average precisions.
    """
    for curve in range(first, stop):
        part = slice(ends[curve], ends[curve + 1])
        for chunk in range(len(steps)):
            begin = chunk * LANES
            variants = min(LANES, len(areas) - begin)
            scratch = counts, points, true, precisions
            _find_points(keys[part], codes[part], steps[chunk], can_hit, partial_weight, variants, *scratch)
            for lane in range(variants):
                variant = begin + lane
                found = _area(true[lane], precisions[lane], np.int64(points[0, lane]), positives[variant, curve])
                areas[variant, curve] = found


def steps_of(roles: NDArray[np.uint8]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return what each code adds to the counts of each variant, and whether a code can be a hit.

    Parameters
    ----------
    roles : uint8 array of shape (variants, CODES)
        Role of each code in each variant.

    Returns
    -------
    steps : int32 array of shape (chunks, CODES, COUNTED × LANES)
        1 if the code has the role in the variant, otherwise 0. The last axis is role × LANES, plus the number of the
        variant in its chunk. LEFT_OUT has no elements.
    can_hit : bool array of shape (CODES,)
    """
    chunks = -(-len(roles) // LANES)
    padded = np.full((chunks * LANES, CODES), LEFT_OUT, np.uint8)
    padded[: len(roles)] = roles
    by_code = padded.reshape(chunks, LANES, CODES).transpose(0, 2, 1)[:, :, None]
    steps: NDArray[np.int32] = (by_code == np.arange(COUNTED)[:, None]).astype(np.int32)
    can_hit: NDArray[np.bool_] = ((roles == TRUE) | (roles == PARTIAL)).any(axis=0)
    return np.ascontiguousarray(steps.reshape(chunks, CODES, COUNTED * LANES)), can_hit


@kernel(
    *(read_only(types.uint64), read_only(types.uint16), read_only(types.uint8), types.float64, types.float64),
    *(types.float64[::1], types.float64[::1], types.float64[::1]),
)
def points_of_curve(keys, codes, roles, positives, partial_weight, confidences, recalls, precisions):
    """Write one point for each distinct confidence of a curve, in descending order, and return their number.

    Parameters
    ----------
    keys, codes : uint64 and uint16 arrays of shape (N,)
        The entries of the curve, sorted as by :func:`sort_curves`. A code describes the outcome of an entry, and
        ``roles`` maps it to a role, such as false positive.
    roles : uint8 array of shape (CODES,)
    positives : float64, above 0
    partial_weight : float64
        As for :func:`areas_of_variants`.
    confidences, recalls, precisions : float64 arrays of shape (N,)
        Receive the points.
    """
    hits, partial_hits, false, points, seen = 0, 0, 0, 0, 0
    for entry in range(len(keys) - 1, -1, -1):
        role, key = roles[codes[np.uint64(entry)]], keys[np.uint64(entry)]
        hits += role == TRUE
        partial_hits += role == PARTIAL
        false += role == FALSE
        if hits + partial_hits + false > seen and (entry == 0 or keys[np.uint64(entry - 1)] != key):
            seen = hits + partial_hits + false
            true = partial_weight * partial_hits + np.float64(hits)
            confidences[np.uint64(points)] = as_float(key ^ SIGN if key & SIGN else ~key)
            recalls[np.uint64(points)] = true / positives
            precisions[np.uint64(points)] = true / (true + np.float64(false))
            points += 1
    return points


@kernel(types.int64, types.float64[::1], types.float64[::1], types.float64[::1])
def keep_corners(points, confidences, recalls, precisions):
    """Move the first point, the last point and the corners of a curve to the end of its points.

    A corner is a point whose precision is higher than at any lower confidence; see
    :func:`evaluator.metrics.curve_points.simplified`.

    Parameters
    ----------
    points : int64
        Number of points.
    confidences, recalls, precisions : float64 arrays
        The points, as :func:`points_of_curve` writes them; changed in place.

    Returns
    -------
    int64
        Index of the first of the points that were moved.
    """
    start, highest = points, -np.inf
    for point in range(points - 1, -1, -1):
        precision = precisions[np.uint64(point)]
        is_kept = (precision > highest) | (point == 0)
        start -= is_kept
        # A point that is not kept is overwritten by the next one.
        at = np.uint64(start if is_kept else start - 1)
        confidences[at], recalls[at] = confidences[np.uint64(point)], recalls[np.uint64(point)]
        precisions[at] = precision
        highest = max(highest, precision)
    return start
