"""Explains a detection score: errors, results by size and attribute, an ablation, and a row for each detection."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.submission import SubmissionTable
from evaluator.metrics.errors import DETECTION_KINDS
from evaluator.report import MatchTable, SplitReport
from evaluator.request import Progress
from evaluator.tracks.detection.candidates import Detections, are_valid
from evaluator.tracks.detection.explain.ablation import ablation
from evaluator.tracks.detection.explain.errors import (
    Errors,
    box_overlaps,
    class_errors,
    errors_of,
    false_positives,
    missed_weights,
)
from evaluator.tracks.detection.explain.match_rows import COLUMNS, match_rows
from evaluator.tracks.detection.explain.slices import slices
from evaluator.tracks.detection.explain.tables import with_rates
from evaluator.tracks.detection.matches import Matches
from evaluator.tracks.detection.scorer import detections_of, matched, outcome_of
from evaluator.tracks.detection.summary import weighted
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth
from evaluator.tracks.interface import Outcome
from evaluator.tracks.shared.report_tables import by_class, by_kind, error_sums, with_columns


@dataclass(frozen=True, slots=True)
class Explained:
    """A scored submission with its matches and errors.

    Attributes
    ----------
    truth : DetectionTruth
        The part of the ground truth that the protocol uses.
    known : Detections
        All detections with known labels.
    matches : Matches
        The matches of the known detections whose label is verified in their image.
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
    """Score a submission, and return the outcome with tables that explain it and a row for each detection.

    The rows of classes get columns for precision, recall, F1 and support. Further columns count the ignored detections,
    the detections that matched a group, the other detections in groups (``absorbed``), the missed objects, and the
    false positives of each kind (``fp_…``). The tables are ``averages``, ``errors``, ``error_sums``, ``class_errors``
    (classes predicted for objects of a different class), ``slices`` (results by size and by attribute of the objects),
    and, with the official Open Images rules, ``ablation``.
    """
    known = detections_of(truth, table, parameters)
    counted, matches = matched(truth, known, parameters, progress)
    outcome = outcome_of(counted, matches, parameters, progress)
    known = known[known.labels >= 0]
    by_split = ablation(truth, known[are_valid(known)], matches, parameters) if parameters.protocol == "tfod" else {}
    matches = matches[matches.verified]
    compared = box_overlaps(counted, matches.detections[false_positives(matches)])
    options = {"threshold": parameters.iou_threshold, "group_weight": parameters.group_of_weight}
    errors = errors_of(counted, matches, compared, **options)
    found = Explained(counted, known, matches, errors, parameters.group_of_weight)
    splits = {name: _explained(found, report, name) for name, report in outcome.splits.items()}
    for name, rows in by_split.items():
        splits[name] = replace(splits[name], tables={**splits[name].tables, "ablation": rows})
    rows_of_matches = partial(match_rows, counted, known, matches, errors)
    return replace(outcome, splits=splits, matches=MatchTable(COLUMNS, rows_of_matches))


def _explained(found: Explained, report: SplitReport, split: str) -> SplitReport:
    """Return the score report for a split, with the tables and columns of its explanation added."""
    truth, matches, errors = found.truth, found.matches, found.errors
    in_split, positives = truth.splits[split], weighted(*truth.counts(split), found.group_weight)
    curve_errors = errors.curve_errors(truth, matches, in_split, positives, found.group_weight)
    report = with_rates(truth, matches, report, in_split, found.group_weight)
    columns = {**_by_outcome(found, in_split), **by_class(curve_errors, DETECTION_KINDS)}
    tables = {
        **report.tables,
        "errors": by_kind(curve_errors, DETECTION_KINDS, "mAP"),
        "error_sums": error_sums(curve_errors, DETECTION_KINDS, "mAP"),
        "class_errors": class_errors(truth, matches, errors, in_split),
        "slices": slices(truth, matches, errors, in_split),
    }
    return replace(report, classes=with_columns(report.classes, truth.labels, columns), tables=tables)


def _by_outcome(found: Explained, in_split: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Return, for each class, counts of ignored detections, group-of boxes found, absorbed detections and misses.

    Each detection is counted in at most one of these columns. An absorbed detection is inside a group-of box, but is
    not the detection that matches the box. The misses are the positives minus the true positives; a missed group-of
    box contributes its weight.
    """
    truth, matches, labels = found.truth, found.matches, len(found.truth.labels)
    ignored = np.ones(len(found.known), bool)
    ignored[matches.detections.indices] = False
    ignored &= in_split[found.known.images]
    is_inside, finds_group = in_split[matches.detections.images], matches.finds_group

    def count(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(matches.detections.labels[chosen & is_inside], minlength=labels)

    return {
        "ignored": np.bincount(found.known.labels[ignored], minlength=labels),
        "group_found": count(finds_group),
        "absorbed": count(matches.absorbed & ~finds_group),
        "missed": missed_weights(truth, found.errors, in_split, found.group_weight),
    }
