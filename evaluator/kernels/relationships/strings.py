"""Reads relationships in the Kaggle layout: ``ImageId,PredictionString``, one image per line."""

import numpy as np
from numba import types

from evaluator.kernels.jit import inlined, kernel, subroutine
from evaluator.kernels.reading import DONE, NOT_PLAIN, PREDICTIONS, next_image
from evaluator.kernels.relationships.matching import add_prediction, place_of
from evaluator.kernels.relationships.state import STATE, TRUTH
from evaluator.kernels.text.bits import byte_at
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
        coordinates, labels = (a, b, c, d, e, f, g, h), (one, two)
        place = place_of(truth, image, labels, relation)
        status = add_prediction(truth, state, threshold, image, labels, relation, place, confidence, coordinates)
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
