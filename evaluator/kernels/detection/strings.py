"""Detections in Kaggle's shape: ``ImageId,PredictionString``, one image a line."""

import numpy as np
from numba import types

from evaluator.kernels.detection.state import STATE, TRUTH, enter, leave, origin_of, settle, take
from evaluator.kernels.jit import kernel, outlined
from evaluator.kernels.reading import (
    DONE,
    ODD,
    PREDICTIONS,
    UNKNOWN_LABELS,
    next_image,
)
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.lookup import is_plain, text_at
from evaluator.kernels.text.prediction_strings import BLANK, TAB, after_blanks, after_line, token_number_at

NO_IMAGE = -1


@outlined
def _read_string(data, at, truth, state, threshold, image, origin):
    """Read the predictions of one image; return (status, where the next line begins)."""
    while True:
        begin = at = after_blanks(data, at)
        label, end, _ = text_at(data, at, truth.labels)
        if end == begin:
            at = after_line(data, begin)
            return (DONE if at else ODD), at
        if byte_at(data, end) != BLANK and byte_at(data, end) != TAB:
            return ODD, at
        confidence, at = token_number_at(data, end + 1)
        x_min, at = token_number_at(data, at)
        y_min, at = token_number_at(data, at)
        x_max, at = token_number_at(data, at)
        y_max, at = token_number_at(data, at)
        if at == 0:
            return ODD, at
        state.counts[PREDICTIONS] += 1
        if label < 0 and (truth.closed[1] or not is_plain(data, begin, end)):
            return ODD, at
        if image == NO_IMAGE:
            continue
        state.counts[UNKNOWN_LABELS] += label < 0 or label >= truth.listed
        place = np.int64(state.place[label]) if label >= 0 else np.int64(-1)
        corners = (x_min, x_max, y_min, y_max)
        status = take(truth, state, origin, threshold, image, label, place, confidence, corners)
        if status != DONE:
            return status, at


@kernel(types.uint8[::1], types.int64, types.int64, TRUTH, STATE, types.float64, types.boolean)
def read_strings(data, at, stop, truth, state, threshold, groups_count):
    """Read whole lines and score what they say.

    Parameters
    ----------
    data : uint8 array
        Readable for 24 bytes beyond ``stop``; stays the caller's.
    at, stop : int64
        The lines; the last one ends with a line feed at ``stop - 1``.
    truth, state
        See :mod:`evaluator.kernels.detection.state`. Its entries must have room for one more each 12 bytes, its
        strangers for one more each 3.
    threshold : float64
    groups_count : bool
        Whether a group that was found is a true positive (weight 1) or nothing at all (weight 0).

    Returns
    -------
    int64 : DONE, ODD or NEGATIVE; after anything but DONE the state is of no use.
    """
    while at < stop:
        image, at = next_image(data, at, truth, state)
        if at == 0:
            return ODD
        if image < 0:
            status, at = _read_string(data, at, truth, state, threshold, image, (0, 0))
        else:
            origin = origin_of(truth, image)
            enter(truth, state, image)
            status, at = _read_string(data, at, truth, state, threshold, image, origin)
            leave(truth, state, image)
            settle(truth, state, origin, image, groups_count)
        if status != DONE:
            return status
    return DONE
