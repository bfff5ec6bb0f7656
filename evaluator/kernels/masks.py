"""How many pixels masks have in common, from their compressed run lengths; the twin is ``pycocotools``.

The cost of a pair depends on the mask that has fewer runs, so it is small beside what reading the other one takes.
"""

import numpy as np
from numba import types

from evaluator.kernels.jit import inlined, kernel, read_only

TEXT, PLACES = read_only(types.uint8), read_only(types.int64)
EDGE, INSIDE = range(2)  # where a run ends, and how many pixels are inside up to there


@inlined
def _decode(text, begin, end, runs, first):
    """Write the runs of one mask from ``first`` on; return the place after the last one."""
    at, run, before, last, edge, inside = begin, first, np.int64(0), np.int64(0), np.int64(0), np.int64(0)
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
            length += before
        before, last = last, length
        edge += length
        inside += length * ((run - first) & 1)
        runs[run, EDGE], runs[run, INSIDE] = edge, inside
        run += 1
    return run


@inlined
def _run_at(runs, low, stop, point):
    """Return the first run from ``low`` on that reaches a point: in ever longer steps, then by halves."""
    step = 1
    while low + step < stop and runs[low + step - 1, EDGE] < point:
        low += step
        step *= 2
    high = min(low + step, stop) - 1
    while low < high:
        middle = (low + high) // 2
        if runs[middle, EDGE] < point:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def _common(few, few_first, few_stop, many, first, stop):
    """Return how many pixels two masks have in common; each run inside the first one is looked up in the other."""
    common, at = np.int64(0), first
    for run in range(few_first + 1, few_stop, 2):
        for side in range(2):
            point = few[run - 1 + side, EDGE]
            at = _run_at(many, at, stop, point)
            beyond = (many[at, EDGE] - point) * ((at - first) & 1)
            common += (many[at, INSIDE] - beyond) * (2 * side - 1)
    return common


@kernel(
    TEXT,
    PLACES,
    TEXT,
    PLACES,
    read_only(types.int64, 2),
    types.int64[:, ::1],
    types.int64[:, ::1],
    types.int64[::1],
    types.float32[::1],
)
def intersections(ours, our_ends, theirs, their_ends, ranges, our_runs, their_runs, their_stops, common):
    """Find how many pixels each mask has in common with each of its partners.

    Parameters
    ----------
    ours, theirs : uint8 arrays
        Compressed run lengths, one mask after another; ``our_ends`` and ``their_ends`` say where each ends.
    ranges : int64 array of shape (N, 2)
        The first partner of each of ours, and the one after its last.
    our_runs, their_runs : int64 arrays of shapes (bytes of our longest, 2) and (bytes of theirs, 2)
        For the runs. ``their_stops``, one for each of theirs: where they end.
    common : float32 array of shape (pairs,)
        Receives the counts, partner by partner.
    """
    begin = np.int64(0)
    for its in range(len(their_ends)):
        their_stops[its] = _decode(theirs, begin, their_ends[its], their_runs, begin)
        begin = their_ends[its]
    begin, pair = np.int64(0), 0
    for mine in range(len(our_ends)):
        stop = _decode(ours, begin, our_ends[mine], our_runs, np.int64(0))
        begin = our_ends[mine]
        for its in range(ranges[mine, 0], ranges[mine, 1]):
            first = their_ends[its - 1] if its else np.int64(0)
            if stop < their_stops[its] - first:
                common[pair] = _common(our_runs, np.int64(0), stop, their_runs, first, their_stops[its])
            else:
                common[pair] = _common(their_runs, first, their_stops[its], our_runs, np.int64(0), stop)
            pair += 1
