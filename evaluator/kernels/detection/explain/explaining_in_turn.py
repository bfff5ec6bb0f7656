"""Matches the predictions of an image by FiftyOne's rules, and records their outcomes, to explain a score.

The reference implementation is ``evaluator.tracks.detection.fiftyone``.
"""

import numpy as np

from evaluator.kernels.detection.explain.comparing import ALL_RULES, compete, coordinates_of
from evaluator.kernels.detection.explain.explained import ABSORBED, FALSE, HIT
from evaluator.kernels.detection.fiftyone import best_group, best_object, highest_overlap
from evaluator.kernels.detection.images_in_turn import sort_turns
from evaluator.kernels.jit import inlined, subroutine


@inlined
def _position_of(overlaps, found, row):
    """Return the position of a prediction's class in ``truth.verified``; -1 if the prediction is not scored."""
    label = found.labels[row]
    is_scored = label >= 0 and overlaps.outcomes[ALL_RULES, row] == FALSE
    return np.int64(overlaps.class_positions[label]) if is_scored else np.int64(-1)


@inlined
def _set_order(truth, found, overlaps, turns, threshold, start, stop):
    """Write the predictions of an image to ``turns.order``, in the order in which they are matched.

    Predictions that are not scored are sorted too. Otherwise, the CPU time would reveal their number.
    """
    for row in range(start, stop):
        position, highest = _position_of(overlaps, found, row), 0.0
        if position >= 0:
            first, after = np.int64(truth.boxes_from[position]), np.int64(truth.boxes_from[position + 1])
            highest = highest_overlap(coordinates_of(found, row), truth.boxes, first, after, threshold)
        turns.highest[row], turns.order[row - start] = highest, row
    sort_turns(found, turns, stop - start)


@inlined
def _match_group(truth, found, overlaps, offsets, threshold, position, row):
    """Match a prediction with a group-of box, because no ordinary box is available."""
    first, after = np.int64(truth.groups_from[position]), np.int64(truth.groups_from[position + 1])
    group, share = best_group(coordinates_of(found, row), truth.groups, first, after, threshold)
    if group >= 0:
        overlaps.groups[ALL_RULES, row], overlaps.shares[ALL_RULES, row] = group, share
        overlaps.outcomes[ALL_RULES, row] = ABSORBED
        compete(found, overlaps.shares[ALL_RULES], overlaps.group_winners[ALL_RULES], group - offsets[1], row)


@subroutine
def match_image(truth, found, overlaps, turns, offsets, threshold, start, stop):
    """Match the predictions of an image, and write the outcomes HIT and ABSORBED to ``overlaps.outcomes``.

    The outcome of every other scored prediction remains FALSE, and its overlaps remain those with the objects that
    it overlaps most. A prediction that is matched gets the object that it matches, and the rounded overlap.

    Parameters
    ----------
    truth : KernelTruth
    found : Predictions
    overlaps : Overlaps
        The outcome of each scored prediction must be FALSE.
    turns : Turns
        Scratch memory for the predictions in ``found``.
    offsets : (int64, int64)
        As :func:`evaluator.kernels.detection.state.offsets_of` returns them.
    threshold : float64
    start, stop : int64
        Half-open range of the predictions of the image.
    """
    _set_order(truth, found, overlaps, turns, threshold, start, stop)
    for turn in range(stop - start):
        row = np.int64(turns.order[turn])
        position = _position_of(overlaps, found, row)
        if position < 0:
            continue
        first, after = np.int64(truth.boxes_from[position]), np.int64(truth.boxes_from[position + 1])
        best, overlap, highest_taken = best_object(
            coordinates_of(found, row), truth.boxes, first, after, threshold, turns.available, offsets[0]
        )
        if best < 0:
            _match_group(truth, found, overlaps, offsets, threshold, position, row)
        elif highest_taken <= overlap:
            turns.available[best - offsets[0]] = False
            overlaps.boxes[ALL_RULES, row], overlaps.ious[ALL_RULES, row] = best, overlap
            overlaps.outcomes[ALL_RULES, row] = HIT
            overlaps.box_winners[ALL_RULES, best - offsets[0]] = row
    for row in range(start, stop):
        if overlaps.outcomes[ALL_RULES, row] == HIT:
            turns.available[overlaps.boxes[ALL_RULES, row] - offsets[0]] = True
