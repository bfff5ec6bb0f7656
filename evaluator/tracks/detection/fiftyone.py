"""Matches detections by FiftyOne's rules instead of those of the official Open Images code."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.matching import precedence_order
from evaluator.tracks.detection.candidates import Detections, are_verified
from evaluator.tracks.detection.explain.figures import with_rates
from evaluator.tracks.detection.explain.tables import confusion, predicted
from evaluator.tracks.detection.matches import Matches, highest_confidences
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth
from evaluator.tracks.interface import Splits

KERNEL = "evaluator.kernels.detection.fiftyone"
"""Name of the kernel module. It is loaded only for FiftyOne's rules, because numba is slow to load."""


def counted(truth: DetectionTruth, parameters: DetectionParameters) -> DetectionTruth:
    """Return the part of a ground truth that FiftyOne's rules use: boxes of classes verified in image_labels.csv.

    The ground truth contains a copy of each box for every ancestor of its class. These copies are left out if
    detections can match boxes of other classes.
    """
    return (truth if parameters.classwise else truth.without_copied_boxes()).without_unlabelled()


def match(truth: DetectionTruth, detections: Detections, parameters: DetectionParameters) -> Matches:
    """Match detections in descending order of confidence, first with ordinary boxes, then with group-of boxes.

    Without ``classwise``, a detection may match an ordinary box of a different class. It then counts as a false
    positive for the class of that box. Of detections that differ only in their class, the one whose label is first in
    sorted order is matched first, so the order of rows does not matter. A detection matches nothing if its class is not
    verified in the image, that is, not known to be present or absent.
    """
    threshold, verified = parameters.iou_threshold, are_verified(truth, detections)
    box_images, box_labels = truth.images_and_labels(truth.object_keys)
    keys = detections.keys(truth)
    rivals, box_rivals = keys, truth.object_keys
    if not parameters.classwise:
        rivals, box_rivals = np.where(verified, detections.images, -1), box_images
    ranges, group_ranges = _ranges(rivals, box_rivals), _ranges(keys, truth.group_keys)
    kernel, highest = import_module(KERNEL), np.empty(len(detections))
    kernel.highest_overlaps(detections.boxes, truth.boxes, ranges, threshold, highest)
    ties = [*detections.coordinates, _positions_in_sorted_order(truth.labels)[detections.labels]]
    order = precedence_order(rivals, detections.confidences, highest, ties)
    free = np.ones(len(truth.boxes), bool)
    matched, overlaps = np.empty((len(detections), 2), np.int64), np.empty((len(detections), 2))
    boxes = detections.boxes, truth.boxes, ranges, truth.group_boxes, group_ranges
    kernel.match_in_turn(order, *boxes, threshold, free, matched, overlaps)

    objects, groups = matched.T
    curves = detections.labels.copy()
    curves[objects >= 0] = box_labels[objects[objects >= 0]]
    absorbed = groups >= 0
    return Matches(
        detections=detections,
        verified=verified,
        objects=objects,
        overlaps=overlaps[:, 0],
        hits=(objects >= 0) & (curves == detections.labels),
        groups=groups,
        shares=overlaps[:, 1],
        absorbed=absorbed,
        group_confidences=highest_confidences(
            groups[absorbed], detections.confidences[absorbed], len(truth.group_boxes)
        ),
        curves=curves,
    )


def _positions_in_sorted_order(labels: Sequence[str]) -> NDArray[np.int64]:
    """Return the position of each label in sorted order. The last element is for labels without a code, which is -1."""
    return np.append(np.argsort(np.argsort(np.array(list(labels), str))), -1)


def _ranges(keys: NDArray[np.int64], object_keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each key, the start and end of the range of objects with this key, shape (N, 2).

    A key encodes an image and a label or, if labels need not match, only an image.
    """
    return np.stack([np.searchsorted(object_keys, keys, side=side) for side in ("left", "right")], axis=1)


def completed(truth: DetectionTruth, matches: Matches, splits: Splits, parameters: DetectionParameters) -> Splits:
    """Return the reports with the tables that FiftyOne prints, and a confusion matrix if ``classwise`` is false."""
    weight = parameters.group_of_weight
    reports = {
        name: with_rates(truth, report, predicted(truth, matches, truth.splits[name], weight))
        for name, report in splits.items()
    }
    if parameters.classwise:
        return reports
    return {
        name: replace(report, tables={**report.tables, "confusion": confusion(truth, matches, truth.splits[name])})
        for name, report in reports.items()
    }
