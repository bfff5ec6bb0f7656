"""Reads image-level labels in the Kaggle layout: ``ImageId,PredictionString``, one image per line."""

import numpy as np
from numba import types

from evaluator.kernels.classification.confidences import keep_highest
from evaluator.kernels.classification.state import STATE, TRUTH, spare_position
from evaluator.kernels.jit import inlined, kernel, subroutine
from evaluator.kernels.reading import DONE, NOT_PLAIN, PREDICTIONS, UNKNOWN_LABELS, next_image
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.csv_blocks import BATCH, BATCH_ROWS, codes_of, numbers_of
from evaluator.kernels.text.lookup import after_text, code_of, is_plain, prefetch_slot
from evaluator.kernels.text.prediction_strings import (
    BLANK,
    LINE_FEED,
    RETURN,
    TAB,
    after_blanks,
    after_line,
    token_ends_at,
    token_number_at,
)

LABEL = 1  # Index of the labels in ``KernelTruth.closed``.
TOKENS = 2  # Number of tokens of a prediction: a label and a confidence.


@inlined
def _plain_predictions_at(data, at, truth, batch):
    """Fill a batch with the next predictions, whose tokens must be separated by single blanks.

    Return the number of predictions and the offset after them. The number is 0 if :func:`_any_predictions_at` is needed
    to read them.
    """
    ends = batch.ends
    tokens = token_ends_at(data, at, ends)
    if tokens > TOKENS * BATCH_ROWS:
        tokens = np.int64(TOKENS * BATCH_ROWS)
    else:
        last = byte_at(data, ends[tokens])
        # A blank at the end of the line is followed by an empty token.
        tokens -= ends[tokens] == ends[tokens - 1] + 1
        if tokens % TOKENS or last not in (LINE_FEED, RETURN):
            return 0, at
        # The image of the next line is looked up while the CPU processes the predictions of this line.
        prefetch_slot(data, ends[tokens] + 1, truth.images)
    rows = tokens // TOKENS
    if not codes_of(data, ends, 0, TOKENS, truth.labels, truth.closed[LABEL], batch.codes[0, :rows]):
        return 0, at
    if not numbers_of(data, ends, 1, TOKENS, batch.numbers[0, :rows]):
        return 0, at
    return rows, ends[tokens]


@subroutine
def _any_predictions_at(data, at, truth, batch):
    """Fill a batch with the next predictions, token by token. Return their number and the offset after them.

    The offset is 0 if a prediction cannot be read by a kernel.
    """
    rows = 0
    while rows < BATCH_ROWS:
        at = after_blanks(data, at)
        label_end = after_text(data, at)
        if label_end == at:
            return rows, at
        label = code_of(data, at, label_end, truth.labels)
        if label < 0 and (truth.closed[LABEL] or not is_plain(data, at, label_end)):
            return rows, 0
        if byte_at(data, label_end) != BLANK and byte_at(data, label_end) != TAB:
            return rows, 0
        batch.codes[0, rows] = label
        batch.numbers[0, rows], at = token_number_at(data, label_end + 1)
        if at == 0:
            return rows, 0
        rows += 1
    return rows, at


@inlined
def _keep(truth, state, batch, rows, image):
    """Keep the confidences of a batch whose predictions are for the image with the given code."""
    unknown, positions = 0, state.class_positions
    for row in range(rows):
        label = batch.codes[0, np.uint64(row)]
        unknown += label < 0 or label >= truth.listed
        batch.positions[np.uint64(row)] = positions[np.uint64(label if label >= 0 else len(positions) - 1)]
    state.counts[UNKNOWN_LABELS] += unknown
    state.image_predictions[image] += rows
    keep_highest(state, batch, rows)


@subroutine
def _read_string(data, at, truth, state, batch, image):
    """Read the predictions of one image, which may be unknown. Return the offset of the next line.

    The offset is 0 if the line cannot be read by a kernel; the reference implementation then reads the file.
    """
    while True:
        at = after_blanks(data, at)
        if byte_at(data, at) == LINE_FEED or byte_at(data, at) == RETURN:
            return after_line(data, at)
        rows, at = _plain_predictions_at(data, at, truth, batch)
        if rows == 0:
            rows, at = _any_predictions_at(data, at, truth, batch)
        if rows == 0 or at == 0:
            return 0
        state.counts[PREDICTIONS] += rows
        if image >= 0:
            _keep(truth, state, batch, rows, image)


@kernel(types.uint8[::1], types.int64, types.int64, BATCH, TRUTH, STATE)
def read_strings(data, at, stop, batch, truth, state):
    """Read whole lines and keep the highest confidence of each verified label.

    Parameters
    ----------
    data : uint8 array
        Must be readable for 96 bytes beyond ``stop``. The function keeps no reference to the array.
    at, stop : int64
        Offsets of the first line and of the end; the byte at ``stop - 1`` is a line feed.
    batch : Batch
        Scratch memory.
    truth : KernelTruth
    state : ClassificationState
        Must have room for one hash of an unknown image per 3 bytes.

    Returns
    -------
    int64
        DONE or NOT_PLAIN. The state is valid only after DONE.
    """
    while at < stop:
        image, at = next_image(data, at, truth, state)
        if at == 0:
            return NOT_PLAIN
        first = np.int64(truth.verified_from[max(image, 0)])
        end = np.int64(truth.verified_from[image + 1]) if image >= 0 else first
        for position in range(first, end):
            state.class_positions[truth.verified[position]] = position
        at = _read_string(data, at, truth, state, batch, image)
        for position in range(first, end):
            label = np.int64(truth.verified[position])
            state.class_positions[label] = spare_position(truth, label)
        if at == 0:
            return NOT_PLAIN
    return DONE
