"""Reads relationships in the long layout, which has one pair per line, in any order."""

import numpy as np
from numba import types

from evaluator.kernels.jit import kernel, subroutine
from evaluator.kernels.reading import DONE, NOT_PLAIN, PREDICTIONS, UNKNOWN_IMAGES
from evaluator.kernels.relationships.matching import add_prediction, place_of
from evaluator.kernels.relationships.state import CANDIDATE_NUMBERS, STATE, TRUTH
from evaluator.kernels.text.bits import prefetch
from evaluator.kernels.text.cells import cell_end, cell_number_at
from evaluator.kernels.text.csv_blocks import BATCH, LANES, codes_of, find_cell_ends, follows, numbers_of
from evaluator.kernels.text.lookup import is_plain, text_at
from evaluator.kernels.text.prediction_strings import COMMA, LINE_FEED

CELLS = 13
# Kinds of cells in a row of a submission. Kinds 4 to 12 are numbers: Score, and the coordinates of both boxes.
IMAGE, FIRST, SECOND, RELATION = range(4)
# For each kind of text, the index in ``truth.closed`` that tells whether an unknown image, label or relation is a
# defect.
CLOSED = (0, 1, 1, 2)


@subroutine
def _index_of(truth, kind):
    """Return the hash table for the texts of a kind."""
    if kind == IMAGE:
        return truth.images
    return truth.relations if kind == RELATION else truth.labels


@subroutine
def _read_row(data, at, truth, kind_of_cell, batch, row):
    """Read a line into ``batch``, cell by cell. Return the offset of the next line.

    The offset is 0 if the line is not in plain syntax, for example because of quotes (see
    :mod:`evaluator.kernels.reading`).
    """
    for cell in range(CELLS):
        kind, last = kind_of_cell[cell], cell == CELLS - 1
        if kind > RELATION:
            batch.numbers[kind - 4, row], at = cell_number_at(data, at, last)
        else:
            code, end, _ = text_at(data, at, _index_of(truth, kind))
            if code < 0 and (truth.closed[CLOSED[kind]] or not is_plain(data, at, end)):
                return 0
            batch.codes[kind, row] = code
            at = cell_end(data, end, last)
        if at == 0:
            return 0
    return at


@subroutine
def _read_rows(data, at, stop, truth, kind_of_cell, batch):
    """Fill a batch line by line. Return the number of lines and the offset of the next line.

    The offset is 0 if a line cannot be read by a kernel; the reference implementation then reads the file.
    """
    rows = 0
    while at < stop and rows < len(batch.positions):
        at = _read_row(data, at, truth, kind_of_cell, batch, rows)
        if at == 0:
            return rows, at
        rows += 1
    return rows, at


@subroutine
def _read_plain_rows(data, at, stop, truth, cell_of_kind, batch):
    """Fill a batch column by column. Return the number of lines and the offset of the next line.

    The result is (0, ``at``) if a line has blanks, CRLF or a wrong number of cells; :func:`_read_rows` reads such
    lines.
    """
    rows = min(find_cell_ends(data, at, stop, batch.ends) // CELLS, len(batch.positions))
    for row in range(rows):
        for cell in range(CELLS - 1):
            if not follows(data, batch.ends, row * CELLS + cell, COMMA):
                return 0, at
        if not follows(data, batch.ends, row * CELLS + CELLS - 1, LINE_FEED):
            return 0, at
    for kind in range(CELLS):
        first = cell_of_kind[kind]
        if kind > RELATION:
            is_plain_column = numbers_of(data, batch.ends, first, CELLS, batch.numbers[kind - 4, :rows])
        else:
            closed, codes = truth.closed[CLOSED[kind]], batch.codes[kind, :rows]
            is_plain_column = codes_of(data, batch.ends, first, CELLS, _index_of(truth, kind), closed, codes)
        if not is_plain_column:
            return 0, at
    return rows, batch.ends[rows * CELLS] + 1


@subroutine
def _find_places(truth, state, batch, rows):
    """Write the place of each pair (see :func:`place_of`) to ``batch.positions``.

    Each step processes all rows of the batch, so that the CPU can access the memory for several rows at once.
    """
    images = batch.codes[IMAGE, :rows]
    for image in images:
        if image >= 0:
            first = np.int64(truth.verified_from[image])
            prefetch(truth.verified_labels, first)
            prefetch(truth.verified_labels, first + LANES)
            prefetch(truth.absent, first)
            prefetch(truth.triplets, np.int64(truth.triplets_from[image]))
    for row in range(rows):
        if images[row] >= 0:
            codes = batch.codes[:, row]
            place = place_of(truth, images[row], (codes[FIRST], codes[SECOND]), codes[RELATION])
            batch.positions[row] = place
            if place >= 0:
                prefetch(truth.first, place * 4)
                prefetch(truth.second, place * 4)
                prefetch(state.best_candidates, place * CANDIDATE_NUMBERS)
                prefetch(state.best_candidates, (len(truth.triplets) + place) * CANDIDATE_NUMBERS)


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
        As for :func:`evaluator.kernels.relationships.strings.read_strings`, but ``data`` must be readable for 64 bytes
        beyond ``stop``, and no hashes of unknown images are stored.
    kind_of_cell : int64 array of shape (13,)
        Kind of each cell of a line: 0 image, 1 and 2 labels, 3 relation, 4 confidence, 5 to 12 coordinates.
    cell_of_kind : int64 array of shape (13,)
        The inverse: index of the cell of each kind.
    batch : Batch
        Scratch memory.

    Returns
    -------
    int64
        DONE, or the reason why only the reference implementation can read the file: NOT_PLAIN (special syntax, such as
        quotes) or NEGATIVE_CONFIDENCE. The state is valid only after DONE.
    """
    while at < stop:
        rows, at = _read_plain_rows(data, at, stop, truth, cell_of_kind, batch)
        if rows == 0:
            rows, at = _read_rows(data, at, stop, truth, kind_of_cell, batch)
        status = _add_batch(truth, state, threshold, batch, rows)
        if status != DONE:
            return status
        if at == 0:
            return NOT_PLAIN
    return DONE
