"""Reads image-level labels in the Kaggle layout: ``ImageId,PredictionString``, one image per line."""

import numpy as np
from numba import types

from evaluator.kernels.classification.confidences import keep_highest
from evaluator.kernels.classification.state import STATE, TRUTH, spare_position
from evaluator.kernels.jit import inlined, kernel
from evaluator.kernels.reading import DONE, NOT_PLAIN, PREDICTIONS, UNKNOWN_LABELS, next_image
from evaluator.kernels.text.csv_blocks import BATCH
from evaluator.kernels.text.string_batches import read_predictions

LABEL = 1  # Kinds of values of a prediction: 0 is the image, 2 the confidence.
# A prediction is a label and a confidence.
KIND_OF_TOKEN = (1, 2)
TOKEN_OF_KIND = (-1, 0, 1)


@inlined
def _keep(truth, state, batch, rows, image):
    """Keep the confidences of a batch whose predictions are for the image with the given code."""
    unknown, positions = 0, state.class_positions
    for row in range(rows):
        label = batch.codes[LABEL, np.uint64(row)]
        unknown += label < 0 or label >= truth.listed
        batch.positions[np.uint64(row)] = positions[np.uint64(label if label >= 0 else len(positions) - 1)]
    state.counts[UNKNOWN_LABELS] += unknown
    state.image_predictions[image] += rows
    keep_highest(state, batch, rows)


@inlined
def _read_string(data, at, truth, state, batch, image):
    """Read the predictions of one image, which may be unknown. Return the offset of the next line.

    The offset is 0 if the line cannot be read by a kernel; the reference implementation then reads the file.
    """
    indexes = truth.images, truth.labels
    while True:
        rows, at = read_predictions(data, at, indexes, truth.closed, KIND_OF_TOKEN, TOKEN_OF_KIND, batch)
        if rows == 0 or at == 0:
            return at
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
