"""Explains a detection score: errors, results by size and attribute, rule ablations, and a row for each detection."""

from dataclasses import dataclass, replace
from functools import partial

from evaluator.files.submission import SubmissionTable
from evaluator.report import ClassRow, MatchTable
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
from evaluator.tracks.detection.explain.figures import Figures
from evaluator.tracks.detection.explain.match_rows import COLUMNS, TYPES, match_rows
from evaluator.tracks.detection.explain.slices import object_sizes, size_counts, size_rows, sizes, slices
from evaluator.tracks.detection.explain.tables import by_outcome, predicted
from evaluator.tracks.detection.matches import Matches
from evaluator.tracks.detection.scorer import detections_of, matched, outcome_of
from evaluator.tracks.detection.summary import weighted
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth
from evaluator.tracks.interface import Outcome


@dataclass(frozen=True, slots=True)
class Explained:
    """A scored submission with its matches and errors.

    Attributes
    ----------
    truth : DetectionTruth
        The part of the ground truth that the matching rules (Open Images or FiftyOne) use.
    known : Detections
        All detections whose label is in the ground truth.
    matches : Matches
        The matches of the detections whose label is verified in their image, that is, known to be present or absent.
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
    false = false_positives(matches)
    compared = box_overlaps(counted, matches.detections[false])
    # By FiftyOne's rules, only a detection that matches a group has one.
    matches.groups[false] = compared.group.objects
    options = {"threshold": parameters.iou_threshold, "group_weight": parameters.group_of_weight}
    errors = errors_of(counted, matches, compared, **options)
    found = Explained(counted, known, matches, errors, parameters.group_of_weight)
    splits = {
        name: _figures(found, name, by_split.get(name)).explained(counted, report)
        for name, report in outcome.splits.items()
    }
    rows_of_matches = partial(match_rows, counted, known, matches, errors)
    return replace(outcome, splits=splits, matches=MatchTable(COLUMNS, rows_of_matches, TYPES))


def _figures(found: Explained, split: str, ablation_rows: list[ClassRow] | None) -> Figures:
    """Return the numbers that explain the score on a split."""
    truth, matches, errors, weight = found.truth, found.matches, found.errors, found.group_weight
    in_split, positives = truth.splits[split], weighted(*truth.counts(split), weight)
    missed = missed_weights(truth, errors.object_kinds, errors.group_kinds, in_split, weight)
    size_codes = object_sizes(truth), sizes(matches.detections.boxes)
    by_size = size_rows(truth, matches, errors, in_split, size_codes)
    counts_of_sizes = size_counts(truth, errors.object_kinds, in_split, size_codes[0])
    tables = {
        "class_errors": class_errors(truth, matches, errors, in_split),
        "slices": slices(truth, errors.object_kinds, in_split, counts_of_sizes, by_size),
    }
    return Figures(
        errors=errors.curve_errors(truth, matches, in_split, positives, weight),
        predicted=predicted(truth, matches, in_split, weight),
        by_outcome=by_outcome(truth, found.known, matches, missed, in_split),
        tables=tables if ablation_rows is None else {**tables, "ablation": ablation_rows},
    )
