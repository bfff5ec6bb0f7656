"""Matches detections with the boxes of their image, and appends the resulting entries of precision/recall curves.

The reference implementations are ``evaluator.tracks.detection.scorer`` and ``evaluator.metrics``.
"""

import numpy as np
from numba import types

from evaluator.kernels import LOWEST_CONFIDENCE
from evaluator.kernels.curves.average_precision import HIT, MISS
from evaluator.kernels.detection.state import (
    ALL_OF_IMAGE,
    CLAIMED,
    COLLECTED,
    MAX_PER_IMAGE_AND_CLASS,
    NO_ENTRY,
    STATE,
    TRUTH,
    add_entry,
    add_unscored,
    candidate_of,
    write_entry,
)
from evaluator.kernels.jit import inlined, kernel, subroutine
from evaluator.kernels.overlap import best_box, best_group, precedes
from evaluator.kernels.reading import ENTRIES, UNCLAIMED, count_unusual
from evaluator.kernels.text.csv_blocks import position_in


@inlined
def claim_box(truth, state, at, entries, confidence, label, image):
    """Record that a detection claims a box beside which there is no group-of box. Write the entry of the loser.

    Whether there is a loser decides only what is stored, because the CPU could not predict a branch. For the same
    reason, a detection that claims no box is treated as if it had lost one of the additional boxes of the state.

    Parameters
    ----------
    at : int64
        Index of the box, or of an additional box, in ``state.best_confidences``.
    entries : int64
        Number of entries so far.

    Returns
    -------
    best : float64
        Confidence of the best detection so far, without the given one; UNCLAIMED if there was none.
    entries : int64
        The new number of entries.
    """
    best = state.best_confidences[np.uint64(at)]
    state.best_confidences[np.uint64(at)] = max(best, confidence)
    write_entry(truth, state, entries, min(best, confidence), label, image, MISS)
    return best, entries + (best != UNCLAIMED)


@inlined
def add_claimed(state, box, position, is_first):
    """Record that a box has a best candidate, if the state keeps a list of these boxes.

    ``is_first`` must be true if the box had none before. Otherwise, the list stays as it is.
    """
    if len(state.claimed):
        at = np.uint64(state.counts[CLAIMED])
        state.claimed[at, 0], state.claimed[at, 1] = box, position
        state.counts[CLAIMED] += is_first


@inlined
def _add_loser(truth, state, offsets, threshold, image, position, confidence, coordinates):
    """Append the false positive of a detection that hits no box, unless a group-of box absorbs it."""
    group, share = best_group(truth.groups, truth.groups_from[position], truth.groups_from[position + 1], coordinates)
    label = np.int64(truth.verified[position])
    if group >= 0 and share >= threshold:
        state.group_confidences[group - offsets[1]] = max(state.group_confidences[group - offsets[1]], confidence)
        add_unscored(truth, state, confidence, label, image)
    else:
        add_entry(truth, state, confidence, label, image, MISS)


@inlined
def _claim_beside_groups(truth, state, offsets, threshold, image, position, target, confidence, coordinates):
    """Record that a detection claims a box. The image has group-of boxes of the same class.

    The parameters are as for :func:`claim`.
    """
    box, overlap = target
    if box >= 0:
        at = box - offsets[0]
        best, candidate = state.best_confidences[at], state.best_candidates[candidate_of(truth, offsets, position, box)]
        if precedes(confidence, overlap, coordinates, best, candidate):
            displaced = (candidate[1], candidate[2], candidate[3], candidate[4])
            state.best_confidences[at], candidate[0] = confidence, overlap
            candidate[1], candidate[2], candidate[3], candidate[4] = coordinates
            if best == UNCLAIMED:
                add_claimed(state, box, position, True)
                return
            confidence, coordinates = best, displaced
    _add_loser(truth, state, offsets, threshold, image, position, confidence, coordinates)


@inlined
def claim(truth, state, offsets, threshold, image, position, target, confidence, coordinates):
    """Record that a detection claims a box.

    If another detection has already claimed the box, the detection that comes second in the order of
    :func:`~evaluator.kernels.overlap.precedes` loses the box. It is then absorbed by a group-of box or becomes a false
    positive.

    A detection can match only the box that it overlaps most. Of all detections that claim a box, the first in the order
    of precedence is the true positive. Therefore, the result does not depend on the order in which detections are read.
    Without group-of boxes, only the confidences of the true positive and of the false positives matter.

    Parameters
    ----------
    position : int64
        Position of the detection's class in ``truth.verified``.
    target : (int64, float64)
        The claimed box (-1 if there is none), and its IoU with the detection.
    """
    if truth.groups_from[position] < truth.groups_from[position + 1]:
        _claim_beside_groups(truth, state, offsets, threshold, image, position, target, confidence, coordinates)
        return
    box, label = target[0], np.int64(truth.verified[position])
    at = box - offsets[0] if box >= 0 else np.int64(len(state.best_confidences) - 1)
    best, entries = claim_box(truth, state, at, state.counts[ENTRIES], confidence, label, image)
    state.counts[ENTRIES] = entries
    add_claimed(state, box, position, best == UNCLAIMED)


@inlined
def match_detection(truth, state, offsets, threshold, image, position, confidence, coordinates):
    """Match one detection, whose class is verified in its image, with the box that it overlaps most.

    A class is verified in an image if it is known to be present or absent there.

    Parameters
    ----------
    position : int64
        Position of the class in ``truth.verified``.
    offsets : (int64, int64)
        Indices, in the ground truth, of the ordinary box and the group-of box to which the first elements of
        ``best_confidences`` and ``group_confidences`` belong.
    confidence : float64, no negative zero
    coordinates : four float64
    """
    best, overlap = best_box(truth.boxes, truth.boxes_from[position], truth.boxes_from[position + 1], coordinates)
    target = (best, overlap) if overlap >= threshold else (np.int64(-1), overlap)
    claim(truth, state, offsets, threshold, image, position, target, confidence, coordinates)


@inlined
def collect(state, image, label, confidence, coordinates):
    """Store a prediction, so that it can be matched later; see ``DetectionState.collects``."""
    at = state.counts[COLLECTED]
    state.collected_images[at], state.collected_labels[at] = image, label
    state.collected[at, 0] = confidence
    state.collected[at, 1], state.collected[at, 2], state.collected[at, 3], state.collected[at, 4] = coordinates
    state.counts[COLLECTED] = at + 1


@inlined
def _add_to_class(truth, state, offsets, threshold, image, label, position, confidence, coordinates):
    """Match a valid prediction with the boxes of a class: its own class, or an ancestor of it.

    The parameters are as for :func:`add_prediction`.
    """
    if state.collects[image]:
        collect(state, image, label, confidence, coordinates)
    elif state.image_predictions[image] > MAX_PER_IMAGE_AND_CLASS:
        return
    elif position >= 0:
        match_detection(truth, state, offsets, threshold, image, position, confidence, coordinates)
    else:
        add_unscored(truth, state, confidence, label, image)


@subroutine
def _add_to_ancestors(truth, state, offsets, threshold, image, label, confidence, coordinates):
    """Match copies of a valid prediction with the boxes of each ancestor of its class."""
    first, stop = np.int64(truth.verified_from[image]), np.int64(truth.verified_from[image + 1])
    for at in range(truth.ancestors_from[label], truth.ancestors_from[label + 1]):
        ancestor = truth.ancestors[at]
        position = position_in(truth.verified, first, stop, ancestor, truth.search_steps)
        _add_to_class(truth, state, offsets, threshold, image, ancestor, position, confidence, coordinates)


@inlined
def add_prediction(truth, state, offsets, threshold, image, label, position, confidence, coordinates):
    """Match one prediction in an image of the ground truth. If ``state.collects`` requires it, store it instead.

    If ``truth.ancestors`` is not empty, copies of the prediction are matched or stored as predictions of the ancestors
    of its class. If all predictions of the image are stored, the caller makes the copies later.

    ``position`` is -1 if the class is not verified in the image; ``label`` is -1 if the label is not in the ground
    truth. If an image turns out to have more than 10,000 predictions while the file is read, its remaining predictions
    are only counted, and the file must be read a second time.
    """
    state.image_predictions[image] += 1
    has_area = count_unusual(state.counts, confidence, coordinates, threshold)
    if state.collects[image] == ALL_OF_IMAGE:
        collect(state, image, label, confidence, coordinates)
    elif has_area and confidence > LOWEST_CONFIDENCE:
        # Add zero to turn -0.0 into 0.0, because entries are sorted by the bits of their confidences.
        confidence += 0.0
        _add_to_class(truth, state, offsets, threshold, image, label, position, confidence, coordinates)
        if len(truth.ancestors) and label >= 0:
            _add_to_ancestors(truth, state, offsets, threshold, image, label, confidence, coordinates)


@inlined
def set_class_positions(truth, state, image):
    """Write the position in ``truth.verified`` of each verified class of an image to ``state.class_positions``."""
    for position in range(truth.verified_from[image], truth.verified_from[image + 1]):
        state.class_positions[truth.verified[position]] = position


@inlined
def clear_class_positions(truth, state, image):
    """Reset ``state.class_positions`` to -1 for the verified classes of an image."""
    for position in range(truth.verified_from[image], truth.verified_from[image + 1]):
        state.class_positions[truth.verified[position]] = -1


@inlined
def _finish_groups(truth, state, offset, image, group_kind):
    """Append the entries of the group-of boxes of an image, and reset their confidences."""
    for position in range(truth.verified_from[image], truth.verified_from[image + 1]):
        for group in range(truth.groups_from[position] - offset, truth.groups_from[position + 1] - offset):
            if group_kind != NO_ENTRY and state.group_confidences[group] > 0:
                label = np.int64(truth.verified[position])
                add_entry(truth, state, state.group_confidences[group], label, image, group_kind)
            state.group_confidences[group] = UNCLAIMED


@inlined
def _has_groups(truth, image):
    return truth.groups_from[truth.verified_from[image]] < truth.groups_from[truth.verified_from[image + 1]]


@inlined
def finish_image(truth, state, offsets, image, group_kind):
    """Append the true positives of an image's boxes to the curve entries, and reset the best candidates.

    The state must hold the data of one image at a time. ``group_kind`` is the kind of the entry for each group-of box
    with detections; NO_ENTRY if no entry is appended.

    The entry arrays must have room for one more entry per ordinary box and per group-of box with detections.
    """
    for at in range(state.counts[CLAIMED]):
        box, label = np.int64(state.claimed[at, 0]), np.int64(truth.verified[state.claimed[at, 1]])
        add_entry(truth, state, state.best_confidences[box - offsets[0]], label, image, HIT)
        state.best_confidences[box - offsets[0]] = UNCLAIMED
    state.counts[CLAIMED] = 0
    if _has_groups(truth, image):
        _finish_groups(truth, state, offsets[1], image, group_kind)


@kernel(TRUTH, STATE, types.int64, types.int64, types.int64)
def finish_images(truth, state, group_kind, first, stop):
    """Append the true positives of the images from ``first`` to ``stop``, and reset their best candidates.

    The state must hold the data of all images; ``group_kind`` is as for :func:`finish_image`. The entry arrays must
    have room for one more entry per ordinary box and per group-of box.
    """
    entries = state.counts[ENTRIES]
    for image in range(first, stop):
        for position in range(truth.verified_from[image], truth.verified_from[image + 1]):
            for box in range(truth.boxes_from[position], truth.boxes_from[position + 1]):
                # The next entry overwrites this one if no detection claims the box. The CPU could not predict a branch.
                best = state.best_confidences[box]
                write_entry(truth, state, entries, best, np.int64(truth.verified[position]), image, HIT)
                entries += best != UNCLAIMED
                state.best_confidences[box] = UNCLAIMED
    state.counts[ENTRIES] = entries
    for image in range(first, stop):
        if _has_groups(truth, image):
            _finish_groups(truth, state, 0, image, group_kind)
