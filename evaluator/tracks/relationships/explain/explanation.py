"""Explains a score of the relationships track with tables of errors and a row with the outcome of each pair."""

from dataclasses import replace
from functools import partial

import numpy as np

from evaluator.files.submission import SubmissionTable
from evaluator.metrics.errors import NO_ERROR
from evaluator.report import MatchTable
from evaluator.request import Progress
from evaluator.tracks.interface import Outcome
from evaluator.tracks.relationships.explain.errors import Errors, errors_of
from evaluator.tracks.relationships.explain.figures import Figures
from evaluator.tracks.relationships.explain.match_rows import COLUMNS, TYPES, match_rows
from evaluator.tracks.relationships.pairs import PairMatches, match
from evaluator.tracks.relationships.scorer import outcome_of
from evaluator.tracks.relationships.truth import RelationshipsParameters, RelationshipsTruth


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
        name: _figures(truth, matches, scored, errors, name).explained(truth, report, name)
        for name, report in outcome.splits.items()
    }
    rows_of_matches = partial(match_rows, truth, matches, errors)
    return replace(outcome, splits=splits, matches=MatchTable(COLUMNS, rows_of_matches, TYPES))


def _figures(
    truth: RelationshipsTruth, matches: PairMatches, scored: PairMatches, errors: Errors, split: str
) -> Figures:
    """Return the numbers that explain the score on a split. ``scored`` is the part of ``matches`` that is scored."""
    relations, pairs, in_split = len(truth.relations), matches.pairs, truth.splits[split]
    curve_errors = errors.curve_errors(truth, scored, split)
    ignored = ~pairs.is_scored & pairs.has_labels & in_split[pairs.images]
    missed = (errors.missed != NO_ERROR) & in_split[truth.triplet_images]
    return Figures(
        errors=curve_errors,
        true=np.bincount(curve_errors.curves, curve_errors.weights, relations + 1),
        predicted=np.bincount(curve_errors.curves, minlength=relations + 1),
        ignored=np.bincount(pairs.relations[ignored], minlength=relations + 1),
        missed=np.bincount(truth.triplet_relations[missed], minlength=relations),
    )
