"""Reads detections in the long layout, which has one detection per line, in any order."""

import numpy as np
from numba import types

from evaluator.kernels import CROWD
from evaluator.kernels.detection.matching import add_prediction, claim, claim_box
from evaluator.kernels.detection.state import NONE_OF_IMAGE, STATE, TRUTH, candidate_of
from evaluator.kernels.jit import inlined, kernel, subroutine
from evaluator.kernels.overlap import best_box
from evaluator.kernels.reading import (
    DONE,
    ENTRIES,
    NOT_PLAIN,
    PREDICTIONS,
    UNCLAIMED,
    UNKNOWN_IMAGES,
    UNKNOWN_LABELS,
    is_usual,
)
from evaluator.kernels.text.bits import prefetch
from evaluator.kernels.text.csv_blocks import BATCH, CODES_PER_LINE, position_in
from evaluator.kernels.text.csv_rows import read_batch

CELLS = 7
NUMBERS_PER_LINE = 8  # Number of float64 values in a cache line.
IMAGE, LABEL = 0, 1  # Kinds of cells in a row of a submission. Kinds 2 to 6 are numbers: Score, XMin, XMax, YMin, YMax.


@inlined
def _position_of(truth, state, image, label):
    """Return the position of a row's class in ``truth.verified``; -1 if the class is not verified in the image.

    A class is verified in an image if it is known to be present or absent there.

    The function also updates the counters of ``state`` for the row.
    """
    if image < 0:
        state.counts[UNKNOWN_IMAGES] += 1
        return np.int64(-1)
    state.named[image] = 1
    state.counts[UNKNOWN_LABELS] += label < 0 or label >= truth.listed
    if label < 0:
        return np.int64(-1)
    first, stop = np.int64(truth.verified_from[image]), np.int64(truth.verified_from[image + 1])
    return position_in(truth.verified, first, stop, label, truth.search_steps)


@subroutine
def _find_positions(truth, state, batch, rows):
    """Write the position of each row's class in ``truth.verified`` to ``batch.positions``.

    The boxes of these classes are prefetched. Each step processes all rows of the batch, so that the CPU can access the
    memory for several rows at once.
    """
    images, previous = batch.codes[IMAGE], np.int64(-1)
    for row in range(rows):
        if images[row] != previous and images[row] >= 0:
            first = np.int64(truth.verified_from[images[row]])
            prefetch(truth.verified, first)
            prefetch(truth.verified, first + CODES_PER_LINE)
        previous = images[row]
    for row in range(rows):
        position = _position_of(truth, state, images[row], batch.codes[LABEL, row])
        batch.positions[row] = position
        prefetch(truth.boxes_from, position)
        prefetch(truth.groups_from, position)
    previous = np.int64(-1)
    for row in range(rows):
        if images[row] != previous and batch.positions[row] >= 0:
            box = np.int64(truth.boxes_from[batch.positions[row]])
            prefetch(state.best_confidences, box)
            for offset in (0, NUMBERS_PER_LINE):
                prefetch(truth.boxes, box * 4 + offset)
            prefetch(truth.groups, np.int64(truth.groups_from[batch.positions[row]]) * 4)
        previous = images[row]


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
    for row in range(rows):
        known, position = batch.codes[IMAGE, row] >= 0, batch.positions[row]
        image = max(batch.codes[IMAGE, row], 0)
        has_groups = truth.groups_from[max(position, 0)] < truth.groups_from[position + 1]
        simple = known & batch.usual[row] & (not has_groups) & (len(truth.ancestors) == 0)
        simple &= (state.collects[image] == NONE_OF_IMAGE) & (state.image_predictions[image] < CROWD)
        state.image_predictions[image] += simple
        batch.chosen[0, matched] = batch.chosen[1, others] = row
        matched += simple & (position >= 0)
        others += known & (not simple)
    return matched, others


@inlined
def _match_chosen(truth, state, threshold, batch, rows):
    """Match rows with usual values, whose class has no group-of boxes.

    The result is that of :func:`~evaluator.kernels.detection.matching.add_prediction`.
    """
    entries, no_box = state.counts[ENTRIES], np.int64(len(truth.boxes))
    for row in rows:
        position, image, numbers = batch.positions[row], batch.codes[IMAGE, row], batch.numbers[:, row]
        # Add zero to turn -0.0 into 0.0, because entries are sorted by the bits of their confidences.
        confidence, coordinates = numbers[0] + 0.0, (numbers[1], numbers[2], numbers[3], numbers[4])
        box, overlap = best_box(truth.boxes, truth.boxes_from[position], truth.boxes_from[position + 1], coordinates)
        box = box if (box >= 0) & (overlap >= threshold) else no_box + row
        _, entries = claim_box(truth, state, box, entries, confidence, batch.codes[LABEL, row], image)
    state.counts[ENTRIES] = entries


@subroutine
def _add_batch(truth, state, threshold, batch, rows):
    """Match the predictions of a batch. The order in which they are matched does not affect the result."""
    state.counts[PREDICTIONS] += rows
    _find_positions(truth, state, batch, rows)
    _find_usual(batch, rows)
    matched, others = _choose(truth, state, batch, rows)
    _match_chosen(truth, state, threshold, batch, batch.chosen[0, :matched])
    for row in batch.chosen[1, :others]:
        image, label, numbers = batch.codes[IMAGE, row], batch.codes[LABEL, row], batch.numbers[:, row]
        coordinates, confidence = (numbers[1], numbers[2], numbers[3], numbers[4]), numbers[0]
        position = batch.positions[row]
        add_prediction(truth, state, (0, 0), threshold, image, label, position, confidence, coordinates)


@kernel(
    types.uint8[::1], types.int64, types.int64, types.int64[::1], types.int64[::1], BATCH, TRUTH, STATE, types.float64
)
def read_rows(data, at, stop, kind_of_cell, cell_of_kind, batch, truth, state, threshold):
    """Read whole lines and match their predictions.

    The state holds all images. Call :func:`~evaluator.kernels.detection.matching.finish_images` after the last
    line.

    Parameters
    ----------
    data, at, stop, truth, state, threshold
        As for :func:`evaluator.kernels.detection.strings.read_strings`, but ``data`` need only be readable for 64 bytes
        beyond ``stop``, and no hashes of unknown images are stored.
    kind_of_cell : int64 array of shape (7,)
        Kind of each cell of a line: 0 image, 1 label, 2 confidence, 3 to 6 XMin, XMax, YMin, YMax.
    cell_of_kind : int64 array of shape (7,)
        The inverse: index of the cell of each kind.
    batch : Batch
        Scratch memory.

    Returns
    -------
    int64
        DONE or NOT_PLAIN. The state is valid only after DONE.
    """
    indexes, closed = (truth.images, truth.labels), (truth.closed[IMAGE], truth.closed[LABEL])
    while at < stop:
        rows, at = read_batch(data, at, stop, indexes, closed, CELLS, kind_of_cell, cell_of_kind, batch)
        if at == 0:
            return NOT_PLAIN
        _add_batch(truth, state, threshold, batch, rows)
    return DONE


@inlined
def _claim_again(truth, state, other, threshold, image, position, box):
    """Record in ``state`` that the best candidate of a box in ``other`` claims the box."""
    overlap, coordinates = 0.0, (0.0, 0.0, 0.0, 0.0)
    if truth.groups_from[position] < truth.groups_from[position + 1]:
        candidate = other.best_candidates[candidate_of(truth, (0, 0), position, box)]
        overlap, coordinates = candidate[0], (candidate[1], candidate[2], candidate[3], candidate[4])
    confidence = other.best_confidences[box]
    claim(truth, state, (0, 0), threshold, image, position, (np.int64(box), overlap), confidence, coordinates)


@kernel(TRUTH, STATE, STATE, types.float64, types.int64, types.int64)
def merge(truth, state, other, threshold, first, stop):
    """Merge the results of another thread, ``other``, into ``state``, for the images from ``first`` to ``stop``.

    If both threads have a candidate for a box, the better one remains; each group-of box keeps the higher of its two
    confidences. ``state`` must have room for one more curve entry per box.
    """
    for image in range(first, stop):
        for position in range(truth.verified_from[image], truth.verified_from[image + 1]):
            for group in range(truth.groups_from[position], truth.groups_from[position + 1]):
                state.group_confidences[group] = max(state.group_confidences[group], other.group_confidences[group])
            for box in range(truth.boxes_from[position], truth.boxes_from[position + 1]):
                if other.best_confidences[box] != UNCLAIMED:
                    _claim_again(truth, state, other, threshold, image, position, box)
