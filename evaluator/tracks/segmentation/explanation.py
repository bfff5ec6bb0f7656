"""Explains a segmentation score with tables of errors, and with a row for each mask and each missed object."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.submission import SubmissionTable
from evaluator.metrics.errors import DETECTION_KINDS, NO_ERROR
from evaluator.metrics.masks import mask_ioa, mask_iou
from evaluator.metrics.matching import contains
from evaluator.report import MatchTable, SplitReport
from evaluator.request import Progress
from evaluator.tracks.detection.candidates import Detections, ancestors_of
from evaluator.tracks.detection.explain.errors import (
    Comparison,
    Errors,
    class_errors,
    errors_of,
    false_positives,
    missed_weights,
)
from evaluator.tracks.detection.explain.figures import with_rates
from evaluator.tracks.detection.explain.tables import predicted
from evaluator.tracks.detection.matches import Matches
from evaluator.tracks.detection.summary import weighted
from evaluator.tracks.interface import Outcome
from evaluator.tracks.segmentation.scorer import masks_of, matched, outcome_of, ties_of
from evaluator.tracks.segmentation.truth import SegmentationParameters, SegmentationTruth
from evaluator.tracks.shared.report_tables import by_class, by_kind, error_sums, with_columns
from evaluator.truth import USAGES

COLUMNS = ("Usage", "ImageID", "LabelName", "Score", "Outcome", "Reason", "TruthLine", "Overlap")
TYPES = {"Score": float, "TruthLine": int, "Overlap": float}
HIT, ABSORBED, FALSE = range(3)
OUTCOMES = ("true_positive", "absorbed", "false_positive")
USAGE_NAMES = {code: name for name, code in USAGES.items()}
REASONS = (*DETECTION_KINDS, "")  # NO_ERROR is -1 and therefore selects the last element of REASONS, an empty string.
FIRST_LINE = 2  # Line number of the first row after the header of masks.csv.


@dataclass(frozen=True, slots=True)
class Explained:
    """The predicted masks whose class annotators verified in the image, with their matches and kinds of errors.

    Annotators verified a class in an image if they recorded whether the image contains objects of the class.
    """

    truth: SegmentationTruth
    matches: Matches
    errors: Errors
    group_weight: float


def explain(
    truth: SegmentationTruth, table: SubmissionTable, parameters: SegmentationParameters, progress: Progress
) -> Outcome:
    """Score a submission, and return the outcome with tables of errors and a row for each mask.

    The kinds of errors are those of detection, based on overlaps of masks. As in the score, objects that have only a
    box are not counted. The tables are ``averages``, ``errors``, ``error_sums`` and ``class_errors``. The rows of
    classes get columns for precision, recall, F1, support and the missed objects, and a column for the false positives
    of each kind (``fp_…``).
    """
    matches = matched(truth, table, parameters, progress)
    outcome = outcome_of(truth, matches, parameters, progress)
    matches, weight = matches[matches.verified], parameters.group_of_weight
    compared = mask_overlaps(truth, table, matches.detections[false_positives(matches)])
    # As in matching, the IoU threshold is rounded to single precision, because mask overlaps have this precision.
    threshold = float(np.float32(parameters.iou_threshold))
    errors = errors_of(truth, matches, compared, threshold=threshold, group_weight=weight)
    found = Explained(truth, matches, errors, weight)
    splits = {name: _explained(found, report, name) for name, report in outcome.splits.items()}
    return replace(outcome, splits=splits, matches=MatchTable(COLUMNS, partial(_rows, found), TYPES))


def mask_overlaps(truth: SegmentationTruth, table: SubmissionTable, detections: Detections) -> Comparison:
    """Return the functions that compute the overlap of detections with ground-truth masks."""
    masks, objects, groups = masks_of(table, detections), truth.masks_of_objects, truth.masks_of_groups
    annotated = np.flatnonzero(_are_annotated(truth))
    annotated_masks = objects[annotated]
    return Comparison(
        own=lambda ours, theirs: mask_iou(masks, objects, ours, theirs),
        group=lambda ours, theirs: mask_ioa(masks, groups, ours, theirs),
        annotated=annotated,
        other=lambda ours, theirs: mask_iou(masks, annotated_masks, ours, theirs),
        ties=ties_of(detections, masks),
    )


def _are_annotated(truth: SegmentationTruth) -> NDArray[np.bool_]:
    """Return whether each ordinary object is a row of masks.csv and not a copy for an ancestor, shape (M,).

    A copy is recognized by its class, which is an ancestor of the class of another object with the same mask.
    """
    rows, (_, labels) = truth.object_masks, truth.images_and_labels(truth.object_keys)
    if not truth.has_copies:
        return np.ones(len(rows), bool)
    origins, ancestors = ancestors_of(truth.ancestors_from, truth.ancestors, labels)
    copies = np.unique(rows[origins] * len(truth.labels) + ancestors)
    return ~contains(copies, rows * len(truth.labels) + labels)


def _explained(found: Explained, report: SplitReport, split: str) -> SplitReport:
    """Return the score report for a split, with the tables and columns of its explanation added."""
    truth, matches, errors, weight = found.truth, found.matches, found.errors, found.group_weight
    in_split, positives = truth.splits[split], weighted(*truth.counts(split), weight)
    curve_errors = errors.curve_errors(truth, matches, in_split, positives, weight)
    report = with_rates(truth, report, predicted(truth, matches, in_split, weight))
    missed = {"missed": missed_weights(truth, errors.object_kinds, errors.group_kinds, in_split, weight)}
    tables = {
        **report.tables,
        "errors": by_kind(curve_errors, DETECTION_KINDS, "mAP"),
        "error_sums": error_sums(curve_errors, DETECTION_KINDS, "mAP"),
        "class_errors": class_errors(truth, matches, errors, in_split),
    }
    columns = {**missed, **by_class(curve_errors, DETECTION_KINDS)}
    return replace(report, classes=with_columns(report.classes, truth.labels, columns), tables=tables)


def _rows(found: Explained) -> Iterator[tuple[Any, ...]]:
    """Yield a row of :data:`COLUMNS` for each mask whose class is verified, then a row for each missed object.

    A class is verified in an image if its presence or absence is known. ``TruthLine`` is the line number, in masks.csv,
    of the object that a mask hits or, for a false positive, of the object that explains its error. ``Overlap`` is the
    IoU with that object. A mask is ``absorbed`` if it matches a group or an object that has only a box.
    """
    truth, matches, errors = found.truth, found.matches, found.errors
    detections, lines = matches.detections, np.append(truth.object_masks + FIRST_LINE, 0)
    objects = np.where(matches.hits, matches.objects, errors.objects)
    outcomes = np.select([matches.hits, matches.absorbed], [HIT, ABSORBED], FALSE)
    overlaps = np.where(matches.hits, matches.overlaps, errors.overlaps)
    for image, label, score, outcome, kind, line, overlap in zip(
        detections.images.tolist(),
        detections.labels.tolist(),
        detections.confidences.tolist(),
        outcomes.tolist(),
        errors.kinds.tolist(),
        lines[objects].tolist(),
        overlaps.tolist(),
        strict=True,
    ):
        compared = (line, overlap) if line else ("", "")
        yield (*_named(truth, image, label), score, OUTCOMES[outcome], REASONS[kind], *compared)
    for keys, kinds, rows in (
        (truth.object_keys, errors.object_kinds, truth.object_masks),
        (truth.group_keys, errors.group_kinds, truth.group_masks),
    ):
        missed = np.flatnonzero(kinds != NO_ERROR)
        images, labels = truth.images_and_labels(keys[missed])
        columns = images, labels, kinds[missed], rows[missed] + FIRST_LINE
        for image, label, kind, line in zip(*(column.tolist() for column in columns), strict=True):
            yield (*_named(truth, image, label), "", "missed", REASONS[kind], line, "")


def _named(truth: SegmentationTruth, image: int, label: int) -> tuple[str, str, str]:
    return USAGE_NAMES[truth.usage[image]], truth.images[image], truth.labels[label]
