"""Weighted sums of a block of bootstrap replicates; the twins are ``evaluator.metrics.bootstrap``.

What an image counts in all replicates of a block lies side by side, so that one entry of a curve costs one cache line
and a few vector additions. Counts are whole numbers; they are kept as float64, which holds them exactly.
"""

import numpy as np
from numba import types

from evaluator.draws import LANES
from evaluator.kernels.jit import frozen, kernel, part

AT_ONCE = 257  # so many weights of at most 255 fit 16 bits
FULL, PARTIAL, FALSE, ENVELOPE, AREA, RUN, PARTIAL_RUN = range(7)  # what is kept for each replicate
KEPT = 7
SMALLEST = np.finfo(np.float64).tiny


@part
def _clear(numbers):
    for lane in range(LANES):
        numbers[lane] = 0


@part
def _add(weights, rows, begin, end, counts, total):
    """Add the weights of some rows to ``total``."""
    for first in range(begin, end, AT_ONCE):
        _clear(counts)
        for entry in range(first, min(first + AT_ONCE, end)):
            row = rows[entry]
            for lane in range(LANES):
                counts[lane] += weights[row, lane]
        for lane in range(LANES):
            total[lane] += counts[lane]


@kernel(frozen(types.uint8, 2), types.int32[::1], types.int64[::1], types.uint16[::1], types.float64[:, ::1])
def _sums(weights, rows, ends, counts, found):
    begin = 0
    for group in range(len(ends)):
        _clear(found[group])
        _add(weights, rows, begin, ends[group], counts, found[group])
        begin = ends[group]


@part
def _climb(kept, share, envelope):
    """Take one run of true positives: add its area, under the envelope if there is one, and leave it behind."""
    for lane in range(LANES):
        true = kept[FULL, lane] + share * kept[PARTIAL, lane]
        entries = true + kept[FALSE, lane]
        precision = true / (entries if entries > SMALLEST else SMALLEST)
        highest = kept[ENVELOPE, lane]
        highest = highest if envelope and highest > precision else precision
        kept[ENVELOPE, lane] = highest
        kept[AREA, lane] += (kept[RUN, lane] + share * kept[PARTIAL_RUN, lane]) * highest
        kept[FULL, lane] -= kept[RUN, lane]
        kept[PARTIAL, lane] -= kept[PARTIAL_RUN, lane]


@kernel(
    frozen(types.uint8, 2),
    types.int32[::1],
    types.int64[:, ::1],
    types.int64[::1],
    types.float64,
    types.boolean,
    types.uint16[::1],
    types.float64[:, ::1],
    types.float64[:, ::1],
)
def _areas(weights, rows, ends, firsts, share, envelope, counts, kept, found):
    """Sum up each curve twice: once to know what it holds, once from the least sure entry up."""
    begin = 0
    for curve in range(len(firsts) - 1):
        kept[:] = 0.0
        bottom = begin
        for step in range(firsts[curve], firsts[curve + 1]):
            _add(weights, rows, begin, ends[step, 0], counts, kept[FULL])
            _add(weights, rows, ends[step, 0], ends[step, 1], counts, kept[PARTIAL])
            _add(weights, rows, ends[step, 1], ends[step, 2], counts, kept[FALSE])
            begin = ends[step, 2]
        begin = bottom
        for step in range(firsts[curve], firsts[curve + 1]):
            kept[RUN:] = 0.0
            _add(weights, rows, begin, ends[step, 0], counts, kept[RUN])
            _add(weights, rows, ends[step, 0], ends[step, 1], counts, kept[PARTIAL_RUN])
            _climb(kept, share, envelope)
            _clear(kept[RUN])
            _add(weights, rows, ends[step, 1], ends[step, 2], counts, kept[RUN])
            for lane in range(LANES):
                kept[FALSE, lane] -= kept[RUN, lane]
            begin = ends[step, 2]
        for lane in range(LANES):
            found[curve, lane] = kept[AREA, lane]


def sums(weights, groups):
    """Return what the images of each group count in each replicate: ``evaluator.metrics.bootstrap.sums``."""
    _check(weights, groups.rows, groups.ends)
    found = np.empty((len(groups.ends), LANES))
    _sums(weights, groups.rows, groups.ends, np.empty(LANES, np.uint16), found)
    return found


def average_precisions(weights, steps, truths, part):
    """Return areas under curves, as ``evaluator.metrics.bootstrap.average_precisions`` does."""
    _check(weights, steps.rows, steps.ends)
    areas = np.empty((len(steps.firsts) - 1, LANES))
    work = np.empty(LANES, np.uint16), np.empty((KEPT, LANES))
    _areas(weights, steps.rows, steps.ends, steps.firsts, part, steps.envelope, *work, areas)
    return np.divide(areas, truths, out=np.full_like(areas, np.nan), where=truths > 0)


def _check(weights, rows, ends):
    """Nothing is checked further down: refuse rows that are not there."""
    if weights.shape[1] != LANES:
        raise ValueError(f"{weights.shape[1]} replicates in a block of {LANES}")
    if (len(rows) and rows.max() >= len(weights)) or ends.max(initial=0) != len(rows):
        raise IndexError("entries of images that have no weights")
