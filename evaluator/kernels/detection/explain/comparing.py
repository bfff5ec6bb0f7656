"""Computes how much a prediction overlaps the objects of its image. These overlaps determine the prediction's outcome.

A prediction of a class, such as animal, is compared with the objects of this class twice. With the class hierarchy, an
object of a subclass, such as cat, also counts as an animal: scoring adds a copy of the object to each class above its
own. Without the hierarchy, only objects that are annotated with the predicted class count.

The reference implementations are ``evaluator.metrics.boxes`` and ``evaluator.metrics.matching``.
"""

import numpy as np

from evaluator.kernels import LOWEST_CONFIDENCE
from evaluator.kernels.detection.explain.explained import (
    FALSE,
    IGNORED,
    PLAIN_FALSE,
    PLAIN_LEFT_OUT,
    PLAIN_UNVERIFIED,
    PLAIN_WITHIN_CAP,
    UNVERIFIED,
    WITHIN_CAP,
)
from evaluator.kernels.jit import inlined
from evaluator.kernels.text.bits import as_bits, as_float

# Rows of the arrays with the results of matching: with the class hierarchy, without it, and with the hierarchy for
# false positives whose errors are assumed to be fixed.
ALL_RULES, PLAIN, FIXED = range(3)
IOUS = 5  # The row of ``Overlaps.annotated`` with the IoUs.
AT_ONCE = 4  # Number of annotated boxes that are compared at once.


@inlined
def coordinates_of(found, row):
    """Return XMin, XMax, YMin and YMax of a prediction."""
    numbers = found.numbers
    return numbers[row, 1], numbers[row, 2], numbers[row, 3], numbers[row, 4]


@inlined
def _intersection(boxes, box, coordinates):
    """Return the area that a prediction and a box have in common; 0 or NaN if they do not overlap."""
    x_min, x_max, y_min, y_max = coordinates
    width = min(x_max, boxes[box, 1]) - max(x_min, boxes[box, 0])
    height = min(y_max, boxes[box, 3]) - max(y_min, boxes[box, 2])
    # There is no branch, because the CPU could not predict it. If one factor is infinite and the other is 0, the area
    # is NaN. Callers count NaN as 0.
    return max(height, 0.0) * max(width, 0.0)


@inlined
def area_of(coordinates):
    """Return the area of a box."""
    x_min, x_max, y_min, y_max = coordinates
    return (y_max - y_min) * (x_max - x_min)


@inlined
def _iou(boxes, box, coordinates):
    common = _intersection(boxes, box, coordinates)
    box_area = area_of((boxes[box, 0], boxes[box, 1], boxes[box, 2], boxes[box, 3]))
    overlap = common / (area_of(coordinates) + box_area - common)
    return overlap if overlap < np.inf else 0.0


@inlined
def _share(groups, group, coordinates):
    share = _intersection(groups, group, coordinates) / area_of(coordinates)
    return share if share < np.inf else 0.0


@inlined
def _compare_with_own_boxes(truth, hierarchy, overlaps, row, position, coordinates):
    """Find the ordinary box (not a group-of box) of a prediction's class that the prediction overlaps most.

    The result is determined both with and without the class hierarchy.
    """
    best, plain = np.int64(-1), np.int64(-1)
    iou, plain_iou = 0.0, 0.0
    for box in range(truth.boxes_from[position], truth.boxes_from[position + 1]):
        found = _iou(truth.boxes, box, coordinates)
        # There are no branches, because the CPU could not predict which box is better.
        best, iou = (np.int64(box), found) if found > iou else (best, iou)
        is_plain = (found > plain_iou) & hierarchy.box_is_annotated[box]
        plain, plain_iou = (np.int64(box), found) if is_plain else (plain, plain_iou)
    overlaps.boxes[ALL_RULES, row], overlaps.ious[ALL_RULES, row] = best, iou
    overlaps.boxes[PLAIN, row], overlaps.ious[PLAIN, row] = plain, plain_iou


@inlined
def _compare_with_own_groups(truth, hierarchy, overlaps, row, position, coordinates):
    """Find the group-of box of a prediction's class that contains the largest part of the prediction.

    A group-of box is one box around several objects. The result is determined with and without the class hierarchy.
    """
    best, plain = np.int64(-1), np.int64(-1)
    share, plain_share = 0.0, 0.0
    for group in range(truth.groups_from[position], truth.groups_from[position + 1]):
        found = _share(truth.groups, group, coordinates)
        if found > share:
            best, share = np.int64(group), found
        if found > plain_share and hierarchy.group_is_annotated[group]:
            plain, plain_share = np.int64(group), found
    overlaps.groups[ALL_RULES, row], overlaps.shares[ALL_RULES, row] = best, share
    overlaps.groups[PLAIN, row], overlaps.shares[PLAIN, row] = plain, plain_share


@inlined
def _set_own(hierarchy, own_boxes, at, label):
    """Set the bit of an annotated box for its class and for all classes above it."""
    word, bit = at >> 6, np.uint64(1) << np.uint64(at & 63)
    own_boxes[label, word] |= bit
    for ancestor in range(hierarchy.ancestors_from[label], hierarchy.ancestors_from[label + 1]):
        own_boxes[hierarchy.ancestors[ancestor], word] |= bit


@inlined
def _clear_own(hierarchy, own_boxes, at, label):
    """Clear the words that :func:`_set_own` changed. They have only bits of boxes of the same image."""
    own_boxes[label, at >> 6] = 0
    for ancestor in range(hierarchy.ancestors_from[label], hierarchy.ancestors_from[label + 1]):
        own_boxes[hierarchy.ancestors[ancestor], at >> 6] = 0


@inlined
def set_annotated(truth, hierarchy, overlaps, image):
    """Copy the annotated ordinary boxes of an image to ``overlaps.annotated``, one edge after another.

    In this layout, the CPU compares a prediction with several boxes at once. Boxes without area follow, so that it need
    not compare the last boxes one by one. Also set the bits of ``overlaps.own_boxes``.
    """
    first, stop = np.int64(hierarchy.annotated_from[image]), np.int64(hierarchy.annotated_from[image + 1])
    for at in range(stop - first):
        box = np.int64(hierarchy.annotated[first + at])
        for edge in range(4):
            overlaps.annotated[edge, at] = truth.boxes[box, edge]
        edges = (truth.boxes[box, 0], truth.boxes[box, 1], truth.boxes[box, 2], truth.boxes[box, 3])
        overlaps.annotated[4, at] = area_of(edges)
        _set_own(hierarchy, overlaps.own_boxes, at, np.int64(hierarchy.label_of_box[box]))
    for at in range(stop - first, stop - first + AT_ONCE):
        overlaps.annotated[:5, at] = 0.0


@inlined
def clear_annotated(hierarchy, overlaps, image):
    """Clear the bits of ``overlaps.own_boxes`` that :func:`set_annotated` has set."""
    first = np.int64(hierarchy.annotated_from[image])
    for at in range(first, hierarchy.annotated_from[image + 1]):
        label = np.int64(hierarchy.label_of_box[hierarchy.annotated[at]])
        _clear_own(hierarchy, overlaps.own_boxes, at - first, label)


@inlined
def _find_other_ious(annotated, first, stop, own, coordinates):
    """Write the IoU of a prediction with the boxes from ``first`` to ``stop`` in ``annotated`` to the row IOUS.

    It is 0 for the boxes whose bits are set in ``own``, and if it is infinite or NaN, because areas are too large or
    too small for a float64. Return the bits of the highest IoU. There are no branches, and the bits of positive float64
    values have the same order as the values, so the CPU processes several boxes at once.
    """
    x_min, x_max, y_min, y_max = coordinates
    area, highest = area_of(coordinates), np.uint64(0)
    for box in range(np.uint64(first), np.uint64(stop)):
        width = min(x_max, annotated[1, box]) - max(x_min, annotated[0, box])
        height = min(y_max, annotated[3, box]) - max(y_min, annotated[2, box])
        common = max(height, 0.0) * max(width, 0.0)
        iou = common / (area + annotated[4, box] - common)
        is_other = ((own >> (box & np.uint64(63))) & np.uint64(1)) == np.uint64(0)
        iou = iou if (iou > 0.0) & (iou < np.inf) & is_other else 0.0
        annotated[IOUS, box] = iou
        highest = max(highest, as_bits(iou))
    return highest


@inlined
def _compare_with_others(hierarchy, overlaps, row, image, label, coordinates):
    """Find the annotated ordinary box of another class that a prediction overlaps most.

    Boxes of classes below the predicted class are skipped, because they count as boxes of the predicted class.
    """
    first = np.int64(hierarchy.annotated_from[image])
    count = np.int64(hierarchy.annotated_from[image + 1]) - first
    # The number of boxes is a multiple of AT_ONCE, so that vector instructions process all of them.
    padded, highest = -(-count // AT_ONCE) * AT_ONCE, np.uint64(0)
    for word in range((count + 63) >> 6):
        stop = min(padded, (word + 1) << 6)
        own = overlaps.own_boxes[label, word]
        highest = max(highest, _find_other_ious(overlaps.annotated, word << 6, stop, own, coordinates))
    # All boxes are read even if no box is found. Otherwise, the running time would reveal whether there is one.
    iou, best = as_float(highest), np.int64(-1)
    for at in range(count - 1, -1, -1):
        best = at if overlaps.annotated[IOUS, np.uint64(at)] == iou else best
    best = best if iou > 0.0 else np.int64(-1)
    overlaps.others[row], overlaps.other_ious[row] = hierarchy.annotated[first + best] if best >= 0 else -1, iou


@inlined
def precedes(found, values, row, other):
    """Return whether a prediction precedes another one that competes for the same object.

    The order is the same as in :func:`evaluator.metrics.matching.winning_claims`: higher confidence, then higher
    overlap, then smaller coordinates, then the order of the file.
    """
    numbers = found.numbers
    if numbers[row, 0] != numbers[other, 0]:
        return numbers[row, 0] > numbers[other, 0]
    if values[row] != values[other]:
        return values[row] > values[other]
    for column in range(1, 5):
        if numbers[row, column] != numbers[other, column]:
            return numbers[row, column] < numbers[other, column]
    return row < other


@inlined
def compete(found, values, winners, at, row):
    """Make a prediction the winner of an object if it precedes the current winner or if there is none."""
    if winners[at] < 0 or precedes(found, values, row, winners[at]):
        winners[at] = row


@inlined
def _cap_of(found, row):
    """Return the sum of the bits WITHIN_CAP and PLAIN_WITHIN_CAP that a prediction has; see ``Predictions.caps``.

    The sum is 0 if the box has no area or the confidence is too low, because such predictions are never scored.
    """
    x_min, x_max, y_min, y_max = coordinates_of(found, row)
    if not (x_min < x_max and y_min < y_max and found.numbers[row, 0] > LOWEST_CONFIDENCE):
        return 0
    return np.int64(found.caps[row]) if len(found.caps) else WITHIN_CAP | PLAIN_WITHIN_CAP


@inlined
def compare(truth, hierarchy, found, overlaps, offsets, threshold, image, row, competes):
    """Compare a prediction with the objects of its image, and make it compete for the box that it overlaps most.

    The prediction competes only if ``competes`` is true and the overlap reaches the threshold. Predictions of classes
    that are not verified (as present or absent) in the image or not in the ground truth are compared too, although they
    are not scored. Otherwise, the CPU time would reveal their number.
    """
    label = found.labels[row] if found.labels[row] >= 0 else len(overlaps.class_positions) - 1
    cap, position = _cap_of(found, row), np.int64(overlaps.class_positions[label])
    for rules in range(2):
        overlaps.ious[rules, row], overlaps.boxes[rules, row] = 0.0, -1
        overlaps.shares[rules, row], overlaps.groups[rules, row] = 0.0, -1
        overlaps.outcomes[rules, row] = UNVERIFIED if rules == ALL_RULES else PLAIN_UNVERIFIED
    overlaps.other_ious[row], overlaps.others[row] = 0.0, -1
    coordinates = coordinates_of(found, row)
    if cap:
        _compare_with_others(hierarchy, overlaps, row, image, label, coordinates)
    if cap and position >= 0:
        _compare_with_own_boxes(truth, hierarchy, overlaps, row, position, coordinates)
        _compare_with_own_groups(truth, hierarchy, overlaps, row, position, coordinates)
        overlaps.outcomes[ALL_RULES, row] = FALSE
        overlaps.outcomes[PLAIN, row] = PLAIN_FALSE if hierarchy.verified_plain[position] else PLAIN_UNVERIFIED
    for rules in range(2):
        box = overlaps.boxes[rules, row]
        within = cap & (WITHIN_CAP if rules == ALL_RULES else PLAIN_WITHIN_CAP)
        if not within:
            overlaps.outcomes[rules, row] = IGNORED if rules == ALL_RULES else PLAIN_LEFT_OUT
        elif competes and box >= 0 and overlaps.ious[rules, row] >= threshold:
            compete(found, overlaps.ious[rules], overlaps.box_winners[rules], box - offsets[0], row)
