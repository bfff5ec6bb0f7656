"""Scores Open Images object detection, with a class hierarchy, group-of boxes, and non-exhaustive labels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import DETECTION
from evaluator.files.notices import notice_nothing_to_score
from evaluator.files.source import Source
from evaluator.files.submission import SubmissionTable, read_submission
from evaluator.kernels import compile_once
from evaluator.metrics.boxes import intersection_over_area, intersection_over_union
from evaluator.metrics.matching import best_objects, highest_overlaps, winning_claims
from evaluator.request import Progress
from evaluator.tracks.detection import fiftyone
from evaluator.tracks.detection.candidates import Detections, are_valid, are_verified, indices_within_cap, predicted
from evaluator.tracks.detection.entries import ScoredDetections
from evaluator.tracks.detection.matches import Matches, confidences_of_groups
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth
from evaluator.tracks.interface import Outcome, Scorer
from evaluator.tracks.shared.submissions import (
    can_match,
    csv_text,
    empty_strings,
    notice_predictions,
    require_all_images,
    vocabularies_of,
)
from evaluator.truth import Truth

BOX_COLUMNS = ("XMin", "XMax", "YMin", "YMax")


def detections_of(truth: DetectionTruth, table: SubmissionTable, parameters: DetectionParameters) -> Detections:
    """Return all detections in a submission."""
    return predicted(truth, table, table.numbers(*BOX_COLUMNS), expand=parameters.expand_predictions)


def matched(
    truth: DetectionTruth, detections: Detections, parameters: DetectionParameters, progress: Progress
) -> tuple[DetectionTruth, Matches]:
    """Match the detections that have an area and a valid confidence. Return the ground truth and the matches.

    With FiftyOne's rules, the returned ground truth contains only the boxes that these rules use.
    """
    progress("matching", 0.0)
    detections = detections[are_valid(detections)]
    if parameters.protocol == "fiftyone":
        compile_once(progress)
        truth = fiftyone.counted(truth, parameters)
        return truth, fiftyone.match(truth, detections, parameters)
    return truth, match(truth, detections, parameters)


def outcome_of(truth: DetectionTruth, matches: Matches, parameters: DetectionParameters, progress: Progress) -> Outcome:
    """Return the outcome of a submission whose detections have been matched."""
    progress("scoring", 0.0)
    weight = parameters.group_of_weight
    outcome = ScoredDetections(truth, matches.entries(truth, weight), weight, matches.crowded(truth)).outcome()
    if parameters.protocol == "fiftyone":
        outcome = replace(outcome, splits=fiftyone.completed(truth, matches, outcome.splits, parameters))
    return outcome


def within_cap(truth: DetectionTruth, detections: Detections) -> Detections:
    """Return the most confident detections, at most 10,000 for each image and label."""

    def tie_breaks(rivals: NDArray[np.int64]) -> tuple[NDArray[np.float64], Sequence[NDArray[np.float64]]]:
        tied = detections[rivals]
        return highest_overlaps(tied.keys(truth), tied.boxes, truth.object_keys, truth.boxes), tied.coordinates

    return detections[indices_within_cap(truth, detections, tie_breaks)]


def match(truth: DetectionTruth, detections: Detections, parameters: DetectionParameters) -> Matches:
    """Match detections with ordinary boxes, and then the remaining detections with group-of boxes.

    For each image and label, only the 10,000 most confident detections are matched. A detection can hit only the
    ordinary box that it overlaps most. If another detection hits that box, the detection is a false positive, unless a
    group-of box absorbs it. Source: the official Open Images code; see ``evaluator/metrics``.
    """
    detections = within_cap(truth, detections)
    # Detections of unverified classes are matched too. Otherwise, running time and memory use would reveal which
    # classes are verified.
    verified = are_verified(truth, detections)
    threshold, keys = parameters.iou_threshold, detections.keys(truth)
    objects, overlaps = best_objects(
        keys,
        truth.object_keys if len(keys) else keys,
        lambda ours, theirs: intersection_over_union(detections.boxes[ours], truth.boxes[theirs]),
    )
    targets = np.where(overlaps >= threshold, objects, -1)
    hits = winning_claims(targets, detections.confidences, overlaps, detections.coordinates)
    groups, shares = best_objects(
        keys,
        truth.group_keys,
        lambda ours, theirs: intersection_over_area(detections.boxes[ours], truth.group_boxes[theirs]),
    )
    absorbed = ~hits & (shares >= threshold)
    return Matches(
        detections=detections,
        verified=verified,
        objects=objects,
        overlaps=overlaps,
        hits=hits,
        groups=groups,
        shares=shares,
        absorbed=absorbed,
        group_confidences=confidences_of_groups(
            groups[absorbed], detections.confidences[absorbed], len(truth.group_keys), parameters.group_of_weight
        ),
        curves=detections.labels,
    )


class DetectionScorer(Scorer[DetectionTruth, DetectionParameters, SubmissionTable]):
    """Scores submissions to the object detection track of Open Images."""

    track = DETECTION

    def truth_of(self, prepared: Truth) -> DetectionTruth:
        """Return a ground truth as an instance of this track's ground truth class."""
        return DetectionTruth.of(prepared)

    def parameters_of(self, resolved: Mapping[str, Any]) -> DetectionParameters:
        """Return the parameters as an instance of this track's parameter class."""
        return DetectionParameters.of(resolved)

    def read(self, source: Source, truth: DetectionTruth | None, parameters: DetectionParameters) -> SubmissionTable:
        """Read a submission, and add notices about predictions that are probably mistakes."""
        table = read_submission(source, DETECTION.form, vocabularies_of(truth))
        if truth is not None and parameters.require_all_images and not source.findings.total:
            require_all_images(truth, table, source.findings)
        if not source.findings.total:
            confidences, boxes = table.numbers("Score")[:, 0], table.numbers(*BOX_COLUMNS)
            notice_predictions(source.findings, truth, confidences, [boxes], [table.codes("LabelName")])
            useful = int(np.count_nonzero(can_match(boxes, parameters.iou_threshold)))
            notice_nothing_to_score(source.findings, len(boxes), useful)
        return table

    def evaluate(
        self, truth: DetectionTruth, table: SubmissionTable, parameters: DetectionParameters, progress: Progress
    ) -> Outcome:
        """Score the detections in a submission on every split."""
        counted, matches = matched(truth, detections_of(truth, table, parameters), parameters, progress)
        return outcome_of(counted, matches, parameters, progress)

    def template(self, truth: DetectionTruth) -> str:
        """Return the template submission, which has an empty prediction string for every image."""
        return empty_strings(DETECTION, truth)

    def ceiling(self, truth: DetectionTruth, parameters: DetectionParameters) -> str:
        """Return the best possible submission: all ground-truth boxes and copies for ancestors, with confidence 1.

        Copies for ancestors are left out if predictions are copied to ancestors, or if a prediction can match boxes of
        other classes, because boxes are then not copied.
        """
        if parameters.expand_predictions or not parameters.classwise:
            truth = truth.without_copied_boxes()
        rows = (
            (truth.images[image], truth.labels[label], 1, *box)
            for keys, boxes in ((truth.object_keys, truth.boxes), (truth.group_keys, truth.group_boxes))
            for image, label, box in zip(*map(np.ndarray.tolist, (*truth.images_and_labels(keys), boxes)), strict=True)
        )
        return csv_text(DETECTION.form.long_header, rows)


SCORER = DetectionScorer()
