"""Computes weighted sums and areas under curves for a block of bootstrap replicates.

The reference implementation is ``evaluator.metrics.bootstrap``.

The weights of an image in all replicates of a block are contiguous in memory, so each entry of a curve needs only one
cache line and a few vector additions. An entry is a true or false positive with its confidence. The entries of a curve
are grouped into steps, as described in :class:`evaluator.metrics.resampling.CurveSteps`. Counts are whole numbers,
stored as float64, which represents them exactly.
"""

import numpy as np
from numba import types

from evaluator.draws import LANES
from evaluator.kernels.jit import inlined, kernel, read_only
from evaluator.kernels.text.bits import prefetch

# Number of image weights that are added as 16-bit integers, before the sum is added to a float64. A weight is at most
# 255, so the sum of 257 weights cannot overflow.
ROWS_PER_SUM = 257
# Rows of the array ``state``, which has one column for each bootstrap replicate. The first three rows are the total
# weights of the full true positives, partial true positives and false positives in the current and all later steps of a
# precision/recall curve. The other rows are the highest precision so far, the area so far, and the weights of the full
# and partial true positives of the current step.
FULL, PARTIAL, FALSE, ENVELOPE, AREA, RUN, PARTIAL_RUN = range(7)
STATES = 7
# The first pass stores the sums of a step for the second pass if the step ends within this many entries of a curve. The
# limit is a number of entries, not of steps: the number of steps depends on which predictions are true positives, and
# the running time must not reveal this. The sums take at most 3 MiB, and usually less than 1 MiB, which fits into the
# cache of the CPU.
KEPT_ENTRIES = 1 << 13
KINDS = 3  # Kinds of entries in a step: full true positives, partial true positives and false positives.
AHEAD = 16  # The weights of an image are requested from memory this many entries before they are added.
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
            prefetch(weights, np.int64(rows[min(entry + AHEAD, len(rows) - 1)]) * LANES)
            for lane in range(LANES):
                counts[lane] += weights[row, lane]
        for lane in range(LANES):
            total[lane] += counts[lane]


@inlined
def _add_again(weights, rows, begin, end, is_kept, counts, total):
    """Add the same weights as an earlier call of :func:`_add` with the same array ``counts``.

    If ``is_kept`` is true, ``counts`` has not been used for other images since that call. It then contains the sum of
    all weights if there are at most :data:`ROWS_PER_SUM` images. Otherwise, the weights are summed again.
    """
    if is_kept and 0 < end - begin <= ROWS_PER_SUM:
        for lane in range(LANES):
            total[lane] += counts[lane]
    else:
        _add(weights, rows, begin, end, counts, total)


@inlined
def _index_of(kept, step, entries):
    """Return the index in ``kept`` of the sums of a step that ends after the given number of entries of its curve.

    The last index is scratch memory. All steps that end beyond the first :data:`KEPT_ENTRIES` entries use it.
    """
    return np.uint64(step if entries <= KEPT_ENTRIES else len(kept) - 1)


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
    the total afterwards, so that the total contains only the true positives of the later steps.
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
    types.uint16[:, :, ::1],
    types.float64[:, ::1],
    types.float64[:, ::1],
)
def _areas(weights, rows, ends, firsts, partial_weight, envelope, kept, state, found):
    """Compute the area under each curve in two passes.

    The first pass sums the image weights of all entries (the true and false positives of a curve). The second pass adds
    up the areas of the steps, in order of ascending confidence. It reuses the sums that the first pass has stored in
    ``kept``.
    """
    begin = 0
    for curve in range(len(firsts) - 1):
        state[:] = 0.0
        bottom = begin
        first = firsts[curve]
        for step in range(first, firsts[curve + 1]):
            sums = kept[_index_of(kept, step - first, ends[step, 2] - bottom)]
            _add(weights, rows, begin, ends[step, 0], sums[0], state[FULL])
            _add(weights, rows, ends[step, 0], ends[step, 1], sums[1], state[PARTIAL])
            _add(weights, rows, ends[step, 1], ends[step, 2], sums[2], state[FALSE])
            begin = ends[step, 2]
        begin = bottom
        for step in range(first, firsts[curve + 1]):
            is_kept = ends[step, 2] - bottom <= KEPT_ENTRIES
            sums = kept[_index_of(kept, step - first, ends[step, 2] - bottom)]
            state[RUN:] = 0.0
            _add_again(weights, rows, begin, ends[step, 0], is_kept, sums[0], state[RUN])
            _add_again(weights, rows, ends[step, 0], ends[step, 1], is_kept, sums[1], state[PARTIAL_RUN])
            _add_run(state, partial_weight, envelope)
            _clear(state[RUN])
            _add_again(weights, rows, ends[step, 1], ends[step, 2], is_kept, sums[2], state[RUN])
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
    longest = int(np.diff(steps.firsts).max(initial=0))
    kept = np.empty((min(longest, KEPT_ENTRIES) + 1, KINDS, LANES), np.uint16)
    state = np.empty((STATES, LANES))
    _areas(weights, steps.rows, steps.ends, steps.firsts, partial_weight, steps.envelope, kept, state, areas)
    return np.divide(areas[: len(positives)], positives, out=np.full_like(positives, np.nan), where=positives > 0)


def _check(weights, rows, ends):
    """Raise an error if a kernel would access an array out of bounds, because kernels do not check bounds."""
    if weights.shape[1] != LANES:
        raise ValueError(f"expected a block of {LANES} replicates, found {weights.shape[1]}")
    if (len(rows) and rows.max() >= len(weights)) or ends.max(initial=0) != len(rows):
        raise IndexError("entries refer to images without weights")
