"""Reads detections in the Kaggle layout: ``ImageId,PredictionString``, one image per line."""

import numpy as np
from numba import types

from evaluator.kernels.detection.batches import IMAGE, LABEL, match_batch
from evaluator.kernels.detection.matching import clear_class_positions, finish_image, set_class_positions
from evaluator.kernels.detection.state import STATE, TRUTH, offsets_of
from evaluator.kernels.jit import inlined, kernel
from evaluator.kernels.reading import DONE, NOT_PLAIN, PREDICTIONS, UNKNOWN_LABELS, next_image
from evaluator.kernels.text.csv_blocks import BATCH
from evaluator.kernels.text.string_batches import read_predictions

# A prediction is LabelName Score XMin YMin XMax YMax. The kinds are those of evaluator.kernels.detection.batches.
KIND_OF_TOKEN = (1, 2, 3, 5, 4, 6)
TOKEN_OF_KIND = (-1, 0, 1, 2, 4, 3, 5)


@inlined
def _find_positions(truth, state, batch, rows, image):
    """Write the position of each prediction's class in ``truth.verified`` to ``batch.positions``.

    The position is -1 if the class is not verified in the image, to which all predictions belong.
    """
    unknown, positions = np.int64(0), state.class_positions
    for row in range(np.uint64(rows)):
        label = batch.codes[LABEL, row]
        unknown += (label < 0) | (label >= truth.listed)
        batch.codes[IMAGE, row] = image
        batch.positions[row] = positions[np.uint64(label if label >= 0 else len(positions) - 1)]
    state.counts[UNKNOWN_LABELS] += unknown


@inlined
def _read_string(data, at, batch, truth, state, threshold, image, offsets):
    """Read and match the predictions of one image, which may be unknown. Return the offset of the next line.

    The offset is 0 if the line cannot be read by a kernel; the reference implementation then reads the file.
    """
    indexes = truth.images, truth.labels
    while True:
        rows, at = read_predictions(data, at, indexes, truth.closed, KIND_OF_TOKEN, TOKEN_OF_KIND, batch)
        if rows == 0 or at == 0:
            return at
        state.counts[PREDICTIONS] += rows
        if image >= 0:
            _find_positions(truth, state, batch, rows, image)
            match_batch(truth, state, offsets, threshold, batch, rows)


@kernel(types.uint8[::1], types.int64, types.int64, BATCH, TRUTH, STATE, types.float64, types.int64)
def read_strings(data, at, stop, batch, truth, state, threshold, group_kind):
    """Read whole lines and match their predictions.

    Parameters
    ----------
    data : uint8 array
        Must be readable for 96 bytes beyond ``stop``. The function keeps no reference to the array.
    at, stop : int64
        Offsets of the first line and of the end; the byte at ``stop - 1`` is a line feed.
    batch : Batch
        Scratch memory.
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
        known = image >= 0
        offsets = offsets_of(truth, image) if known else (np.int64(0), np.int64(0))
        if known:
            set_class_positions(truth, state, image)
        at = _read_string(data, at, batch, truth, state, threshold, image, offsets)
        if at == 0:
            return NOT_PLAIN
        if known:
            clear_class_positions(truth, state, image)
            finish_image(truth, state, offsets, image, group_kind)
    return DONE
