"""Determines the outcome of each prediction and of each object, with and without the class hierarchy.

The reference implementations are ``evaluator.tracks.detection.explain`` and ``evaluator.metrics.errors``.
"""

import numpy as np
from numba import types

from evaluator.kernels.curves.variants import CODES
from evaluator.kernels.detection.explain.comparing import (
    ALL_RULES,
    FIXED,
    PLAIN,
    area_of,
    clear_annotated,
    compare,
    compete,
    coordinates_of,
    set_annotated,
)
from evaluator.kernels.detection.explain.confusions import NO_CONFUSION, count
from evaluator.kernels.detection.explain.explained import (
    ABSORBED,
    ARRIVAL,
    FALSE,
    FIXABLE,
    GROUP,
    HIERARCHY,
    HIT,
    OUTCOMES_TYPE,
    OVERLAPS,
    PLAIN_CODE,
    PLAIN_FALSE,
    PLAIN_GROUP,
    PLAIN_HIT,
    PLAIN_LEFT_OUT,
    PREDICTIONS,
    PRIVATE_CODE,
    SIZE_CODE,
)
from evaluator.kernels.detection.explain.explaining_in_turn import match_image
from evaluator.kernels.detection.images_in_turn import TURNS
from evaluator.kernels.detection.matching import clear_class_positions, set_class_positions
from evaluator.kernels.detection.state import TRUTH, offsets_of, unscored_class
from evaluator.kernels.jit import inlined, kernel, read_only
from evaluator.kernels.reading import IGNORED as IGNORED_IMAGE
from evaluator.kernels.reading import PRIVATE

# Kinds of errors, and the highest IoU of a prediction that counts as background; see ``evaluator.metrics.errors``.
CLASS, LOCALIZATION, BOTH, DUPLICATE, BACKGROUND, GROUP_OF, MISSED = range(7)
NO_ERROR = -1
BACKGROUND_OVERLAP = 0.1


@inlined
def _is_absorbed(found, overlaps, offsets, threshold, rules, row):
    """Return whether a group-of box absorbs a prediction that hits no ordinary box.

    The box absorbs the prediction if enough of the prediction's area lies inside the box. The prediction then competes
    to be the most confident prediction in the box.
    """
    group = overlaps.groups[rules, row]
    if group < 0 or not overlaps.shares[rules, row] >= threshold:
        return False
    compete(found, overlaps.shares[rules], overlaps.group_winners[rules], group - offsets[1], row)
    return True


@inlined
def _is_hit(overlaps, offsets, threshold, rules, row):
    box = overlaps.boxes[rules, row]
    if box < 0 or not overlaps.ious[rules, row] >= threshold:
        return False
    return overlaps.box_winners[rules, box - offsets[0]] == row


@inlined
def _kind_of(overlaps, threshold, row):
    """Return the kind of error of a false positive."""
    own, other = overlaps.ious[ALL_RULES, row], overlaps.other_ious[row]
    if own >= BACKGROUND_OVERLAP and own < threshold:
        return LOCALIZATION
    if other >= threshold:
        return CLASS
    if own >= threshold:
        return DUPLICATE
    if overlaps.shares[ALL_RULES, row] >= BACKGROUND_OVERLAP:
        return GROUP_OF
    return BACKGROUND if max(own, other) <= BACKGROUND_OVERLAP else BOTH


@inlined
def _judge(found, overlaps, offsets, threshold, row):
    """Determine whether a prediction hits a box or is absorbed, with and without the class hierarchy.

    All predictions in the image must already have competed for the boxes that they overlap.
    """
    if overlaps.outcomes[ALL_RULES, row] == FALSE:
        if _is_hit(overlaps, offsets, threshold, ALL_RULES, row):
            overlaps.outcomes[ALL_RULES, row] = HIT
        elif _is_absorbed(found, overlaps, offsets, threshold, ALL_RULES, row):
            overlaps.outcomes[ALL_RULES, row] = ABSORBED
    if overlaps.outcomes[PLAIN, row] == PLAIN_FALSE:
        if _is_hit(overlaps, offsets, threshold, PLAIN, row):
            overlaps.outcomes[PLAIN, row] = PLAIN_HIT
        elif _is_absorbed(found, overlaps, offsets, threshold, PLAIN, row):
            overlaps.outcomes[PLAIN, row] = PLAIN_LEFT_OUT


@inlined
def _compete_if_fixable(found, overlaps, offsets, kind, row):
    """Make a false positive compete for the box that it would hit if its error were fixed.

    It does not compete if another prediction hits the box.
    """
    box = np.int64(-1)
    if kind == CLASS:
        box, overlaps.fixed_ious[row] = overlaps.others[row], overlaps.other_ious[row]
    elif kind == LOCALIZATION:
        box, overlaps.fixed_ious[row] = overlaps.boxes[ALL_RULES, row], overlaps.ious[ALL_RULES, row]
    if box >= 0 and overlaps.box_winners[ALL_RULES, box - offsets[0]] < 0:
        compete(found, overlaps.fixed_ious, overlaps.box_winners[FIXED], box - offsets[0], row)


@inlined
def _find_error(found, overlaps, offsets, threshold, row):
    """Determine the kind of error of a false positive, and make it compete for the box that it would hit if fixed."""
    if overlaps.outcomes[ALL_RULES, row] == FALSE:
        kind = _kind_of(overlaps, threshold, row)
        overlaps.outcomes[ALL_RULES, row] = FALSE + kind
        _compete_if_fixable(found, overlaps, offsets, kind, row)


@inlined
def _size(coordinates, bounds):
    """Return the size of a box: 0 small, 1 medium, 2 large. ``bounds`` are the areas that separate these sizes."""
    area = area_of(coordinates)
    return np.int64(area >= bounds[0]) + np.int64(area >= bounds[1])


@inlined
def _add_entry(truth, outcomes, image, label, confidence, code):
    """Append an entry, which is usually a prediction with its outcome, to a precision/recall curve.

    If the image is not scored or the label is unknown, the entry gets the class returned by :func:`unscored_class`.
    """
    if truth.usage[image] == IGNORED_IMAGE or label < 0:
        label = unscored_class(truth, label)
    if truth.usage[image] == PRIVATE:
        code += PRIVATE_CODE
    at = outcomes.written[0]
    # Add zero to turn -0.0 into 0.0, because entries are sorted by the bits of their confidences.
    outcomes.confidences[at] = confidence + 0.0
    outcomes.entries[at] = np.uint32(label * CODES + code)
    outcomes.written[0] = at + 1


@inlined
def _confusion_of(truth, image, label, box_label):
    """Return the code of a confusion (see :class:`.confusions.Confusions`); NO_CONFUSION if the image is not scored."""
    usage = truth.usage[image]
    code = (np.int64(box_label) * (len(truth.labels.starts) - 1) + label) * 2 + np.int64(usage == PRIVATE) + 1
    return code if usage != IGNORED_IMAGE else np.int64(NO_CONFUSION)


@inlined
def _add_prediction(truth, hierarchy, found, overlaps, outcomes, offsets, bounds, image, row):
    """Append the entry of a prediction, with its outcome, to a precision/recall curve.

    Also count the pair of its predicted class and the right class if the prediction is a false positive with the kind
    of error CLASS (wrong class).
    """
    label, coordinates = np.int64(found.labels[row]), coordinates_of(found, row)
    outcome, plain, size = np.int64(overlaps.outcomes[ALL_RULES, row]), np.int64(overlaps.outcomes[PLAIN, row]), 0
    confusion = np.int64(NO_CONFUSION)
    if outcome == HIT:
        boxes, box = truth.boxes, overlaps.boxes[ALL_RULES, row]
        size = _size((boxes[box, 0], boxes[box, 1], boxes[box, 2], boxes[box, 3]), bounds)
    elif outcome >= FALSE:
        size = _size(coordinates, bounds)
        if outcome == FALSE + CLASS:
            confusion = _confusion_of(truth, image, label, hierarchy.label_of_box[overlaps.others[row]])
        elif outcome == FALSE + LOCALIZATION:
            box = overlaps.boxes[ALL_RULES, row]
            if overlaps.box_winners[FIXED, box - offsets[0]] == row:
                outcome = FIXABLE
    count(outcomes.confusions, confusion, 1)
    code = outcome + plain * PLAIN_CODE + size * SIZE_CODE
    _add_entry(truth, outcomes, image, label, found.numbers[row, 0], code)


@inlined
def _finish_boxes(truth, found, overlaps, outcomes, offsets, image, position):
    """Store the kind of error that caused each ordinary box of a class to be missed.

    If a prediction of another class would hit a missed box with the right class, append a second entry for the
    prediction, with the outcome ARRIVAL, to the curve of the box's class. Also reset ``box_winners`` to -1.
    """
    for box in range(truth.boxes_from[position], truth.boxes_from[position + 1]):
        fixing = overlaps.box_winners[FIXED, box - offsets[0]]
        if overlaps.box_winners[ALL_RULES, box - offsets[0]] >= 0:
            outcomes.box_kinds[box] = NO_ERROR
        elif fixing < 0:
            outcomes.box_kinds[box] = MISSED
        elif overlaps.outcomes[ALL_RULES, fixing] == FALSE + CLASS:
            outcomes.box_kinds[box] = CLASS
            code = ARRIVAL + PLAIN_LEFT_OUT * PLAIN_CODE
            _add_entry(truth, outcomes, image, np.int64(truth.verified[position]), found.numbers[fixing, 0], code)
        else:
            outcomes.box_kinds[box] = LOCALIZATION
        for winners in range(3):
            overlaps.box_winners[winners, box - offsets[0]] = -1


@inlined
def _finish_groups(truth, found, overlaps, outcomes, offsets, lowest, image, position):
    """For each group-of box of a class, append a curve entry if the box absorbs a prediction.

    The confidence of the prediction must be above ``lowest``. There are separate entries with and without the class
    hierarchy. Also reset ``group_winners`` to -1.
    """
    for group in range(truth.groups_from[position], truth.groups_from[position + 1]):
        for rules in range(2):
            winner = overlaps.group_winners[rules, group - offsets[1]]
            overlaps.group_winners[rules, group - offsets[1]] = -1
            if winner < 0 or not found.numbers[winner, 0] > lowest:
                continue
            if rules == ALL_RULES:
                outcomes.group_is_found[group] = True
            code = (GROUP if rules == ALL_RULES else PLAIN_GROUP) + PLAIN_LEFT_OUT * PLAIN_CODE
            _add_entry(truth, outcomes, image, np.int64(truth.verified[position]), found.numbers[winner, 0], code)


@inlined
def _find_outcomes(truth, hierarchy, found, overlaps, turns, offsets, threshold, in_turn, image, start, stop):
    """Determine the outcomes of the predictions from ``start`` to ``stop``, which are those of an image."""
    for row in range(start, stop):
        compare(truth, hierarchy, found, overlaps, offsets, threshold, image, row, not in_turn)
    if in_turn:
        match_image(truth, found, overlaps, turns, offsets, threshold, start, stop)
    else:
        for row in range(start, stop):
            _judge(found, overlaps, offsets, threshold, row)
    for row in range(start, stop):
        _find_error(found, overlaps, offsets, threshold, row)


@kernel(
    *(TRUTH, HIERARCHY, PREDICTIONS, OVERLAPS, OUTCOMES_TYPE, TURNS),
    *(types.float64, read_only(types.float64), types.boolean),
)
def explain(truth, hierarchy, found, overlaps, outcomes, turns, threshold, bounds, in_turn):
    """Determine the outcomes of all predictions in one or more images, and of the objects in these images.

    Parameters
    ----------
    truth : KernelTruth
    hierarchy : Hierarchy
    found : Predictions
    overlaps : Overlaps
        Scratch memory for the predictions in ``found``. All elements of ``box_winners``, ``group_winners`` and
        ``class_positions`` must be -1 at the start, and those of ``own_boxes`` 0, as they are again at the end.
    outcomes : Outcomes
        Must have room for four more entries and one more confusion for each prediction.
    turns : Turns
        Scratch memory for the predictions in ``found``, if they are matched in turn.
    threshold : float64
        Smallest IoU of a match.
    bounds : float64 array of shape (2,)
        Areas that separate small, medium and large boxes.
    in_turn : bool
        Whether predictions are matched one after another, by FiftyOne's rules. If so, ``truth`` must have only the
        classes and boxes that these rules use, and there are no outcomes without the class hierarchy.
    """
    start, lowest = 0, -np.inf if in_turn else 0.0
    while start < len(found.images):
        image, stop = np.int64(found.images[start]), start
        while stop < len(found.images) and found.images[stop] == image:
            stop += 1
        offsets = offsets_of(truth, image)
        set_class_positions(truth, overlaps, image)
        set_annotated(truth, hierarchy, overlaps, image)
        _find_outcomes(truth, hierarchy, found, overlaps, turns, offsets, threshold, in_turn, image, start, stop)
        for row in range(start, stop):
            _add_prediction(truth, hierarchy, found, overlaps, outcomes, offsets, bounds, image, row)
        for position in range(truth.verified_from[image], truth.verified_from[image + 1]):
            _finish_boxes(truth, found, overlaps, outcomes, offsets, image, position)
            _finish_groups(truth, found, overlaps, outcomes, offsets, lowest, image, position)
        clear_class_positions(truth, overlaps, image)
        clear_annotated(hierarchy, overlaps, image)
        start = stop
