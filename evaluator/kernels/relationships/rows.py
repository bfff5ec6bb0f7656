"""Reads relationships in the long layout, which has one pair per line, in any order."""

from numba import types

from evaluator.kernels.jit import inlined, kernel
from evaluator.kernels.reading import DONE, NOT_PLAIN, PREDICTIONS, UNKNOWN_IMAGES
from evaluator.kernels.relationships.batches import IMAGE, match_batch
from evaluator.kernels.relationships.state import STATE, TRUTH
from evaluator.kernels.text.csv_blocks import BATCH
from evaluator.kernels.text.csv_rows import read_batch

CELLS = 13


@inlined
def _add_batch(truth, state, threshold, batch, rows):
    """Match the pairs of a batch, and count them and their images. Return a status, such as DONE."""
    state.counts[PREDICTIONS] += rows
    for image in batch.codes[IMAGE, :rows]:
        if image >= 0:
            state.named[image] = 1
        else:
            state.counts[UNKNOWN_IMAGES] += 1
    return match_batch(truth, state, threshold, batch, rows)


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
        if at == 0:
            return NOT_PLAIN
        status = _add_batch(truth, state, threshold, batch, rows)
        if status != DONE:
            return status
    return DONE
