"""Reads image-level labels in the long layout, which has one label per line, in any order."""

import numpy as np
from numba import types

from evaluator.kernels.classification.confidences import NOWHERE, keep_highest
from evaluator.kernels.classification.state import STATE, TRUTH, spare_position
from evaluator.kernels.jit import inlined, kernel, subroutine
from evaluator.kernels.reading import DONE, NOT_PLAIN, PREDICTIONS, UNKNOWN_IMAGES, UNKNOWN_LABELS
from evaluator.kernels.text.bits import prefetch
from evaluator.kernels.text.csv_blocks import BATCH, CODES_PER_LINE, position_in
from evaluator.kernels.text.csv_rows import read_batch

CELLS = 3
IMAGE, LABEL = 0, 1  # Kinds of cells in a row of a submission. Kind 2 is the confidence.


@inlined
def _position_of(truth, state, image, label):
    """Return the position of a row in ``state.highest``, and update the counters of ``state`` for the row.

    The position is NOWHERE if the image is not in the ground truth.
    """
    if image < 0:
        state.counts[UNKNOWN_IMAGES] += 1
        return np.int64(NOWHERE)
    state.named[image] = 1
    state.image_predictions[image] += 1
    state.counts[UNKNOWN_LABELS] += label < 0 or label >= truth.listed
    first, stop = np.int64(truth.verified_from[image]), np.int64(truth.verified_from[image + 1])
    position = position_in(truth.verified, first, stop, label, truth.search_steps)
    return position if position >= 0 else spare_position(truth, label)


@subroutine
def _add_batch(truth, state, batch, rows):
    """Keep the confidences of a batch.

    Each step processes all rows of the batch, so that the CPU can access the memory for several rows at once.
    """
    state.counts[PREDICTIONS] += rows
    for row in range(rows):
        if batch.codes[IMAGE, row] >= 0:
            first = np.int64(truth.verified_from[batch.codes[IMAGE, row]])
            prefetch(truth.verified, first)
            prefetch(truth.verified, first + CODES_PER_LINE)
    for row in range(rows):
        position = _position_of(truth, state, batch.codes[IMAGE, row], batch.codes[LABEL, row])
        batch.positions[row] = position
        prefetch(state.highest, position)
    keep_highest(state, batch, rows)


@kernel(types.uint8[::1], types.int64, types.int64, types.int64[::1], types.int64[::1], BATCH, TRUTH, STATE)
def read_rows(data, at, stop, kind_of_cell, cell_of_kind, batch, truth, state):
    """Read whole lines and keep the highest confidence of each verified label.

    Parameters
    ----------
    data, at, stop, truth, state
        As for :func:`evaluator.kernels.classification.strings.read_strings`, but ``data`` need only be readable for 64
        bytes beyond ``stop``, and no hashes of unknown images are stored.
    kind_of_cell : int64 array of shape (3,)
        Kind of each cell of a line: 0 image, 1 label, 2 confidence.
    cell_of_kind : int64 array of shape (3,)
        The inverse: index of the cell of each kind.
    batch : Batch
        Scratch memory.

    Returns
    -------
    int64
        DONE or NOT_PLAIN. The state is valid only after DONE.
    """
    indexes, closed = (truth.images, truth.labels), (truth.closed[IMAGE], truth.closed[LABEL])
    while at < stop:
        rows, at = read_batch(data, at, stop, indexes, closed, CELLS, kind_of_cell, cell_of_kind, batch)
        if at == 0:
            return NOT_PLAIN
        _add_batch(truth, state, batch, rows)
    return DONE
