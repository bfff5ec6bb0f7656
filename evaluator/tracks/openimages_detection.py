"""Open Images object detection: truth with a hierarchy, group-of boxes, labels that are not exhaustive."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import DETECTION
from evaluator.files.submission import Table
from evaluator.metrics.average_precision import average_precision
from evaluator.metrics.boxes import intersection_over_area, intersection_over_union
from evaluator.metrics.matching import best_objects, precedence, ranks_in_groups, takers
from evaluator.problems import Findings
from evaluator.report import SplitReport
from evaluator.tracks.contest import Contest, Progress, contains, notice_boxes, vocabularies_of
from evaluator.tracks.detection_report import objects, summary
from evaluator.truth import Truth

CORNERS = ("XMin", "XMax", "YMin", "YMax")
LOWEST_CONFIDENCE = -10.0  # the official code's threshold: at or below it a detection is dropped
MOST_PER_IMAGE_AND_CLASS = 10_000


@dataclass(slots=True)
class Detections:
    """Detections of verified classes; arrays of shape (N,), boxes (N, 4)."""

    images: NDArray[np.int64]
    labels: NDArray[np.int64]
    confidences: NDArray[np.float64]
    boxes: NDArray[np.float64]

    def __getitem__(self, chosen: NDArray[Any]) -> "Detections":
        """Return the chosen ones, by mask or by index."""
        return Detections(self.images[chosen], self.labels[chosen], self.confidences[chosen], self.boxes[chosen])

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.images)

    @property
    def corners(self) -> list[NDArray[np.float64]]:
        """The coordinates, one array each, the weightiest for ties first."""
        return [self.boxes[:, place] for place in range(4)]


@dataclass(slots=True)
class Entries:
    """What goes into the curves; arrays of shape (N,). A group that was found is one entry of its weight."""

    images: NDArray[np.int64]
    labels: NDArray[np.int64]
    confidences: NDArray[np.float64]
    weights: NDArray[np.float64]


def inspect(table: Table, findings: Findings) -> None:
    """Add the notices of a submission."""
    notice_boxes(findings, table.numbers("Score")[:, 0], [table.numbers(*CORNERS)], table.codes("LabelName") < 0)


def evaluate(truth: Truth, table: Table, parameters: Mapping[str, Any], progress: Progress) -> dict[str, SplitReport]:
    """Score the detections on every split."""
    progress("matching", 0.0)
    entries = match(truth, evaluated(truth, table, parameters), parameters)
    progress("scoring", 0.0)
    reports: dict[str, SplitReport] = {}
    for name, in_split in truth.splits.items():
        twin = reports.get("all") if np.array_equal(in_split, truth.splits["all"]) else None
        reports[name] = twin or fold(truth, entries, name, parameters["group_of_weight"])
    return reports


def evaluated(truth: Truth, table: Table, parameters: Mapping[str, Any]) -> Detections:
    """Return the detections that count: sound boxes of classes verified in their image."""
    found = Detections(
        table.codes("image"), table.codes("LabelName"), table.numbers("Score")[:, 0], table.numbers(*CORNERS)
    )
    found = found[found.labels >= 0]
    if parameters["expand_predictions"]:
        found = with_ancestors(truth, found)
    sound = (found.boxes[:, 0] < found.boxes[:, 1]) & (found.boxes[:, 2] < found.boxes[:, 3])
    keys = found.images * len(truth.texts["labels"]) + found.labels
    return found[sound & (found.confidences > LOWEST_CONFIDENCE) & contains(truth.arrays["verified"], keys)]


def with_ancestors(truth: Truth, found: Detections) -> Detections:
    """Return the detections and a copy of each for every ancestor of its class."""
    ends, ancestors = truth.arrays["ancestor_ends"], truth.arrays["ancestors"]
    starts = np.r_[0, ends[:-1]]
    counts = (ends - starts)[found.labels]
    origin = np.repeat(np.arange(len(found)), counts)
    copies = found[origin]
    copies.labels = ancestors[np.repeat(starts[found.labels], counts) + ranks_in_groups(origin)]
    return Detections(
        *(
            np.concatenate([getattr(found, name), getattr(copies, name)])
            for name in ("images", "labels", "confidences", "boxes")
        )
    )


def match(truth: Truth, found: Detections, parameters: Mapping[str, Any]) -> Entries:
    """Match detections with ordinary boxes, then what is left with group-of boxes.

    A detection looks at one ordinary box only, the one of highest IoU; if a better detection holds it, it is a false
    positive, unless it lies in a group-of box, which absorbs it. Source: the official code, see ``metrics``.
    """
    threshold, labels = parameters["iou_threshold"], len(truth.texts["labels"])
    boxes, group_boxes = truth.arrays["boxes"], truth.arrays["group_boxes"]
    best, iou = best_objects(
        found.images * labels + found.labels,
        truth.arrays["box_keys"],
        lambda ours, theirs: intersection_over_union(found.boxes[ours], boxes[theirs]),
    )
    kept = most_confident(found, iou, labels)
    found, best, iou = found[kept], best[kept], iou[kept]
    hits = takers(np.where(iou >= threshold, best, -1), found.confidences, iou, found.corners)
    group, share = best_objects(
        found.images * labels + found.labels,
        truth.arrays["group_keys"],
        lambda ours, theirs: intersection_over_area(found.boxes[ours], group_boxes[theirs]),
    )
    absorbed = ~hits & (share >= threshold)
    left = found[~absorbed]
    highest = np.full(len(group_boxes), -np.inf)
    np.maximum.at(highest, group[absorbed], found.confidences[absorbed])
    reached = np.flatnonzero((highest > 0) & (parameters["group_of_weight"] > 0))
    group_images, group_labels = np.divmod(truth.arrays["group_keys"][reached], labels)
    return Entries(
        np.concatenate([left.images, group_images]),
        np.concatenate([left.labels, group_labels]),
        np.concatenate([left.confidences, highest[reached]]),
        np.concatenate([hits[~absorbed].astype(float), np.full(len(reached), parameters["group_of_weight"])]),
    )


def most_confident(found: Detections, overlaps: NDArray[np.float64], labels: int) -> NDArray[np.bool_]:
    """Tell which detections are among the 10,000 surest of their image and class, shape (N,)."""
    keys = found.images * labels + found.labels
    order = precedence(keys, found.confidences, overlaps, found.corners)
    kept = np.zeros(len(found), bool)
    kept[order] = ranks_in_groups(keys[order]) < MOST_PER_IMAGE_AND_CLASS
    return kept


def fold(truth: Truth, entries: Entries, split: str, weight: float) -> SplitReport:
    """Sum up one split: AP of each class, and their mean."""
    count, in_split = len(truth.texts["labels"]), truth.splits[split]
    truths = objects(truth, split, weight)
    chosen = in_split[entries.images]
    labels, confidences, weights = entries.labels[chosen], entries.confidences[chosen], entries.weights[chosen]
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(count + 1))
    values = np.empty(count)
    for label in range(count):
        members = order[ends[label] : ends[label + 1]]
        values[label] = average_precision(confidences[members], weights[members], truths[label])
    full = np.bincount(labels[weights == 1], minlength=count)
    part = np.bincount(labels[(weights > 0) & (weights < 1)], minlength=count)
    scored = np.bincount(labels, minlength=count)
    return summary(truth, values, truths, scored=scored, true=full + weight * part, false=scored - full - part)


CONTEST = Contest(DETECTION, vocabularies_of, inspect, evaluate, "evaluator.tracks.detection_streaming")
