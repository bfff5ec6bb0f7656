"""Matches the predictions of whole images by FiftyOne's rules, and appends entries to precision/recall curves.

The reference implementations are ``evaluator.tracks.detection.fiftyone`` and ``evaluator.metrics.fiftyone_matching``.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels import CROWD
from evaluator.kernels.curves.average_precision import HIT, MISS
from evaluator.kernels.detection.explain.comparing import coordinates_of
from evaluator.kernels.detection.explain.explained import PREDICTIONS
from evaluator.kernels.detection.fiftyone import best_group, best_object, highest_overlap
from evaluator.kernels.detection.matching import clear_class_positions
from evaluator.kernels.detection.state import (
    MAX_PER_IMAGE_AND_CLASS,
    STATE,
    TRUTH,
    add_entry,
    offsets_of,
    unscored_class,
)
from evaluator.kernels.jit import inlined, kernel, read_only, subroutine
from evaluator.kernels.reading import UNCLAIMED

RUN = 16  # Runs of this length are sorted by insertion and then merged.
LABELLED = read_only(types.boolean)


class Turns(NamedTuple):
    """Scratch memory of one thread for N predictions.

    Attributes
    ----------
    highest : float64 array of shape (N,)
        Highest IoU of each prediction with a box of its class; 0 if it is below the threshold.
    order, merged : int32 arrays of shape (N,)
        Indices of the predictions of an image, in the order in which they are matched, and a copy for merging.
    available : bool array of shape (boxes of one image,)
        Whether each ordinary box is still unmatched. All true between images.
    group_confidences : float64 array of shape (groups of one image,)
        Highest confidence among the predictions that match each group-of box; UNCLAIMED if there is none, and between
        images.
    """

    highest: NDArray[np.float64]
    order: NDArray[np.int32]
    merged: NDArray[np.int32]
    available: NDArray[np.bool_]
    group_confidences: NDArray[np.float64]

    @classmethod
    def empty(cls, predictions: int, boxes: int, groups: int) -> "Turns":
        """Return scratch memory for N ``predictions`` and for the ``boxes`` and ``groups`` of one image."""
        order, merged = np.empty(predictions, np.int32), np.empty(predictions, np.int32)
        available, confidences = np.ones(boxes, bool), np.full(groups, UNCLAIMED)
        return cls(np.empty(predictions), order, merged, available, confidences)


TURNS = types.NamedTuple(
    (types.float64[::1], types.int32[::1], types.int32[::1], types.boolean[::1], types.float64[::1]), Turns
)


@kernel(TRUTH, read_only(types.int64), types.boolean[::1], types.int64[:, :, ::1])
def find_labelled(truth, keys, labelled, counts):
    """Find the labelled classes of all images, and count the boxes of these classes.

    A class is labelled in an image if it is verified in image_labels.csv, or if the hierarchy derives it from such a
    class. The running time is the same for every class, so it does not reveal whether there are boxes of other classes.

    Parameters
    ----------
    truth : KernelTruth
    keys : int64 array of shape (L,)
        Ascending keys (image × number of labels + label) of the labelled classes, which are a subset of the classes in
        ``truth.verified``.
    labelled : bool array of shape (V,)
        Receives whether each class in ``truth.verified`` is labelled.
    counts : int64 array of shape (3, 2, labels), all 0
        Receives the numbers of boxes, by usage of the image, kind (ordinary or group-of box) and label.
    """
    at, labels = 0, np.int64(len(truth.labels.starts) - 1)
    for image in range(len(truth.usage)):
        usage = np.int64(truth.usage[image])
        for position in range(truth.verified_from[image], truth.verified_from[image + 1]):
            label = np.int64(truth.verified[position])
            found = np.int64(at < len(keys) and keys[at] == image * labels + label)
            labelled[position] = found
            at += found
            boxes = np.int64(truth.boxes_from[position + 1] - truth.boxes_from[position])
            groups = np.int64(truth.groups_from[position + 1] - truth.groups_from[position])
            counts[usage, 0, label] += found * boxes
            counts[usage, 1, label] += found * groups


@inlined
def _precedes(found, highest, row, other):
    """Return whether a prediction is matched before another one of the same image.

    The order is that of :func:`evaluator.metrics.matching.precedence_order`: label, higher confidence, higher overlap,
    smaller coordinates. Predictions that are equal in all of these are interchangeable.
    """
    if found.labels[row] != found.labels[other]:
        return found.labels[row] < found.labels[other]
    numbers = found.numbers
    if numbers[row, 0] != numbers[other, 0]:
        return numbers[row, 0] > numbers[other, 0]
    if highest[row] != highest[other]:
        return highest[row] > highest[other]
    for column in range(1, 5):
        if numbers[row, column] != numbers[other, column]:
            return numbers[row, column] < numbers[other, column]
    return False


@subroutine
def _sort_run(found, turns, first, stop):
    """Sort the part of ``turns.order`` from ``first`` to ``stop`` by insertion."""
    order = turns.order
    for at in range(first + 1, stop):
        row, hole = order[at], at
        while hole > first and _precedes(found, turns.highest, row, order[hole - 1]):
            order[hole] = order[hole - 1]
            hole -= 1
        order[hole] = row


@subroutine
def _merge_runs(found, turns, first, middle, stop):
    """Merge two adjacent sorted parts of ``turns.order``."""
    order, merged = turns.order, turns.merged
    left, right = first, middle
    for at in range(first, stop):
        if right >= stop or (left < middle and not _precedes(found, turns.highest, order[right], order[left])):
            merged[at] = order[left]
            left += 1
        else:
            merged[at] = order[right]
            right += 1
    for at in range(first, stop):
        order[at] = merged[at]


@subroutine
def sort_turns(found, turns, count):
    """Sort the first ``count`` elements of ``turns.order``. Predictions that are equal keep their order."""
    for first in range(0, count, RUN):
        _sort_run(found, turns, first, min(first + RUN, count))
    length = RUN
    while length < count:
        for first in range(0, count - length, 2 * length):
            _merge_runs(found, turns, first, first + length, min(first + 2 * length, count))
        length *= 2


@subroutine
def _set_class_positions(truth, labelled, state, image):
    """Write the position of each class that is labelled in an image to ``state.class_positions``."""
    for position in range(truth.verified_from[image], truth.verified_from[image + 1]):
        if labelled[position]:
            state.class_positions[truth.verified[position]] = position


@inlined
def _position_of(state, found, row):
    label = found.labels[row]
    return np.int64(state.class_positions[label]) if label >= 0 else np.int64(-1)


@inlined
def _match_group(truth, state, found, turns, offsets, threshold, image, position, crowded, row):
    """Match a prediction with a group-of box, because no ordinary box is available, or append a false positive."""
    first, stop = np.int64(truth.groups_from[position]), np.int64(truth.groups_from[position + 1])
    group, _ = best_group(coordinates_of(found, row), truth.groups, first, stop, threshold)
    confidence, label = found.numbers[row, 0], np.int64(truth.verified[position])
    if group < 0:
        add_entry(truth, state, confidence, label, image, MISS)
        return
    at = group - offsets[1]
    turns.group_confidences[at] = max(turns.group_confidences[at], confidence)
    if crowded:
        add_entry(truth, state, confidence, unscored_class(truth, label), image, MISS)


@inlined
def _match(truth, state, found, turns, offsets, threshold, image, crowded, row):
    """Match a prediction with a box that is still available, or append a false positive."""
    position = _position_of(state, found, row)
    confidence = found.numbers[row, 0]
    if position < 0:
        add_entry(truth, state, confidence, unscored_class(truth, np.int64(found.labels[row])), image, MISS)
        return
    first, stop = np.int64(truth.boxes_from[position]), np.int64(truth.boxes_from[position + 1])
    best, overlap, highest_taken = best_object(
        coordinates_of(found, row), truth.boxes, first, stop, threshold, turns.available, offsets[0]
    )
    if best < 0:
        _match_group(truth, state, found, turns, offsets, threshold, image, position, crowded, row)
    elif highest_taken > overlap:
        add_entry(truth, state, confidence, np.int64(truth.verified[position]), image, MISS)
    else:
        turns.available[best - offsets[0]] = False
        add_entry(truth, state, confidence, np.int64(truth.verified[position]), image, HIT)


@inlined
def _find_rivals(truth, state, found, turns, offsets, threshold, image, start, stop):
    """Write the predictions that must be matched in turn to ``turns.order``, and return their number.

    The order matters only for predictions whose IoU with an ordinary box of their class reaches the threshold. Other
    predictions of labelled classes are matched immediately. In an image with more than :data:`~evaluator.kernels.CROWD`
    predictions, all of them are matched in turn, whether they are scored or not. Otherwise, the running time would
    reveal annotations.
    """
    crowded, count = stop - start > CROWD, 0
    for row in range(start, stop):
        position, highest = _position_of(state, found, row), 0.0
        if position >= 0:
            first_box, stop_box = np.int64(truth.boxes_from[position]), np.int64(truth.boxes_from[position + 1])
            highest = highest_overlap(coordinates_of(found, row), truth.boxes, first_box, stop_box, threshold)
        if crowded or highest > 0.0:
            turns.highest[row] = highest
            turns.order[count] = row
            count += 1
        elif position >= 0:
            _match_group(truth, state, found, turns, offsets, threshold, image, position, crowded, row)
    return count


@inlined
def _finish_image(truth, state, turns, offsets, image):
    """Append the entries of the matched group-of boxes of an image, and reset the scratch memory."""
    clear_class_positions(truth, state, image)
    after = np.int64(truth.verified_from[image + 1])
    for box in range(np.int64(truth.boxes_from[after]) - offsets[0]):
        turns.available[box] = True
    if truth.groups_from[after] == offsets[1]:
        return
    for position in range(truth.verified_from[image], after):
        for group in range(truth.groups_from[position] - offsets[1], truth.groups_from[position + 1] - offsets[1]):
            if turns.group_confidences[group] != UNCLAIMED:
                add_entry(truth, state, turns.group_confidences[group], np.int64(truth.verified[position]), image, HIT)
                turns.group_confidences[group] = UNCLAIMED


@kernel(TRUTH, LABELLED, STATE, PREDICTIONS, TURNS, types.float64)
def match_images(truth, labelled, state, found, turns, threshold):
    """Match all predictions in one or more images.

    Parameters
    ----------
    truth : KernelTruth
    labelled : bool array of shape (V,)
        Whether each class in ``truth.verified`` is labelled (see :func:`find_labelled`). Other classes are not scored.
    state : DetectionState
        Must have room for N + min(N, G) more curve entries, for N predictions and a ground truth with G group-of boxes.
    found : Predictions
        Predictions with an area and a valid confidence. They include all such predictions of each of their images.
    turns : Turns
        Scratch memory.
    threshold : float64
        Smallest overlap of a match, above 0.

    Returns
    -------
    bool
        False if this thread has read more than 10,000 predictions of an image. The file must then be scored by the
        reference implementation.
    """
    start = 0
    while start < len(found.images):
        image, stop = np.int64(found.images[start]), start
        if state.image_predictions[image] > MAX_PER_IMAGE_AND_CLASS:
            return False
        while stop < len(found.images) and found.images[stop] == image:
            stop += 1
        offsets = offsets_of(truth, image)
        _set_class_positions(truth, labelled, state, image)
        count = _find_rivals(truth, state, found, turns, offsets, threshold, image, start, stop)
        sort_turns(found, turns, count)
        for turn in range(count):
            row = np.int64(turns.order[turn])
            _match(truth, state, found, turns, offsets, threshold, image, stop - start > CROWD, row)
        _finish_image(truth, state, turns, offsets, image)
        start = stop
    return True
