"""Relationships in both shapes: one image a line with its predictions, or one pair a line in any order."""

import numpy as np
from numba import types

from evaluator.kernels.jit import kernel, outlined, part
from evaluator.kernels.reading import DONE, ODD, PREDICTIONS, UNKNOWN_IMAGES, next_image
from evaluator.kernels.relationships.state import STATE, TRUTH, take
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
IMAGE, RELATION = 0, 3  # the columns after these are numbers, in the order of the header


@outlined
def _token_at(data, at, index, closed):
    """Return (code, the place after a text of a prediction string); place 0 where it is odd."""
    if at == 0:
        return np.int64(-1), at
    at = after_blanks(data, at)
    code, end, _ = text_at(data, at, index)
    if code < 0 and (closed or not is_plain(data, at, end)):
        return code, 0
    if byte_at(data, end) not in (BLANK, TAB, LINE_FEED, RETURN):
        return code, 0
    return code, end


@part
def _box_at(data, at, index, closed):
    """Return (label, XMin, XMax, YMin, YMax, place); place 0 where something is odd."""
    label, at = _token_at(data, at, index, closed)
    if at == 0:
        return label, 0.0, 0.0, 0.0, 0.0, at
    x_min, at = token_number_at(data, at if byte_at(data, at) != BLANK else at + 1)
    y_min, at = token_number_at(data, at)
    x_max, at = token_number_at(data, at)
    y_max, at = token_number_at(data, at)
    return label, x_min, x_max, y_min, y_max, at


@outlined
def _read_string(data, at, truth, state, threshold, image):
    """Read the predictions of one image; return (status, where the next line begins)."""
    while True:
        at = after_blanks(data, at)
        if byte_at(data, at) == LINE_FEED or byte_at(data, at) == RETURN:
            at = after_line(data, at)
            return (DONE if at else ODD), at
        confidence, at = token_number_at(data, at)
        one, a, b, c, d, at = _box_at(data, at, truth.labels, truth.closed[1])
        two, e, f, g, h, at = _box_at(data, at, truth.labels, truth.closed[1])
        relation, at = _token_at(data, at, truth.relations, truth.closed[2])
        if at == 0:
            return ODD, at
        state.counts[PREDICTIONS] += 1
        if image < 0:
            continue
        corners = (a, b, c, d, e, f, g, h)
        status = take(truth, state, threshold, image, (one, two), relation, confidence, corners)
        if status != DONE:
            return status, at


@kernel(types.uint8[::1], types.int64, types.int64, TRUTH, STATE, types.float64)
def read_strings(data, at, stop, truth, state, threshold):
    """Read whole lines of ``ImageId,PredictionString``.

    Parameters
    ----------
    data : uint8 array
        Readable for 24 bytes beyond ``stop``; stays the caller's.
    at, stop : int64
        The lines; the last one ends with a line feed at ``stop - 1``.
    truth, state
        See :mod:`evaluator.kernels.relationships.state`. Its entries must have room for one more each 24 bytes, its
        strangers for one more each 3.
    threshold : float64

    Returns
    -------
    int64 : DONE, ODD or NEGATIVE; after anything but DONE the state is of no use.
    """
    while at < stop:
        image, at = next_image(data, at, truth, state)
        if at == 0:
            return ODD
        status, at = _read_string(data, at, truth, state, threshold, image)
        if status != DONE:
            return status
    return DONE


@outlined
def _text_cell_at(data, at, truth, kind, last):
    """Return (code, place of the next cell); place 0 where it is odd."""
    which = 0 if kind == IMAGE else (2 if kind == RELATION else 1)  # its place in ``closed``
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
def read_rows(data, at, stop, order, codes, numbers, truth, state, threshold):
    """Read whole lines of one pair each.

    Parameters
    ----------
    data, at, stop, truth, state, threshold
        As for :func:`read_strings`; no strangers are kept.
    order : int64 array of shape (13,)
        What each cell of a line is: 0 image, 1 and 2 labels, 3 relation, 4 confidence, 5 to 12 corners.
    codes, numbers : int64, float64 arrays of shapes (4,) and (9,)
        To work in.

    Returns
    -------
    int64 : DONE, ODD or NEGATIVE; after anything but DONE the state is of no use.
    """
    while at < stop:
        for cell in range(CELLS):
            kind, last = order[cell], cell == CELLS - 1
            if kind > RELATION:
                numbers[kind - 4], at = cell_number_at(data, at, last)
            else:
                codes[kind], at = _text_cell_at(data, at, truth, kind, last)
            if at == 0:
                return ODD
        state.counts[PREDICTIONS] += 1
        if codes[0] < 0:
            state.counts[UNKNOWN_IMAGES] += 1
            continue
        state.named[codes[0]] = 1
        first = (numbers[1], numbers[2], numbers[3], numbers[4])
        corners = (*first, numbers[5], numbers[6], numbers[7], numbers[8])
        status = take(truth, state, threshold, codes[0], (codes[1], codes[2]), codes[3], numbers[0], corners)
        if status != DONE:
            return status
    return DONE
