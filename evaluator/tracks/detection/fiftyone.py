"""Detections matched by FiftyOne's rules instead of the official code's."""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.matching import precedence
from evaluator.tracks.detection.candidates import verified
from evaluator.tracks.detection.matches import Detections, Matches, highest_of
from evaluator.tracks.detection.tables import confusion, with_rates
from evaluator.tracks.detection.variants import annotated_boxes, labelled
from evaluator.tracks.interface import Splits
from evaluator.truth import Truth

KERNEL = "evaluator.kernels.detection.fiftyone"  # loaded where this protocol is asked for: numba takes time to load


def counted(truth: Truth, parameters: Mapping[str, Any]) -> Truth:
    """Return the part of a truth that counts: boxes of labelled classes; across classes each box once, as annotated."""
    return labelled(truth if parameters["classwise"] else annotated_boxes(truth))


def match(truth: Truth, found: Detections, parameters: Mapping[str, Any]) -> Matches:
    """Match detections in the order of their confidence, with ordinary boxes first, then with group-of boxes.

    Without ``classwise`` a detection may take an ordinary box of another class: a false positive of that class. One
    that is not verified takes nothing.
    """
    labels, threshold = max(len(truth.texts["labels"]), 1), parameters["iou_threshold"]
    boxes, group_boxes, box_keys = (truth.arrays[name] for name in ("boxes", "group_boxes", "box_keys"))
    keys = found.keys(truth)
    rivals, box_rivals = keys, box_keys
    if not parameters["classwise"]:
        rivals, box_rivals = np.where(verified(truth, found), found.images, -1), box_keys // labels
    ranges, group_ranges = _ranges(rivals, box_rivals), _ranges(keys, truth.arrays["group_keys"])
    kernel, most = import_module(KERNEL), np.empty(len(found))
    kernel.highest_overlaps(found.boxes, boxes, ranges, threshold, most)
    order = precedence(rivals, found.confidences, most, found.corners)
    taken, overlaps, free = np.empty((len(found), 2), np.int64), np.empty((len(found), 2)), np.ones(len(boxes), bool)
    kernel.take_in_turn(order, found.boxes, boxes, ranges, group_boxes, group_ranges, threshold, free, taken, overlaps)

    objects, groups = taken.T
    curves = found.labels.copy()
    curves[objects >= 0] = box_keys[objects[objects >= 0]] % labels
    absorbed = groups >= 0
    return Matches(
        found=found,
        objects=objects,
        overlaps=overlaps[:, 0],
        hits=(objects >= 0) & (curves == found.labels),
        groups=groups,
        shares=overlaps[:, 1],
        absorbed=absorbed,
        reached=highest_of(groups[absorbed], found.confidences[absorbed], len(group_boxes)),
        curves=curves,
    )


def _ranges(keys: NDArray[np.int64], object_keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first object of each key, and the one after its last, shape (N, 2)."""
    return np.stack([np.searchsorted(object_keys, keys, side=side) for side in ("left", "right")], axis=1)


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
