"""The explanation of a detection score: errors by kind, slices, the ablation, and a row for each detection."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.submission import SubmissionTable
from evaluator.metrics.errors import CLASS, DETECTION_KINDS, NO_ERROR
from evaluator.report import ClassRow, MatchTable, SplitReport
from evaluator.request import Progress
from evaluator.tracks.detection.candidates import Detections, are_valid
from evaluator.tracks.detection.explain.ablation import ablation
from evaluator.tracks.detection.explain.errors import Errors, errors_of
from evaluator.tracks.detection.explain.match_rows import COLUMNS, match_rows
from evaluator.tracks.detection.explain.slices import slices
from evaluator.tracks.detection.matches import Matches
from evaluator.tracks.detection.scorer import detections_of, matched, outcome_of
from evaluator.tracks.detection.summary import weighted
from evaluator.tracks.detection.tables import with_rates
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth
from evaluator.tracks.interface import Outcome
from evaluator.tracks.shared.report_tables import by_class, by_kind, error_sums, with_columns


@dataclass(frozen=True, slots=True)
class Explained:
    """A scored submission and its errors.

    Attributes
    ----------
    truth : DetectionTruth
        The part of the truth that the protocol uses.
    known : Detections
        All detections of known labels.
    matches : Matches
        The result of matching those whose label is verified in their image.
    errors : Errors
        The errors of the detections in ``matches``.
    group_weight : float
    """

    truth: DetectionTruth
    known: Detections
    matches: Matches
    errors: Errors
    group_weight: float


def explain(
    truth: DetectionTruth, table: SubmissionTable, parameters: DetectionParameters, progress: Progress
) -> Outcome:
    """Score a submission, and return the outcome with tables that explain it and with a row for each detection.

    The rows of classes get columns for precision, recall, F1 and support, for detections that were ignored, matched a
    group or were absorbed, for missed objects, and for false positives by kind (``fp_…``). The tables are ``averages``,
    ``errors``, ``error_sums``, ``class_errors`` (classes predicted for objects of other classes), ``slices``, and
    ``ablation`` with the official protocol.
    """
    known = detections_of(truth, table, parameters)
    counted, matches = matched(truth, known, parameters, progress)
    outcome = outcome_of(counted, matches, parameters, progress)
    known = known[known.labels >= 0]
    by_split = ablation(truth, known[are_valid(known)], matches, parameters) if parameters.protocol == "tfod" else {}
    matches = matches[matches.verified]
    errors = errors_of(counted, matches, parameters.iou_threshold, parameters.group_of_weight)
    found = Explained(counted, known, matches, errors, parameters.group_of_weight)
    splits = {name: _explained(found, report, name) for name, report in outcome.splits.items()}
    for name, rows in by_split.items():
        splits[name] = replace(splits[name], tables={**splits[name].tables, "ablation": rows})
    rows_of_matches = partial(match_rows, counted, known, matches, errors)
    return replace(outcome, splits=splits, matches=MatchTable(COLUMNS, rows_of_matches))


def _explained(found: Explained, report: SplitReport, split: str) -> SplitReport:
    """Return the report of a split with its explanation."""
    truth, matches, errors = found.truth, found.matches, found.errors
    in_split, positives = truth.splits[split], weighted(*truth.counts(split), found.group_weight)
    curve_errors = errors.curve_errors(truth, matches, in_split, positives, found.group_weight)
    report = with_rates(truth, matches, report, in_split, found.group_weight)
    columns = {**_by_outcome(found, in_split), **by_class(curve_errors, DETECTION_KINDS)}
    tables = {
        **report.tables,
        "errors": by_kind(curve_errors, DETECTION_KINDS, "mAP"),
        "error_sums": error_sums(curve_errors, DETECTION_KINDS, "mAP"),
        "class_errors": _class_errors(found, in_split),
        "slices": slices(truth, matches, errors, in_split),
    }
    return replace(report, classes=with_columns(report.classes, truth.labels, columns), tables=tables)


def _by_outcome(found: Explained, in_split: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Return by class the number of detections that were ignored, matched a group or were absorbed, and of misses.

    No detection is in two of these columns. The missed objects are the positives minus the true positives; a missed
    group counts as its weight.
    """
    truth, matches, labels = found.truth, found.matches, len(found.truth.labels)
    ignored = np.ones(len(found.known), bool)
    ignored[matches.detections.indices] = False
    ignored &= in_split[found.known.images]
    is_inside, finds_group = in_split[matches.detections.images], matches.finds_group
    missed = [
        truth.object_keys[found.errors.object_kinds != NO_ERROR],
        truth.group_keys[found.errors.group_kinds != NO_ERROR],
    ]
    images, classes = truth.images_and_labels(np.concatenate(missed))
    weights = np.repeat([1.0, found.group_weight], list(map(len, missed)))

    def count(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(matches.detections.labels[chosen & is_inside], minlength=labels)

    return {
        "ignored": np.bincount(found.known.labels[ignored], minlength=labels),
        "group_found": count(finds_group),
        "absorbed": count(matches.absorbed & ~finds_group),
        "missed": np.bincount(classes, weights * in_split[images], labels),
    }


def _class_errors(found: Explained, in_split: NDArray[np.bool_]) -> list[ClassRow]:
    """Return how often each class was predicted for objects of a different class, the most frequent pair first."""
    truth, detections = found.truth, found.matches.detections
    wrong = (found.errors.kinds == CLASS) & in_split[detections.images]
    labels = max(len(truth.labels), 1)
    actual = truth.images_and_labels(truth.object_keys)[1][found.errors.objects[wrong]]
    pairs, counts = np.unique(actual * labels + detections.labels[wrong], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return [
        {"truth": truth.labels[pair // labels], "prediction": truth.labels[pair % labels], "count": count}
        for pair, count in zip(pairs[order].tolist(), counts[order].tolist(), strict=True)
    ]
