"""Counts the pixels that two masks have in common, given their compressed run lengths.

The reference implementation is ``pycocotools``. The time for a pair of masks is proportional to the number of runs in
the mask with fewer runs, so it is small compared with the time needed to decode the other mask.
"""

import numpy as np
from numba import types

from evaluator.kernels.jit import inlined, kernel, read_only

TEXT, OFFSETS, RANGES = read_only(types.uint8), read_only(types.int64), read_only(types.int64, 2)
# Columns of the array ``runs``: the pixel at which a run ends, and the number of mask pixels before that pixel.
EDGE, INSIDE = range(2)


@inlined
def _decode(text, begin, end, runs, first):
    """Write the runs of one mask to ``runs``, starting at index ``first``, and return the index after the last run."""
    at, run, edge, inside = begin, first, np.int64(0), np.int64(0)
    length_before_last, last_length = np.int64(0), np.int64(0)
    while at < end:
        length, shift, code = np.int64(0), 0, np.int64(32)
        while code & 32 and at < end:
            code = np.int64(text[at]) - 48
            length |= (code & 31) << shift
            shift += 5
            at += 1
        if code & 16:
            length -= np.int64(1) << shift
        if run - first > 2:
            length += length_before_last
        length_before_last, last_length = last_length, length
        edge += length
        inside += length * ((run - first) & 1)
        runs[run, EDGE], runs[run, INSIDE] = edge, inside
        run += 1
    return run


@inlined
def _run_at(runs, low, stop, pixel):
    """Return the index of the first run that ends at or after a pixel. The search begins at index ``low``.

    A galloping search is followed by a binary search.
    """
    step = 1
    while low + step < stop and runs[low + step - 1, EDGE] < pixel:
        low += step
        step *= 2
    high = min(low + step, stop) - 1
    while low < high:
        middle = (low + high) // 2
        if runs[middle, EDGE] < pixel:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _common(shorter, shorter_first, shorter_stop, longer, first, stop):
    """Return the number of pixels that two masks have in common.

    Each run of pixels inside the mask with fewer runs is looked up in the other mask. The runs of this other mask are
    in ``longer``, from index ``first`` up to, but not including, index ``stop``.
    """
    common, at = np.int64(0), first
    for run in range(shorter_first + 1, shorter_stop, 2):
        for side in range(2):
            pixel = shorter[run - 1 + side, EDGE]
            at = _run_at(longer, at, stop, pixel)
            beyond = (longer[at, EDGE] - pixel) * ((at - first) & 1)
            common += (longer[at, INSIDE] - beyond) * (2 * side - 1)
    return common


@kernel(
    TEXT,
    RANGES,
    TEXT,
    RANGES,
    OFFSETS,
    OFFSETS,
    types.int64[:, ::1],
    types.int64[:, ::1],
    types.int64[::1],
    types.float32[::1],
)
def intersections(texts, ranges, other_texts, other_ranges, stops, partners, runs, other_runs, other_stops, common):
    """Count the pixels that each mask has in common with each of several other masks, its partners.

    Parameters
    ----------
    texts, other_texts : uint8 arrays
        Compressed run lengths.
    ranges, other_ranges : int64 arrays of shapes (N, 2) and (M, 2)
        Begin and end of each mask in ``texts`` and in ``other_texts``.
    stops : int64 array of shape (N,)
        Index after the last pair of each mask.
    partners : int64 array of shape (pairs,)
        Index of the other mask in each pair. Pairs are ordered by mask.
    runs, other_runs : int64 arrays of shapes (bytes of the longest mask, 2) and (bytes of all other masks, 2)
        Scratch memory for the runs.
    other_stops : int64 array of shape (M,)
        Scratch memory: where the runs of each other mask end in ``other_runs``.
    common : float32 array of shape (pairs,)
        Receives the number of common pixels of each pair.
    """
    stop = np.int64(0)
    for other in range(len(other_ranges)):
        stop = _decode(other_texts, other_ranges[other, 0], other_ranges[other, 1], other_runs, stop)
        other_stops[other] = stop
    pair = 0
    for mask in range(len(ranges)):
        stop = _decode(texts, ranges[mask, 0], ranges[mask, 1], runs, np.int64(0))
        while pair < stops[mask]:
            other = partners[pair]
            first = other_stops[other - 1] if other else np.int64(0)
            if stop < other_stops[other] - first:
                common[pair] = _common(runs, np.int64(0), stop, other_runs, first, other_stops[other])
            else:
                common[pair] = _common(other_runs, first, other_stops[other], runs, np.int64(0), stop)
            pair += 1
