"""Detections in the long shape, one a line; the lines of an image may stand anywhere."""

import numpy as np
from numba import types

from evaluator.kernels.bits import byte_at
from evaluator.kernels.cache import kernel, outlined, part
from evaluator.kernels.decimals import longer_number_at, number_at, quick_number_at
from evaluator.kernels.detection_strings import COMMA, LINE_FEED, RETURN, after_blanks
from evaluator.kernels.detections import (
    CAPPED,
    DONE,
    MOST_PER_IMAGE_AND_CLASS,
    NOBODY,
    ODD,
    PREDICTIONS,
    STATE,
    TRUTH,
    UNKNOWN_IMAGES,
    court,
    enter,
    leave,
    take,
)
from evaluator.kernels.texts import is_plain, text_at

CELLS = 7
IMAGE, LABEL = 0, 1  # the columns after these are numbers, in the order of the header: Score, XMin, XMax, YMin, YMax
NO_IMAGE = -1


@outlined
def cell_end(data, at, last):
    """Return the place after the comma, or after the line end in the last cell, that stands at ``at``; else 0."""
    if not last:
        return at + 1 if byte_at(data, at) == COMMA else 0
    if byte_at(data, at) == RETURN:
        at += 1
    return at + 1 if byte_at(data, at) == LINE_FEED else 0


@outlined
def _blank_number_at(data, at, last):
    """Return (value, place of the next cell) of a number that is long or has blanks around it; 0 where it is odd."""
    value, end = longer_number_at(data, at, LINE_FEED if last else COMMA)
    if end > 0:
        return value, end
    value, end = number_at(data, after_blanks(data, at))
    return (value, 0) if end == 0 else (value, cell_end(data, after_blanks(data, end), last))


@part
def cell_number_at(data, at, last):
    """Return (value, place of the next cell or line); place 0 where it is odd."""
    value, end = quick_number_at(data, at, LINE_FEED if last else COMMA)
    if end == 0:
        return _blank_number_at(data, at, last)
    return value, end


@outlined
def _read_row(data, at, truth, order, numbers):
    """Read one line; return (the next one's place or 0, image, label), codes -1 for what the truth does not know.

    ``numbers``, float64 of shape (5,), receives confidence and corners.
    """
    image, label = np.int64(-1), np.int64(-1)
    for cell in range(CELLS):
        kind, last = order[cell], cell == CELLS - 1
        if kind > LABEL:
            numbers[kind - 2], at = cell_number_at(data, at, last)
        else:
            code, end, _ = text_at(data, at, truth.images if kind == IMAGE else truth.labels)
            if code < 0 and (truth.closed[kind] or not is_plain(data, at, end)):
                return 0, image, label
            image, label = (code, label) if kind == IMAGE else (image, code)
            at = cell_end(data, end, last)
        if at == 0:
            return 0, image, label
    return at, image, label


@outlined
def _move(truth, state, before, image):
    """Go from the rows of one image to those of the next."""
    if before != NO_IMAGE:
        leave(truth, state, before)
    if image != NO_IMAGE:
        enter(truth, state, image)
        state.named[image] = 1


@kernel(
    types.uint8[::1],
    types.int64,
    types.int64,
    types.int64[::1],
    types.float64[::1],
    TRUTH,
    STATE,
    types.float64,
)
def read_rows(data, at, stop, order, numbers, truth, state, threshold):
    """Read whole lines and take what they say; suitors and groups are of all images and wait for :func:`settle_all`.

    Parameters
    ----------
    data, at, stop, truth, state, threshold
        As for :func:`evaluator.kernels.detection_strings.read_strings`; no strangers are kept.
    order : int64 array of shape (7,)
        What each cell of a line is: 0 image, 1 label, 2 confidence, 3 to 6 XMin, XMax, YMin, YMax.
    numbers : float64 array of shape (5,), to work in

    Returns
    -------
    int64 : DONE, ODD, NEGATIVE or CAPPED; after anything but DONE the state is of no use.
    """
    before = np.int64(NO_IMAGE)
    while at < stop:
        at, image, label = _read_row(data, at, truth, order, numbers)
        if at == 0:
            return ODD
        state.counts[PREDICTIONS] += 1
        if image < 0:
            state.counts[UNKNOWN_IMAGES] += 1
            continue
        if image != before:
            _move(truth, state, before, image)
            before = image
        corners = (numbers[1], numbers[2], numbers[3], numbers[4])
        status = take(truth, state, (0, 0, 0), threshold, image, label, numbers[0], corners)
        if status != DONE:
            return status
    _move(truth, state, before, NO_IMAGE)
    return DONE


@kernel(TRUTH, STATE, STATE, types.float64)
def merge(truth, ours, theirs, threshold):
    """Take over what another thread has found, as if its suitors had come to us.

    ``ours`` must have room for one entry more for each box. Returns DONE or CAPPED.
    """
    for image in range(len(truth.usage)):
        for place in range(truth.verified_from[image], truth.verified_from[image + 1]):
            if np.int64(ours.kept[place]) + np.int64(theirs.kept[place]) > MOST_PER_IMAGE_AND_CLASS:
                return CAPPED
            for group in range(truth.groups_from[place], truth.groups_from[place + 1]):
                ours.absorbed[group] = max(ours.absorbed[group], theirs.absorbed[group])
            for box in range(truth.boxes_from[place], truth.boxes_from[place + 1]):
                suitor = theirs.suitors[box]
                if suitor[0] != NOBODY:
                    corners = (suitor[2], suitor[3], suitor[4], suitor[5])
                    court(truth, ours, (0, 0, 0), threshold, image, place, (box, suitor[1]), suitor[0], corners)
    return DONE
