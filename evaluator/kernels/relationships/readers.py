"""Reads relationships in both layouts: one image with all its predictions per line, or one pair per line."""

import numpy as np
from numba import types

from evaluator.kernels.jit import inlined, kernel, subroutine
from evaluator.kernels.reading import DONE, NOT_PLAIN, PREDICTIONS, UNKNOWN_IMAGES, next_image
from evaluator.kernels.relationships.matching import add_prediction
from evaluator.kernels.relationships.state import STATE, TRUTH
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.cells import cell_end, cell_number_at
from evaluator.kernels.text.lookup import is_plain, text_at
from evaluator.kernels.text.prediction_strings import (
    BLANK,
    LINE_FEED,
    RETURN,
    TAB,
    after_blanks,
    after_line,
    token_number_at,
)

CELLS = 13
# Kinds of cells in a row of a submission. Kinds 1 and 2 are labels, and kinds 4 to 12 are numbers.
IMAGE, RELATION = 0, 3


@subroutine
def _token_at(data, at, index, closed):
    """Return the code (an integer) of a label or relation in a prediction string, and the offset after it.

    The offset is 0 if the token cannot be read by a kernel; the reference implementation then reads the file.
    """
    if at == 0:
        return np.int64(-1), at
    at = after_blanks(data, at)
    code, end, _ = text_at(data, at, index)
    if code < 0 and (closed or not is_plain(data, at, end)):
        return code, 0
    if byte_at(data, end) not in (BLANK, TAB, LINE_FEED, RETURN):
        return code, 0
    return code, end


@inlined
def _box_at(data, at, index, closed):
    """Read a labelled box, and return (label, XMin, XMax, YMin, YMax, offset after these five tokens).

    The offset is 0 if a token cannot be read by a kernel; the reference implementation then reads the file.
    """
    label, at = _token_at(data, at, index, closed)
    if at == 0:
        return label, 0.0, 0.0, 0.0, 0.0, at
    x_min, at = token_number_at(data, at if byte_at(data, at) != BLANK else at + 1)
    y_min, at = token_number_at(data, at)
    x_max, at = token_number_at(data, at)
    y_max, at = token_number_at(data, at)
    return label, x_min, x_max, y_min, y_max, at


@subroutine
def _read_string(data, at, truth, state, threshold, image):
    """Read and match the predictions of one image. Return a status, such as DONE, and the offset of the next line."""
    while True:
        at = after_blanks(data, at)
        if byte_at(data, at) == LINE_FEED or byte_at(data, at) == RETURN:
            at = after_line(data, at)
            return (DONE if at else NOT_PLAIN), at
        confidence, at = token_number_at(data, at)
        one, a, b, c, d, at = _box_at(data, at, truth.labels, truth.closed[1])
        two, e, f, g, h, at = _box_at(data, at, truth.labels, truth.closed[1])
        relation, at = _token_at(data, at, truth.relations, truth.closed[2])
        if at == 0:
            return NOT_PLAIN, at
        state.counts[PREDICTIONS] += 1
        if image < 0:
            continue
        coordinates = (a, b, c, d, e, f, g, h)
        status = add_prediction(truth, state, threshold, image, (one, two), relation, confidence, coordinates)
        if status != DONE:
            return status, at


@kernel(types.uint8[::1], types.int64, types.int64, TRUTH, STATE, types.float64)
def read_strings(data, at, stop, truth, state, threshold):
    """Read whole lines of ``ImageId,PredictionString`` and match their predictions.

    Parameters
    ----------
    data : uint8 array
        Must be readable for 24 bytes beyond ``stop``. The function keeps no reference to the array.
    at, stop : int64
        Offsets of the first line and of the end; the byte at ``stop - 1`` is a line feed.
    truth : KernelTruth
    state : RelationshipState
        Must have room for one more curve entry per 24 bytes (the length of the shortest prediction), and for one more
        hash of an unknown image per 3 bytes.
    threshold : float64
        Smallest IoU of a match.

    Returns
    -------
    int64
        DONE, or the reason why only the reference implementation can read the file: NOT_PLAIN (special syntax, such as
        quotes) or NEGATIVE_CONFIDENCE. The state is valid only after DONE.
    """
    while at < stop:
        image, at = next_image(data, at, truth, state)
        if at == 0:
            return NOT_PLAIN
        status, at = _read_string(data, at, truth, state, threshold, image)
        if status != DONE:
            return status
    return DONE


@subroutine
def _text_cell_at(data, at, truth, kind, last):
    """Return the code (an integer) of a text cell and the offset of the next cell.

    The offset is 0 if the cell cannot be read by a kernel; the reference implementation then reads the file.
    """
    # ``truth.closed`` tells whether an unknown image (0), label (1) or relation (2) is a defect.
    which = 0 if kind == IMAGE else (2 if kind == RELATION else 1)
    if which == 0:
        code, end, _ = text_at(data, at, truth.images)
    elif which == 1:
        code, end, _ = text_at(data, at, truth.labels)
    else:
        code, end, _ = text_at(data, at, truth.relations)
    if code < 0 and (truth.closed[which] or not is_plain(data, at, end)):
        return code, 0
    return code, cell_end(data, end, last)


@kernel(
    types.uint8[::1],
    types.int64,
    types.int64,
    types.int64[::1],
    types.int64[::1],
    types.float64[::1],
    TRUTH,
    STATE,
    types.float64,
)
def read_rows(data, at, stop, kind_of_cell, codes, numbers, truth, state, threshold):
    """Read complete lines with one predicted pair per line, and match the pairs with the ground truth.

    Parameters
    ----------
    data, at, stop, truth, state, threshold
        As for :func:`read_strings`, but no hashes of unknown images are stored.
    kind_of_cell : int64 array of shape (13,)
        Kind of each cell of a line: 0 image, 1 and 2 labels, 3 relation, 4 confidence, 5 to 12 coordinates.
    codes, numbers : int64, float64 arrays of shapes (4,) and (9,)
        Scratch memory.

    Returns
    -------
    int64
        DONE, or the reason why only the reference implementation can read the file: NOT_PLAIN (special syntax, such as
        quotes) or NEGATIVE_CONFIDENCE. The state is valid only after DONE.
    """
    while at < stop:
        for cell in range(CELLS):
            kind, last = kind_of_cell[cell], cell == CELLS - 1
            if kind > RELATION:
                numbers[kind - 4], at = cell_number_at(data, at, last)
            else:
                codes[kind], at = _text_cell_at(data, at, truth, kind, last)
            if at == 0:
                return NOT_PLAIN
        state.counts[PREDICTIONS] += 1
        if codes[0] < 0:
            state.counts[UNKNOWN_IMAGES] += 1
            continue
        state.named[codes[0]] = 1
        first = (numbers[1], numbers[2], numbers[3], numbers[4])
        coordinates = (*first, numbers[5], numbers[6], numbers[7], numbers[8])
        status = add_prediction(
            truth, state, threshold, codes[0], (codes[1], codes[2]), codes[3], numbers[0], coordinates
        )
        if status != DONE:
            return status
    return DONE
