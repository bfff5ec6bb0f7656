"""Reads detections in the Kaggle layout: ``ImageId,PredictionString``, one image per line."""

import numpy as np
from numba import types

from evaluator.kernels.detection.matching import (
    add_prediction,
    clear_class_positions,
    finish_image,
    set_class_positions,
)
from evaluator.kernels.detection.state import STATE, TRUTH, offsets_of
from evaluator.kernels.jit import inlined, kernel, subroutine
from evaluator.kernels.reading import (
    DONE,
    NOT_PLAIN,
    PREDICTIONS,
    UNKNOWN_LABELS,
    next_image,
)
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.decimals import short_number
from evaluator.kernels.text.lookup import after_text, code_of, is_plain
from evaluator.kernels.text.prediction_strings import (
    BLANK,
    TAB,
    after_blanks,
    after_line,
    four_numbers_after,
    six_ends_at,
    token_number_at,
)

NO_IMAGE = -1


@inlined
def _plain_prediction_at(data, at):
    """Read a prediction in the most common notation, with its coordinates at once. The label is not looked up.

    Returns
    -------
    label_end : int64
        The offset after the label, which may be empty.
    confidence : float64
    coordinates : four float64
        XMin, XMax, YMin, YMax.
    end : int64
        The offset after the prediction; 0 if :func:`_any_prediction_at` is needed to read it.
    """
    ends, found = six_ends_at(data, at)
    (x_min, y_min, x_max, y_max), are_short = four_numbers_after(data, (ends[1], ends[2], ends[3], ends[4], ends[5]))
    confidence, is_short = short_number(data, ends[0] + 1, ends[1] - ends[0] - 1)
    end = ends[5] if found and are_short and is_short else 0
    return ends[0], confidence, (x_min, x_max, y_min, y_max), end


@subroutine
def _any_prediction_at(data, at):
    """Read a prediction, token by token. The results are those of :func:`_plain_prediction_at`.

    The last of them, ``end``, is 0 if the prediction cannot be read by a kernel.
    """
    label_end, end = after_text(data, at), 0
    if label_end > at and (byte_at(data, label_end) == BLANK or byte_at(data, label_end) == TAB):
        end = label_end + 1
    confidence, end = token_number_at(data, end)
    x_min, end = token_number_at(data, end)
    y_min, end = token_number_at(data, end)
    x_max, end = token_number_at(data, end)
    y_max, end = token_number_at(data, end)
    return label_end, confidence, (x_min, x_max, y_min, y_max), end


@subroutine
def _read_string(data, at, truth, state, threshold, image, offsets):
    """Read and match the predictions of one image. Return the offset of the next line.

    The offset is 0 if the line cannot be read by a kernel; the reference implementation then reads the file.
    """
    while True:
        begin = after_blanks(data, at)
        label_end, confidence, coordinates, at = _plain_prediction_at(data, begin)
        if at == 0 or label_end == begin:
            label_end, confidence, coordinates, at = _any_prediction_at(data, begin)
            if label_end == begin:
                at = after_line(data, begin)
                return at
            if at == 0:
                return 0
        state.counts[PREDICTIONS] += 1
        label = code_of(data, begin, label_end, truth.labels)
        if label < 0 and (truth.closed[1] or not is_plain(data, begin, label_end)):
            return 0
        if image == NO_IMAGE:
            continue
        state.counts[UNKNOWN_LABELS] += label < 0 or label >= truth.listed
        position = np.int64(state.class_positions[label]) if label >= 0 else np.int64(-1)
        add_prediction(truth, state, offsets, threshold, image, label, position, confidence, coordinates)


@kernel(types.uint8[::1], types.int64, types.int64, TRUTH, STATE, types.float64, types.int64)
def read_strings(data, at, stop, truth, state, threshold, group_kind):
    """Read whole lines and match their predictions.

    Parameters
    ----------
    data : uint8 array
        Must be readable for 96 bytes beyond ``stop``. The function keeps no reference to the array.
    at, stop : int64
        Offsets of the first line and of the end; the byte at ``stop - 1`` is a line feed.
    truth : KernelTruth
    state : DetectionState
        Must have room for the curve entries of all predictions (at most one per 12 bytes, the length of the shortest
        prediction), of their copies for ancestors, and of all group-of boxes in the images that are read. It must also
        have room for one hash of an unknown image per 3 bytes. A group-of box needs its own entry, because the
        detections inside it can have entries too.
    threshold : float64
        Smallest IoU of a match.
    group_kind : int64
        Kind of the curve entry of a group-of box with detections: HIT (weight 1), PARTIAL_HIT (weight between 0 and 1)
        or NO_ENTRY (weight 0).

    Returns
    -------
    int64
        DONE or NOT_PLAIN. The state is valid only after DONE.
    """
    while at < stop:
        image, at = next_image(data, at, truth, state)
        if at == 0:
            return NOT_PLAIN
        if image < 0:
            at = _read_string(data, at, truth, state, threshold, image, (0, 0))
        else:
            offsets = offsets_of(truth, image)
            set_class_positions(truth, state, image)
            at = _read_string(data, at, truth, state, threshold, image, offsets)
            clear_class_positions(truth, state, image)
            finish_image(truth, state, offsets, image, group_kind)
        if at == 0:
            return NOT_PLAIN
    return DONE
