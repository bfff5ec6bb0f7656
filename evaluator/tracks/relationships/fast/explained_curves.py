"""Computes the numbers that explain a score of relationships, from the sorted outcomes of all pairs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.relationships.explaining import ARRIVAL, FALSE, FIXABLE, HIT, IGNORED, OUTCOMES, RELATION
from evaluator.metrics.bootstrap import Areas
from evaluator.metrics.errors import RELATIONSHIP_KINDS
from evaluator.report import CurveRow
from evaluator.tracks.relationships.entries import SplitAreas, curve_rows
from evaluator.tracks.relationships.explain.errors import MISSED
from evaluator.tracks.relationships.explain.figures import Figures
from evaluator.tracks.relationships.fast import variants
from evaluator.tracks.relationships.truth import RelationshipsTruth
from evaluator.tracks.shared.curves.buckets import HALVES
from evaluator.tracks.shared.curves.rows import row_of
from evaluator.tracks.shared.curves.variants import CodedCurves, Roles
from evaluator.tracks.shared.report_tables import ErrorNumbers

ERRORS = range(len(RELATIONSHIP_KINDS))


@dataclass(frozen=True, slots=True)
class ExplainedCurves:
    """The curve entries of all pairs in a submission, with the outcome of each pair.

    Attributes
    ----------
    truth : RelationshipsTruth
    by_relation : CodedCurves
        The curves of the relations, then that of unknown relations, then those of the pairs that are not scored.
    pooled : CodedCurves
        The curve of all scored pairs, then that of all other pairs.
    """

    truth: RelationshipsTruth
    by_relation: CodedCurves
    pooled: CodedCurves

    def areas(self, split: str) -> SplitAreas:
        """Return the functions that compute the areas under the curves of a split."""

        def areas(curves: CodedCurves, roles: Roles) -> Areas:
            return lambda positives: curves.areas(roles[np.newaxis], positives[np.newaxis], 1.0)[0]

        kinds = variants.as_relationships(split), variants.as_phrases(split)
        return [areas(self.by_relation, roles) for roles in kinds], [areas(self.pooled, roles) for roles in kinds]

    def rows(self, split: str) -> list[CurveRow]:
        """Return the rows of the precision/recall curves of a split."""
        kinds = variants.as_relationships(split), variants.as_phrases(split)
        triplets = self.truth.positives(split).astype(np.float64)
        of_relations, of_pooled = self.areas(split)
        areas = [
            [*of_relation(triplets), *pooled(triplets.sum(keepdims=True))]
            for of_relation, pooled in zip(of_relations, of_pooled, strict=True)
        ]

        def row(kind: int, relation: int | None, named: CurveRow, positives: float) -> CurveRow:
            curves, number = (self.pooled, 0) if relation is None else (self.by_relation, relation)
            curve = curves.corners(number, kinds[kind], positives, 1.0)
            return row_of(named, float(areas[kind][-1 if relation is None else relation]), positives, curve)

        for roles in kinds:
            self.pooled.discard_corners([0], roles, 1.0)
            self.by_relation.discard_corners(self.truth.shown_relations(split), roles, 1.0)
        return curve_rows(self.truth, split, row)

    def figures(self, split: str) -> Figures:
        """Return the numbers that explain the score on a split."""
        counts = self.by_relation.by_curve.reshape(-1, 2, OUTCOMES)[:, list(HALVES[split])].sum(axis=1)
        scored, unscored = np.split(counts, 2)
        true, fixable = scored[:, HIT], np.array([scored[:, FIXABLE + kind] for kind in ERRORS])
        false = fixable + [scored[:, FALSE + kind] for kind in ERRORS]
        # Number of triplets of each relation that would be hit if one error were fixed. If the relation of a pair is
        # wrong, the pair has an ARRIVAL entry in the curve of the triplet's relation.
        found = np.delete(fixable, RELATION, axis=0).sum(axis=0) + scored[:, ARRIVAL]
        positives = np.append(self.truth.positives(split), 0)
        lost = positives - true - found
        areas = self._areas(split, positives, lost, true)
        misses = fixable.sum(axis=1).astype(float)
        misses[MISSED] = lost.sum()
        return Figures(
            errors=ErrorNumbers(false, misses.tolist(), areas[0], areas[1:]),
            true=true,
            predicted=true + false.sum(axis=0),
            ignored=unscored[:, IGNORED],
            missed=positives - true,
        )

    def _areas(
        self, split: str, positives: NDArray[np.int64], lost: NDArray[np.int64], true: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the average precisions of the score, followed by the rows of :attr:`ErrorNumbers.fixed`.

        The result has the shape (kinds + 3, relations + 1). ``true`` is the number of triplets of each relation that
        are hit, and ``lost`` the number of those that no pair would hit even if one error were fixed.
        """
        as_scored, without = variants.as_relationships(split), variants.without_false_positives(split)
        fixed = [variants.without_errors(split, kind) for kind in ERRORS]
        roles = np.array([as_scored, *fixed, without, as_scored])
        remaining = [positives - lost * (kind == MISSED) for kind in ERRORS]
        totals = np.array([positives, *remaining, positives, true], np.float64)
        return self.by_relation.areas(roles, totals, 1.0)
