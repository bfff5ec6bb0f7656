"""Reads relationships in the Kaggle layout: ``ImageId,PredictionString``, one image per line."""

import numpy as np
from numba import types

from evaluator.kernels.jit import inlined, kernel, subroutine
from evaluator.kernels.reading import DONE, NOT_PLAIN, PREDICTIONS, next_image
from evaluator.kernels.relationships.matching import add_prediction, place_of
from evaluator.kernels.relationships.state import STATE, TRUTH
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.decimals import short_number
from evaluator.kernels.text.lookup import code_of_short, is_plain, text_at
from evaluator.kernels.text.prediction_strings import (
    BLANK,
    LINE_FEED,
    RETURN,
    TAB,
    after_blanks,
    after_line,
    four_numbers_after,
    six_ends_at,
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
    """Read a labelled box, token by token. Return (label, (XMin, YMin, XMax, YMax), offset after these tokens).

    The offset is 0 if a token cannot be read by a kernel; the reference implementation then reads the file.
    """
    label, at = _token_at(data, at, index, closed)
    at = at + 1 if at > 0 and byte_at(data, at) == BLANK else at
    if at == 0:
        return label, (0.0, 0.0, 0.0, 0.0), at
    x_min, at = token_number_at(data, at)
    y_min, at = token_number_at(data, at)
    x_max, at = token_number_at(data, at)
    y_max, at = token_number_at(data, at)
    return label, (x_min, y_min, x_max, y_max), at


@subroutine
def _any_prediction_at(data, at, truth):
    """Read a prediction, token by token.

    Returns
    -------
    confidence : float64
    labels : two int64
    relation : int64
    boxes : two tuples of four float64
        XMin, YMin, XMax, YMax.
    end : int64
        The offset after the prediction; 0 if it cannot be read by a kernel.
    """
    confidence, at = token_number_at(data, at)
    one, one_box, at = _box_at(data, at, truth.labels, truth.closed[1])
    two, two_box, at = _box_at(data, at, truth.labels, truth.closed[1])
    relation, at = _token_at(data, at, truth.relations, truth.closed[2])
    return confidence, (one, two), relation, (one_box, two_box), at


@inlined
def _plain_prediction_at(data, at, truth):
    """Read a prediction in the most common notation and with known labels, with the coordinates of a box at once.

    The results are those of :func:`_any_prediction_at`, which is needed to read the prediction if ``end`` is 0.
    """
    first, first_found = six_ends_at(data, at)
    middle = first[5] + 1 if first_found else at
    second, second_found = six_ends_at(data, middle)
    confidence, is_short = short_number(data, at, first[0] - at)
    one = code_of_short(data, first[0] + 1, first[1] - first[0] - 1, truth.labels)
    two = code_of_short(data, middle, second[0] - middle, truth.labels)
    relation = code_of_short(data, second[4] + 1, second[5] - second[4] - 1, truth.relations)
    one_box, are_short = four_numbers_after(data, (first[1], first[2], first[3], first[4], first[5]))
    two_box, others_are_short = four_numbers_after(data, (second[0], second[1], second[2], second[3], second[4]))
    found = first_found and second_found and is_short and are_short and others_are_short
    end = second[5] if found and one >= 0 and two >= 0 and relation >= 0 else 0
    return confidence, (one, two), relation, (one_box, two_box), end


@subroutine
def _read_string(data, at, truth, state, threshold, image):
    """Read and match the predictions of one image. Return a status, such as DONE, and the offset of the next line."""
    while True:
        begin = after_blanks(data, at)
        if byte_at(data, begin) == LINE_FEED or byte_at(data, begin) == RETURN:
            at = after_line(data, begin)
            return (DONE if at else NOT_PLAIN), at
        confidence, labels, relation, boxes, at = _plain_prediction_at(data, begin, truth)
        if at == 0:
            confidence, labels, relation, boxes, at = _any_prediction_at(data, begin, truth)
        if at == 0:
            return NOT_PLAIN, at
        state.counts[PREDICTIONS] += 1
        if image < 0:
            continue
        (a, c, b, d), (e, g, f, h) = boxes
        coordinates = (a, b, c, d, e, f, g, h)
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
        Must be readable for 96 bytes beyond ``stop``. The function keeps no reference to the array.
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
