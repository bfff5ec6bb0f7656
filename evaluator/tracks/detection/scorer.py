"""Open Images object detection: truth with a hierarchy, group-of boxes, labels that are not exhaustive."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import DETECTION
from evaluator.files.source import Source
from evaluator.files.submission import Table, read_table
from evaluator.kernels import compile_once
from evaluator.metrics.boxes import intersection_over_area, intersection_over_union
from evaluator.metrics.matching import best_objects, highest_overlaps, takers
from evaluator.tracks.detection import fiftyone as detection_fiftyone
from evaluator.tracks.detection.candidates import (
    most_confident,
    outcome_of,
    predicted,
    reached,
    sound,
    without_unverified,
)
from evaluator.tracks.detection.matches import Detections, Matches
from evaluator.tracks.interface import (
    Contest,
    Outcome,
    Progress,
    blank_strings,
    csv_text,
    notice_boxes,
    require_all_images,
    vocabularies_of,
)
from evaluator.truth import Truth

CORNERS = ("XMin", "XMax", "YMin", "YMax")


def read(source: Source, truth: Truth | None, parameters: Mapping[str, Any]) -> Table:
    """Read a submission, and notice what was hardly meant."""
    table = read_table(source, DETECTION.form, vocabularies_of(truth))
    if truth is not None and parameters["require_all_images"] and not source.findings.total:
        require_all_images(truth, table, source.findings)
    if not source.findings.total:
        confidences, boxes = table.numbers("Score")[:, 0], [table.numbers(*CORNERS)]
        notice_boxes(source.findings, truth, confidences, boxes, [table.codes("LabelName")])
    return table


def evaluate(truth: Truth, table: Table, parameters: Mapping[str, Any], progress: Progress) -> Outcome:
    """Score the detections on every split."""
    progress("matching", 0.0)
    if parameters["protocol"] == "fiftyone":
        compile_once(progress)
    truth, matches = matched(truth, table, parameters)
    progress("scoring", 0.0)
    weight = parameters["group_of_weight"]
    outcome = outcome_of(truth, matches.entries(truth, weight), weight)
    if parameters["protocol"] == "fiftyone":
        splits = detection_fiftyone.completed(truth, matches, outcome.splits, parameters)
        outcome = replace(outcome, splits=splits)
    return outcome


def matched(truth: Truth, table: Table, parameters: Mapping[str, Any]) -> tuple[Truth, Matches]:
    """Return what of the truth counts by the protocol, and what the detections met there."""
    by_official_code = parameters["protocol"] == "tfod"
    if not by_official_code:
        truth = detection_fiftyone.counted(truth, parameters)
    found = predicted(truth, table, table.numbers(*CORNERS), parameters)
    found = found[sound(found)]
    if by_official_code:
        matches = match(truth, within_cap(truth, found), parameters)
    else:
        matches = detection_fiftyone.match(truth, found, parameters)
    return truth, without_unverified(truth, matches)


def within_cap(truth: Truth, found: Detections) -> Detections:
    """Return the surest of each image and class."""

    def rivalry(rivals: NDArray[np.int64]) -> tuple[NDArray[np.float64], Sequence[NDArray[np.float64]]]:
        theirs, arrays = found[rivals], truth.arrays
        overlaps = highest_overlaps(theirs.keys(truth), theirs.boxes, arrays["box_keys"], arrays["boxes"])
        return overlaps, theirs.corners

    return found[most_confident(truth, found, rivalry)]


def match(truth: Truth, found: Detections, parameters: Mapping[str, Any]) -> Matches:
    """Match detections with ordinary boxes, then what is left with group-of boxes.

    A detection looks at one ordinary box only, the one of highest IoU; if a better detection holds it, it is a false
    positive, unless it lies in a group-of box, which absorbs it. Source: the official code, see ``metrics``.
    """
    threshold = parameters["iou_threshold"]
    keys, group_keys = found.keys(truth), truth.arrays["group_keys"]
    best, iou = best_objects(
        keys,
        truth.arrays["box_keys"],
        lambda ours, theirs: intersection_over_union(found.boxes[ours], truth.arrays["boxes"][theirs]),
    )
    hits = takers(np.where(iou >= threshold, best, -1), found.confidences, iou, found.corners)
    group, share = best_objects(
        keys,
        group_keys,
        lambda ours, theirs: intersection_over_area(found.boxes[ours], truth.arrays["group_boxes"][theirs]),
    )
    absorbed = ~hits & (share >= threshold)
    found_at = reached(group[absorbed], found.confidences[absorbed], len(group_keys), parameters["group_of_weight"])
    return Matches(found, best, iou, hits, group, share, absorbed, found_at, found.labels)


def ceiling(truth: Truth, parameters: Mapping[str, Any]) -> str:
    """Write every box of the truth, those of ancestors included, as a sure detection."""
    images, labels = truth.texts["images"], truth.texts["labels"]
    rows = (
        (images[key // len(labels)], labels[key % len(labels)], 1, *box)
        for keys, boxes in (("box_keys", "boxes"), ("group_keys", "group_boxes"))
        for key, box in zip(truth.arrays[keys].tolist(), truth.arrays[boxes].tolist(), strict=True)
    )
    return csv_text(DETECTION.form.long_header, rows)


CONTEST = Contest(
    DETECTION,
    compiler="evaluator.tracks.detection.truth",
    read=read,
    evaluate=evaluate,
    blank=blank_strings(DETECTION),
    ceiling=ceiling,
    fast_path="evaluator.tracks.detection.fast.scoring",
    explaining="evaluator.tracks.detection.explain.explanation",
)
