"""Matches the predictions of a batch, whose classes have been looked up, with the boxes of their images."""

import numpy as np

from evaluator.kernels import CROWD
from evaluator.kernels.detection.matching import add_claimed, add_prediction, claim_box
from evaluator.kernels.detection.state import NONE_OF_IMAGE
from evaluator.kernels.jit import inlined
from evaluator.kernels.overlap import best_box
from evaluator.kernels.reading import ENTRIES, UNCLAIMED, is_usual
from evaluator.kernels.text.csv_blocks import BATCH_ROWS

IMAGE, LABEL = 0, 1  # Kinds of values of a prediction. Kinds 2 to 6 are numbers: Score, XMin, XMax, YMin, YMax.


@inlined
def _find_usual(batch, rows):
    """Write whether each row has only usual values to ``batch.usual``; see :func:`is_usual`."""
    confidences = batch.numbers[0]
    x_min, x_max, y_min, y_max = batch.numbers[1], batch.numbers[2], batch.numbers[3], batch.numbers[4]
    for row in range(rows):
        batch.usual[row] = is_usual(confidences[row], (x_min[row], x_max[row], y_min[row], y_max[row]))


@inlined
def _choose(truth, state, batch, rows):
    """List the rows that :func:`_match_chosen` can match in ``batch.chosen[0]``, and others in ``batch.chosen[1]``.

    Return the lengths of both lists. Rows of unknown images are in neither list. Neither are rows that need no entry,
    because their class is not verified in the image; these rows, and those in the first list, are counted here.
    """
    matched = others = np.int64(0)
    if len(truth.usage) == 0:
        return matched, others
    for row in range(np.uint64(rows)):
        known, position = batch.codes[IMAGE, row] >= 0, batch.positions[row]
        image = np.uint64(max(batch.codes[IMAGE, row], 0))
        has_groups = truth.groups_from[np.uint64(max(position, 0))] < truth.groups_from[np.uint64(position + 1)]
        simple = known & batch.usual[row] & (not has_groups) & (len(truth.ancestors) == 0)
        simple &= (state.collects[image] == NONE_OF_IMAGE) & (state.image_predictions[image] < CROWD)
        state.image_predictions[image] += simple
        batch.chosen[0, np.uint64(matched)] = batch.chosen[1, np.uint64(others)] = row
        matched += simple & (position >= 0)
        others += known & (not simple)
    return matched, others


@inlined
def _match_chosen(truth, state, offsets, threshold, batch, rows):
    """Match the first ``rows`` rows in ``batch.chosen[0]``. They have usual values, and a class without group-of boxes.

    The result is that of :func:`~evaluator.kernels.detection.matching.add_prediction`.
    """
    entries, no_box = state.counts[ENTRIES], np.int64(len(state.best_confidences) - BATCH_ROWS)
    for each in range(np.uint64(rows)):
        row = np.uint64(batch.chosen[0, each])
        position, image, numbers = batch.positions[row], batch.codes[IMAGE, row], batch.numbers
        # Add zero to turn -0.0 into 0.0, because entries are sorted by the bits of their confidences.
        confidence = numbers[0, row] + 0.0
        coordinates = (numbers[1, row], numbers[2, row], numbers[3, row], numbers[4, row])
        first, stop = truth.boxes_from[np.uint64(position)], truth.boxes_from[np.uint64(position + 1)]
        box, overlap = best_box(truth.boxes, first, stop, coordinates)
        at = box - offsets[0] if (box >= 0) & (overlap >= threshold) else no_box + np.int64(row)
        best, entries = claim_box(truth, state, at, entries, confidence, batch.codes[LABEL, row], image)
        add_claimed(state, box, position, best == UNCLAIMED)
    state.counts[ENTRIES] = entries


@inlined
def match_batch(truth, state, offsets, threshold, batch, rows):
    """Match the predictions of a batch. The order in which they are matched does not affect the result.

    Parameters
    ----------
    offsets : (int64, int64)
        (0, 0) if the state holds the data of all images; otherwise, as for
        :func:`~evaluator.kernels.detection.matching.match_detection`, and all predictions must be of the same image.
    batch : Batch
        ``batch.positions`` must contain the position of each prediction's class.
    rows : int64
        Number of predictions.
    """
    _find_usual(batch, rows)
    matched, others = _choose(truth, state, batch, rows)
    _match_chosen(truth, state, offsets, threshold, batch, matched)
    for row in batch.chosen[1, :others]:
        image, label, numbers = batch.codes[IMAGE, row], batch.codes[LABEL, row], batch.numbers[:, row]
        coordinates, confidence = (numbers[1], numbers[2], numbers[3], numbers[4]), numbers[0]
        position = batch.positions[row]
        add_prediction(truth, state, offsets, threshold, image, label, position, confidence, coordinates)
