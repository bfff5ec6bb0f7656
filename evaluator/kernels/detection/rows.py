"""Detections in the long shape, one a line; the lines of an image may stand anywhere."""

import numpy as np
from numba import types

from evaluator.kernels.detection.state import STATE, TRUTH, court, take
from evaluator.kernels.jit import kernel, outlined, part
from evaluator.kernels.reading import DONE, ODD, PREDICTIONS, UNCLAIMED, UNKNOWN_IMAGES, UNKNOWN_LABELS
from evaluator.kernels.text.bits import prefetch
from evaluator.kernels.text.cells import cell_end, cell_number_at
from evaluator.kernels.text.csv_blocks import BATCH, codes_of, find_ends, follows, numbers_of, place_in
from evaluator.kernels.text.lookup import is_plain, text_at
from evaluator.kernels.text.prediction_strings import COMMA, LINE_FEED

CELLS = 7
IMAGE, LABEL = 0, 1  # the columns after these are numbers, in the order of the header: Score, XMin, XMax, YMin, YMax


@outlined
def _read_row(data, at, truth, order, batch, row):
    """Read one line into ``batch``, from byte to byte; return the next one's place, or 0."""
    for cell in range(CELLS):
        kind, last = order[cell], cell == CELLS - 1
        if kind > LABEL:
            batch.numbers[kind - 2, row], at = cell_number_at(data, at, last)
        else:
            code, end, _ = text_at(data, at, truth.images if kind == IMAGE else truth.labels)
            if code < 0 and (truth.closed[kind] or not is_plain(data, at, end)):
                return 0
            batch.codes[kind, row] = code
            at = cell_end(data, end, last)
        if at == 0:
            return 0
    return at


@outlined
def _read_rows(data, at, stop, truth, order, batch):
    """Fill a batch with any lines; return (how many, place of the next one or 0)."""
    rows = 0
    while at < stop and rows < len(batch.places):
        at = _read_row(data, at, truth, order, batch, rows)
        if at == 0:
            return rows, at
        rows += 1
    return rows, at


@outlined
def _read_plain_rows(data, at, stop, truth, positions, batch):
    """Fill a batch with lines of the plainest form; return (how many, place of the next one), or (0, ``at``)."""
    rows = min(find_ends(data, at, stop, batch.ends) // CELLS, len(batch.places))
    for row in range(rows):
        for cell in range(CELLS - 1):
            if not follows(data, batch.ends, row * CELLS + cell, COMMA):
                return 0, at
        if not follows(data, batch.ends, row * CELLS + CELLS - 1, LINE_FEED):
            return 0, at
    for kind in range(CELLS):
        first = positions[kind]
        if kind > LABEL:
            sound = numbers_of(data, batch.ends, first, CELLS, batch.numbers[kind - 2, :rows])
        else:
            index = truth.images if kind == IMAGE else truth.labels
            sound = codes_of(data, batch.ends, first, CELLS, index, truth.closed[kind], batch.codes[kind, :rows])
        if not sound:
            return 0, at
    return rows, batch.ends[rows * CELLS] + 1


@part
def _place_of(truth, state, image, label):
    """Count one row; return its class's place among all verified ones, -1 where it is not verified in this image."""
    if image < 0:
        state.counts[UNKNOWN_IMAGES] += 1
        return np.int64(-1)
    state.named[image] = 1
    state.counts[UNKNOWN_LABELS] += label < 0 or label >= truth.listed
    if label < 0:
        return np.int64(-1)
    return place_in(
        truth.verified, np.int64(truth.verified_from[image]), np.int64(truth.verified_from[image + 1]), label
    )


@outlined
def _take_batch(truth, state, threshold, batch, rows):
    """Take what lies in a batch; return as :func:`read_rows`.

    Each step goes through all rows, so that what one waits for in memory is under way with that of the others.
    """
    state.counts[PREDICTIONS] += rows
    for row in range(rows):
        batch.places[row] = _place_of(truth, state, batch.codes[IMAGE, row], batch.codes[LABEL, row])
    for row in range(rows):
        if batch.places[row] >= 0:
            box = np.int64(truth.boxes_from[batch.places[row]])
            prefetch(truth.boxes, box * 4)
            prefetch(state.suitors, box * 6)
    for row in range(rows):
        image, label, numbers = batch.codes[IMAGE, row], batch.codes[LABEL, row], batch.numbers[:, row]
        if image >= 0:
            corners, confidence = (numbers[1], numbers[2], numbers[3], numbers[4]), numbers[0]
            status = take(truth, state, (0, 0), threshold, image, label, batch.places[row], confidence, corners)
            if status != DONE:
                return status
    return DONE


@kernel(
    types.uint8[::1], types.int64, types.int64, types.int64[::1], types.int64[::1], BATCH, TRUTH, STATE, types.float64
)
def read_rows(data, at, stop, order, positions, batch, truth, state, threshold):
    """Read whole lines and take what they say; suitors and groups are of all images and wait for :func:`settle_all`.

    Parameters
    ----------
    data, at, stop, truth, state, threshold
        As for :func:`evaluator.kernels.detection.strings.read_strings`, but ``data`` readable for 64 bytes beyond
        ``stop``; no strangers are kept.
    order : int64 array of shape (7,)
        What each cell of a line is: 0 image, 1 label, 2 confidence, 3 to 6 XMin, XMax, YMin, YMax.
    positions : int64 array of shape (7,)
        Which cell each of these is.
    batch : Batch, to work in

    Returns
    -------
    int64 : DONE, ODD or NEGATIVE; after anything but DONE the state is of no use.
    """
    while at < stop:
        rows, at = _read_plain_rows(data, at, stop, truth, positions, batch)
        if rows == 0:
            rows, at = _read_rows(data, at, stop, truth, order, batch)
            if at == 0:
                return ODD
        status = _take_batch(truth, state, threshold, batch, rows)
        if status != DONE:
            return status
    return DONE


@kernel(TRUTH, STATE, STATE, types.float64)
def merge(truth, ours, theirs, threshold):
    """Take over what another thread has found, as if its suitors had come to us.

    ``ours`` must have room for one entry more for each box.
    """
    for image in range(len(truth.usage)):
        for place in range(truth.verified_from[image], truth.verified_from[image + 1]):
            for group in range(truth.groups_from[place], truth.groups_from[place + 1]):
                ours.absorbed[group] = max(ours.absorbed[group], theirs.absorbed[group])
            for box in range(truth.boxes_from[place], truth.boxes_from[place + 1]):
                suitor = theirs.suitors[box]
                if suitor[0] != UNCLAIMED:
                    corners = (suitor[2], suitor[3], suitor[4], suitor[5])
                    court(truth, ours, (0, 0), threshold, image, place, (box, suitor[1]), suitor[0], corners)
