"""Computes weighted sums and areas under curves for a block of bootstrap replicates.

The reference implementation is ``evaluator.metrics.bootstrap``.

The weights of an image in all replicates of a block are contiguous in memory, so each entry of a curve needs only one
cache line and a few vector additions. An entry is a true or false positive with its confidence. Counts are whole
numbers, stored as float64, which represents them exactly.
"""

import numpy as np
from numba import types

from evaluator.draws import LANES
from evaluator.kernels.jit import inlined, kernel, read_only

# Number of image weights that are added as 16-bit integers, before the sum is added to a float64. A weight is at most
# 255, so the sum of 257 weights cannot overflow.
ROWS_PER_SUM = 257
# Rows of the array ``state``, which has one column for each bootstrap replicate. The first three rows are the total
# weights of the full true positives, partial true positives and false positives in the current and all later steps of a
# precision/recall curve. The other rows are the highest precision so far, the area so far, and the weights of the full
# and partial true positives of the current step.
FULL, PARTIAL, FALSE, ENVELOPE, AREA, RUN, PARTIAL_RUN = range(7)
STATES = 7
SMALLEST = np.finfo(np.float64).tiny


@inlined
def _clear(numbers):
    for lane in range(LANES):
        numbers[lane] = 0


@inlined
def _add(weights, rows, begin, end, counts, total):
    """Add the weights of some images to ``total``, separately for each replicate.

    The images are the elements of ``rows`` from index ``begin`` up to, but not including, index ``end``.
    """
    for first in range(begin, end, ROWS_PER_SUM):
        _clear(counts)
        for entry in range(first, min(first + ROWS_PER_SUM, end)):
            row = rows[entry]
            for lane in range(LANES):
                counts[lane] += weights[row, lane]
        for lane in range(LANES):
            total[lane] += counts[lane]


@kernel(read_only(types.uint8, 2), types.int32[::1], types.int64[::1], types.uint16[::1], types.float64[:, ::1])
def _sums(weights, rows, ends, counts, found):
    begin = 0
    for group in range(len(ends)):
        _clear(found[group])
        _add(weights, rows, begin, ends[group], counts, found[group])
        begin = ends[group]


@inlined
def _add_run(state, partial_weight, envelope):
    """Add the area of one step of a curve to the total area, separately for each replicate.

    Steps are processed in order of ascending confidence. Therefore, the true positives of the step are subtracted from
    the total afterwards, so that the total contains only those of the steps with higher confidence.
    """
    for lane in range(LANES):
        true = state[FULL, lane] + partial_weight * state[PARTIAL, lane]
        entries = true + state[FALSE, lane]
        precision = true / (entries if entries > SMALLEST else SMALLEST)
        highest = state[ENVELOPE, lane]
        highest = highest if envelope and highest > precision else precision
        state[ENVELOPE, lane] = highest
        state[AREA, lane] += (state[RUN, lane] + partial_weight * state[PARTIAL_RUN, lane]) * highest
        state[FULL, lane] -= state[RUN, lane]
        state[PARTIAL, lane] -= state[PARTIAL_RUN, lane]


@kernel(
    read_only(types.uint8, 2),
    types.int32[::1],
    types.int64[:, ::1],
    types.int64[::1],
    types.float64,
    types.boolean,
    types.uint16[::1],
    types.float64[:, ::1],
    types.float64[:, ::1],
)
def _areas(weights, rows, ends, firsts, partial_weight, envelope, counts, state, found):
    """Compute the area under each curve in two passes.

    The first pass sums the image weights of all entries (the true and false positives of a curve). The second pass adds
    up the areas of the steps, in order of ascending confidence.
    """
    begin = 0
    for curve in range(len(firsts) - 1):
        state[:] = 0.0
        bottom = begin
        for step in range(firsts[curve], firsts[curve + 1]):
            _add(weights, rows, begin, ends[step, 0], counts, state[FULL])
            _add(weights, rows, ends[step, 0], ends[step, 1], counts, state[PARTIAL])
            _add(weights, rows, ends[step, 1], ends[step, 2], counts, state[FALSE])
            begin = ends[step, 2]
        begin = bottom
        for step in range(firsts[curve], firsts[curve + 1]):
            state[RUN:] = 0.0
            _add(weights, rows, begin, ends[step, 0], counts, state[RUN])
            _add(weights, rows, ends[step, 0], ends[step, 1], counts, state[PARTIAL_RUN])
            _add_run(state, partial_weight, envelope)
            _clear(state[RUN])
            _add(weights, rows, ends[step, 1], ends[step, 2], counts, state[RUN])
            for lane in range(LANES):
                state[FALSE, lane] -= state[RUN, lane]
            begin = ends[step, 2]
        for lane in range(LANES):
            found[curve, lane] = state[AREA, lane]


def sums(weights, groups):
    """Return the total image weight of each group in each replicate, like :func:`evaluator.metrics.bootstrap.sums`."""
    _check(weights, groups.rows, groups.ends)
    found = np.empty((len(groups.ends), LANES))
    _sums(weights, groups.rows, groups.ends, np.empty(LANES, np.uint16), found)
    return found


def average_precisions(weights, steps, positives, partial_weight):
    """Return the area under each precision/recall curve; see :func:`evaluator.metrics.bootstrap.average_precisions`."""
    _check(weights, steps.rows, steps.ends)
    areas = np.empty((len(steps.firsts) - 1, LANES))
    work = np.empty(LANES, np.uint16), np.empty((STATES, LANES))
    _areas(weights, steps.rows, steps.ends, steps.firsts, partial_weight, steps.envelope, *work, areas)
    return np.divide(areas[: len(positives)], positives, out=np.full_like(positives, np.nan), where=positives > 0)


def _check(weights, rows, ends):
    """Raise an error if a kernel would access an array out of bounds, because kernels do not check bounds."""
    if weights.shape[1] != LANES:
        raise ValueError(f"expected a block of {LANES} replicates, found {weights.shape[1]}")
    if (len(rows) and rows.max() >= len(weights)) or ends.max(initial=0) != len(rows):
        raise IndexError("entries refer to images without weights")
