"""Reads relationships in the long layout, which has one pair per line, in any order."""

import numpy as np
from numba import types

from evaluator.kernels.jit import kernel, subroutine
from evaluator.kernels.reading import DONE, NOT_PLAIN, PREDICTIONS, UNKNOWN_IMAGES
from evaluator.kernels.relationships.matching import add_prediction, place_of
from evaluator.kernels.relationships.state import STATE, TRUTH
from evaluator.kernels.text.bits import prefetch
from evaluator.kernels.text.csv_blocks import BATCH, CODES_PER_LINE
from evaluator.kernels.text.csv_rows import read_batch

CELLS = 13
# Kinds of cells in a row of a submission. Kinds 4 to 12 are numbers: Score, and the coordinates of both boxes.
IMAGE, FIRST, SECOND, RELATION = range(4)


@subroutine
def _find_places(truth, state, batch, rows):
    """Write the place of each pair (see :func:`place_of`) to ``batch.positions``.

    Each step processes all rows of the batch, so that the CPU can access the memory for several rows at once.
    """
    images, width = batch.codes[IMAGE, :rows], state.best_candidates.shape[1]
    for image in images:
        if image >= 0:
            first = np.int64(truth.verified_from[image])
            prefetch(truth.verified_labels, first)
            prefetch(truth.verified_labels, first + CODES_PER_LINE)
            prefetch(truth.absent, first)
            prefetch(truth.triplets, np.int64(truth.triplets_from[image]))
    for row in range(rows):
        if images[row] >= 0:
            codes = batch.codes[:, row]
            place = place_of(truth, images[row], (codes[FIRST], codes[SECOND]), codes[RELATION])
            batch.positions[row] = place
            # A negative place may be prefetched too. The CPU could not predict a branch that depends on its sign.
            prefetch(truth.first, place * 4)
            prefetch(truth.second, place * 4)
            prefetch(state.best_candidates, place * width)
            prefetch(state.best_candidates, (len(truth.triplets) + place) * width)


@subroutine
def _add_batch(truth, state, threshold, batch, rows):
    """Match the pairs of a batch. Return a status, such as DONE."""
    _find_places(truth, state, batch, rows)
    for row in range(rows):
        state.counts[PREDICTIONS] += 1
        image, codes, numbers = batch.codes[IMAGE, row], batch.codes[:, row], batch.numbers[:, row]
        if image < 0:
            state.counts[UNKNOWN_IMAGES] += 1
            continue
        state.named[image] = 1
        labels, place, first = (codes[FIRST], codes[SECOND]), batch.positions[row], (numbers[1], numbers[2], numbers[3])
        coordinates = (*first, numbers[4], numbers[5], numbers[6], numbers[7], numbers[8])
        status = add_prediction(truth, state, threshold, image, labels, codes[RELATION], place, numbers[0], coordinates)
        if status != DONE:
            return status
    return DONE


@kernel(
    types.uint8[::1], types.int64, types.int64, types.int64[::1], types.int64[::1], BATCH, TRUTH, STATE, types.float64
)
def read_rows(data, at, stop, kind_of_cell, cell_of_kind, batch, truth, state, threshold):
    """Read complete lines with one predicted pair per line, and match the pairs with the ground truth.

    Parameters
    ----------
    data, at, stop, truth, state, threshold
        As for :func:`evaluator.kernels.relationships.strings.read_strings`, but ``data`` need only be readable for 64
        bytes beyond ``stop``, and no hashes of unknown images are stored.
    kind_of_cell : int64 array of shape (13,)
        Kind of each cell of a line: 0 image, 1 and 2 labels, 3 relation, 4 confidence, 5 to 12 coordinates.
    cell_of_kind : int64 array of shape (13,)
        The inverse: index of the cell of each kind.
    batch : Batch
        Scratch memory.

    Returns
    -------
    int64
        A status, as for :func:`~evaluator.kernels.relationships.strings.read_strings`.
    """
    indexes = truth.images, truth.labels, truth.labels, truth.relations
    closed = truth.closed[0], truth.closed[1], truth.closed[1], truth.closed[2]
    while at < stop:
        rows, at = read_batch(data, at, stop, indexes, closed, CELLS, kind_of_cell, cell_of_kind, batch)
        status = _add_batch(truth, state, threshold, batch, rows)
        if status != DONE:
            return status
        if at == 0:
            return NOT_PLAIN
    return DONE
