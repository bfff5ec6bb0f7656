"""Detections matched by FiftyOne's rules instead of the official code's."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.boxes import intersection_over_area, intersection_over_union
from evaluator.metrics.fiftyone_matching import rounded, taken_in_turn
from evaluator.metrics.matching import PairOverlap, pairs, precedence
from evaluator.tracks.detection.matches import Detections, Matches, highest_of
from evaluator.tracks.detection.tables import confusion, with_rates
from evaluator.tracks.detection.variants import annotated_boxes, labelled
from evaluator.tracks.interface import Splits
from evaluator.truth import Truth

Pairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def counted(truth: Truth, parameters: Mapping[str, Any]) -> Truth:
    """Return the part of a truth that counts: boxes of labelled classes; across classes each box once, as annotated."""
    return labelled(truth if parameters["classwise"] else annotated_boxes(truth))


def match(truth: Truth, found: Detections, parameters: Mapping[str, Any]) -> Matches:
    """Match detections in the order of their confidence, with ordinary boxes first, then with group-of boxes.

    Without ``classwise`` a detection may take an ordinary box of another class: a false positive of that class.
    """
    labels, threshold = max(len(truth.texts["labels"]), 1), parameters["iou_threshold"]
    boxes, group_boxes = truth.arrays["boxes"], truth.arrays["group_boxes"]
    box_labels = truth.arrays["box_keys"] % labels
    keys = found.keys(truth)
    rivals, box_rivals = keys, truth.arrays["box_keys"]
    if not parameters["classwise"]:
        rivals, box_rivals = found.images, box_rivals // labels
    ordinary = _overlapping(
        rivals, box_rivals, lambda ours, theirs: intersection_over_union(found.boxes[ours], boxes[theirs]), threshold
    )
    grouped = _overlapping(
        keys,
        truth.arrays["group_keys"],
        lambda ours, theirs: intersection_over_area(found.boxes[ours], group_boxes[theirs]),
        threshold,
    )
    most = np.zeros(len(found))
    np.maximum.at(most, ordinary[0], ordinary[2])
    order = precedence(rivals, found.confidences, most, found.corners)
    taken = _taken(order, ordinary, grouped, boxes=len(boxes), groups=len(group_boxes), threshold=threshold)

    objects = np.where(taken < len(boxes), taken, -1)
    groups = np.where(taken < len(boxes), -1, taken - len(boxes))
    curves = found.labels.copy()
    curves[objects >= 0] = box_labels[objects[objects >= 0]]
    absorbed = groups >= 0
    return Matches(
        found=found,
        objects=objects,
        overlaps=_overlaps_of(objects, ordinary, len(found)),
        hits=(objects >= 0) & (curves == found.labels),
        groups=groups,
        shares=_overlaps_of(groups, grouped, len(found)),
        absorbed=absorbed,
        reached=highest_of(groups[absorbed], found.confidences[absorbed], len(group_boxes)),
        curves=curves,
    )


def completed(truth: Truth, matches: Matches, splits: Splits, parameters: Mapping[str, Any]) -> Splits:
    """Return the reports with what FiftyOne prints, and across classes with the confusion matrix."""
    weight = parameters["group_of_weight"]
    reports = {name: with_rates(truth, matches, report, truth.splits[name], weight) for name, report in splits.items()}
    if parameters["classwise"]:
        return reports
    return {
        name: replace(report, tables={**report.tables, "confusion": confusion(truth, matches, truth.splits[name])})
        for name, report in reports.items()
    }


def _overlapping(
    keys: NDArray[np.int64], object_keys: NDArray[np.int64], overlap: PairOverlap, threshold: float
) -> Pairs:
    """Return the pairs of equal keys that overlap enough: predictions, objects, overlaps; each of shape (P,)."""
    parts = []
    for ours, theirs in pairs(keys, object_keys):
        overlaps = rounded(overlap(ours, theirs))
        enough = overlaps >= threshold
        parts.append((ours[enough], theirs[enough], overlaps[enough]))
    none = np.empty(0, np.int64)
    ours, theirs, overlaps = (np.concatenate(each) for each in zip((none, none, np.empty(0)), *parts, strict=True))
    return ours, theirs, overlaps


def _taken(
    order: NDArray[np.int64], ordinary: Pairs, grouped: Pairs, *, boxes: int, groups: int, threshold: float
) -> NDArray[np.int64]:
    """Return what each detection takes, shape (N,): a box, or ``boxes`` + a group-of box, or -1."""
    turns = np.empty_like(order)
    turns[order] = np.arange(len(order))
    suitors = turns[np.concatenate([ordinary[0], grouped[0]])]
    objects, overlaps = np.concatenate([ordinary[1], grouped[1] + boxes]), np.concatenate([ordinary[2], grouped[2]])
    walk = np.lexsort((objects, suitors))
    in_turn = taken_in_turn(
        suitors[walk],
        objects[walk],
        overlaps[walk],
        np.repeat([False, True], [boxes, groups]),
        count=len(order),
        threshold=threshold,
    )
    return in_turn[turns]


def _overlaps_of(taken: NDArray[np.int64], overlapping: Pairs, count: int) -> NDArray[np.float64]:
    """Return how much each detection overlaps what it has taken, shape (N,), 0 where nothing."""
    ours, theirs, overlaps = overlapping
    found, mine = np.zeros(count), taken[ours] == theirs
    found[ours[mine]] = overlaps[mine]
    return found
