"""Explains a score of the relationships track with tables of errors and a row with the outcome of each pair."""

from dataclasses import replace
from functools import partial

import numpy as np

from evaluator.files.submission import SubmissionTable
from evaluator.metrics.errors import NO_ERROR, RELATIONSHIP_KINDS, CurveErrors
from evaluator.report import MatchTable, SplitReport
from evaluator.request import Progress
from evaluator.tracks.interface import Outcome
from evaluator.tracks.relationships.explain.errors import Errors, errors_of
from evaluator.tracks.relationships.explain.match_rows import COLUMNS, match_rows
from evaluator.tracks.relationships.pairs import PairMatches, match
from evaluator.tracks.relationships.scorer import outcome_of
from evaluator.tracks.relationships.truth import RelationshipsParameters, RelationshipsTruth
from evaluator.tracks.shared.report_tables import by_class, by_kind, error_sums, with_columns, with_rates


def explain(
    truth: RelationshipsTruth, table: SubmissionTable, parameters: RelationshipsParameters, progress: Progress
) -> Outcome:
    """Score the pairs in a submission. The outcome includes tables that explain the score, and a row for each pair.

    The relation rows get columns with the precision, recall and F1 of relationships. Further columns count the pairs
    that were not scored, the triplets that were not matched, and the false positives of each kind of error (``fp_…``).
    The tables are ``averages``, ``errors`` and ``error_sums``.
    """
    matches = match(truth, table, parameters.iou_threshold, progress)
    outcome = outcome_of(truth, matches, parameters.weights, progress)
    errors, scored = errors_of(truth, matches, parameters.iou_threshold), matches[matches.pairs.is_scored]
    splits = {
        name: _explained(truth, matches, errors.curve_errors(truth, scored, name), errors, report, name)
        for name, report in outcome.splits.items()
    }
    return replace(outcome, splits=splits, matches=MatchTable(COLUMNS, partial(match_rows, truth, matches, errors)))


def _explained(
    truth: RelationshipsTruth,
    matches: PairMatches,
    curve_errors: CurveErrors,
    errors: Errors,
    report: SplitReport,
    split: str,
) -> SplitReport:
    relations, pairs, in_split = len(truth.relations), matches.pairs, truth.splits[split]
    true = np.bincount(curve_errors.curves, curve_errors.weights, relations + 1)[:relations].astype(float)
    predicted = np.bincount(curve_errors.curves, minlength=relations + 1)[:relations].astype(float)
    rows = truth.shown_relations(split)
    report = with_rates(report, true[rows], predicted[rows], curve_errors.positives[rows])
    ignored = ~pairs.is_scored & pairs.has_labels & in_split[pairs.images]
    missed = (errors.missed != NO_ERROR) & in_split[truth.triplet_images]
    columns = {
        "ignored": np.bincount(pairs.relations[ignored], minlength=relations + 1)[:relations],
        "missed": np.bincount(truth.triplet_relations[missed], minlength=relations),
        **by_class(curve_errors, RELATIONSHIP_KINDS),
    }
    tables = {
        **report.tables,
        "errors": by_kind(curve_errors, RELATIONSHIP_KINDS, "mAP_relationships"),
        "error_sums": error_sums(curve_errors, RELATIONSHIP_KINDS, "mAP_relationships"),
    }
    return replace(report, classes=with_columns(report.classes, truth.relations, columns), tables=tables)
