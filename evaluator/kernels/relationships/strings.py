"""Reads relationships in the Kaggle layout: ``ImageId,PredictionString``, one image per line."""

from numba import types

from evaluator.kernels.jit import inlined, kernel, subroutine
from evaluator.kernels.reading import DONE, NOT_PLAIN, PREDICTIONS, next_image
from evaluator.kernels.relationships.matching import add_prediction, place_of
from evaluator.kernels.relationships.state import STATE, TRUTH
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.decimals import short_number
from evaluator.kernels.text.lookup import after_text, code_of, is_plain
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
def _text_at(data, at):
    """Return the offsets of the begin and the end of the next token; (0, 0) if there is none or if ``at`` is 0."""
    begin = after_blanks(data, at)
    end = after_text(data, begin)
    if at == 0 or end == begin or byte_at(data, end) not in (BLANK, TAB, LINE_FEED, RETURN):
        return 0, 0
    return begin, end


@inlined
def _box_at(data, at):
    """Read a labelled box, token by token.

    Return the offsets of the label (begin and end), the coordinates (XMin, YMin, XMax, YMax), and the offset after
    these tokens, which is 0 if a token cannot be read.
    """
    begin, end = _text_at(data, at)
    at = end + 1 if byte_at(data, end) == BLANK else end
    x_min, at = token_number_at(data, at)
    y_min, at = token_number_at(data, at)
    x_max, at = token_number_at(data, at)
    y_max, at = token_number_at(data, at)
    return (begin, end), (x_min, y_min, x_max, y_max), at if end > 0 else 0


@subroutine
def _any_prediction_at(data, at):
    """Read a prediction, token by token. Labels and the relation are not looked up.

    Returns
    -------
    confidence : float64
    texts : three tuples of two int64
        The offsets of the begin and the end of both labels and of the relation. They are not empty.
    boxes : two tuples of four float64
        XMin, YMin, XMax, YMax.
    end : int64
        The offset after the prediction; 0 if it cannot be read by a kernel.
    """
    confidence, at = token_number_at(data, at)
    one, one_box, at = _box_at(data, at)
    two, two_box, at = _box_at(data, at)
    relation = _text_at(data, at)
    return confidence, (one, two, relation), (one_box, two_box), relation[1]


@inlined
def _plain_prediction_at(data, at):
    """Read a prediction in the most common notation, with the coordinates of a box at once.

    The results are those of :func:`_any_prediction_at`, which is needed to read the prediction if ``end`` is 0.
    """
    first, first_found = six_ends_at(data, at)
    first_found = first_found and byte_at(data, first[5]) == BLANK
    middle = first[5] + 1 if first_found else at
    second, second_found = six_ends_at(data, middle)
    confidence, is_short = short_number(data, at, first[0] - at)
    one_box, are_short = four_numbers_after(data, (first[1], first[2], first[3], first[4], first[5]))
    two_box, others_are_short = four_numbers_after(data, (second[0], second[1], second[2], second[3], second[4]))
    texts = ((first[0] + 1, first[1]), (middle, second[0]), (second[4] + 1, second[5]))
    have_texts = texts[0][0] < texts[0][1] and texts[1][0] < texts[1][1] and texts[2][0] < texts[2][1]
    found = first_found and second_found and is_short and are_short and others_are_short and have_texts
    return confidence, texts, (one_box, two_box), second[5] if found else 0


@inlined
def _code_at(data, text, index, closed):
    """Return the code of a label or relation, -1 if it is not in the index, and whether it is accepted."""
    code = code_of(data, text[0], text[1], index)
    return code, code >= 0 or not (closed or not is_plain(data, text[0], text[1]))


@subroutine
def _read_string(data, at, truth, state, threshold, image):
    """Read and match the predictions of one image. Return a status, such as DONE, and the offset of the next line."""
    while True:
        begin = after_blanks(data, at)
        if byte_at(data, begin) == LINE_FEED or byte_at(data, begin) == RETURN:
            at = after_line(data, begin)
            return (DONE if at else NOT_PLAIN), at
        confidence, texts, boxes, at = _plain_prediction_at(data, begin)
        if at == 0:
            confidence, texts, boxes, at = _any_prediction_at(data, begin)
        if at == 0:
            return NOT_PLAIN, at
        one, one_accepted = _code_at(data, texts[0], truth.labels, truth.closed[1])
        two, two_accepted = _code_at(data, texts[1], truth.labels, truth.closed[1])
        relation, relation_accepted = _code_at(data, texts[2], truth.relations, truth.closed[2])
        if not (one_accepted and two_accepted and relation_accepted):
            return NOT_PLAIN, at
        state.counts[PREDICTIONS] += 1
        if image < 0:
            continue
        (a, c, b, d), (e, g, f, h) = boxes
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
