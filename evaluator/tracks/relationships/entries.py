"""The entries of precision/recall curves, and the reports, curves and statistics that are computed from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import indices_by_group
from evaluator.metrics.bootstrap import Areas, Numbers
from evaluator.metrics.bootstrap import Weights as ImageWeights
from evaluator.metrics.resampling import HIT, MISS, CurveSteps, ImageGroups, ImageRows, crowded_entries
from evaluator.report import CurveRow, SplitReport
from evaluator.tracks.interface import Engine, Outcome
from evaluator.tracks.relationships.summary import KINDS, WeightedSplit, split_report
from evaluator.tracks.relationships.truth import RelationshipsTruth, Weights
from evaluator.tracks.shared.curves.rows import curve_row

Integers = NDArray[np.integer[Any]]
SplitAreas = tuple[Sequence[Areas], Sequence[Areas]]
"""Functions that compute the areas under the curves of a split, one for each of :data:`KINDS`.

The first sequence is for the curve of each relation, and the second is for the curve of all relations pooled.
"""


@dataclass(frozen=True, slots=True)
class PairEntries:
    """The predicted pairs, as entries of precision/recall curves.

    Attributes
    ----------
    images : int array of shape (N,)
        Code of the image of each pair.
    relations : int array of shape (N,)
        Code of the relation of each pair. With R relations, a relation that is not in the ground truth has the code R.
        A pair that is not scored has R + 1 plus the code of its relation. Curves of such pairs are computed and
        discarded; otherwise, the running time would reveal which pairs are scored.
    confidences : float64 array of shape (N,)
    misses : bool arrays of shape (N,), one for each of :data:`KINDS`
        Whether each pair is a false positive. The first array is for relationships, where both boxes must match. The
        second is for phrases, where only the box around both boxes must match.
    """

    images: Integers
    relations: Integers
    confidences: NDArray[np.float64]
    misses: Sequence[NDArray[np.bool_]]

    def __getitem__(self, chosen: NDArray[np.bool_]) -> "PairEntries":
        """Return the pairs that a Boolean mask of shape (N,) selects."""
        arrays = self.images[chosen], self.relations[chosen], self.confidences[chosen]
        return PairEntries(*arrays, [missing[chosen] for missing in self.misses])

    def scored(self, relations: int) -> "PairEntries":
        """Return only the entries of pairs that are scored.

        The other entries exist so that the running time does not reveal which pairs are scored. ``relations`` is the
        number of relations in the ground truth.
        """
        are_scored = self.relations <= relations
        return self if are_scored.all() else self[are_scored]

    def pooled(self, relations: int) -> Integers:
        """Return the index of each pair's curve when all relations are pooled: 0 for scored pairs, 1 for all others."""
        return (self.relations > relations).astype(np.uint8)

    def steps(
        self, curves: Integers, image_rows: ImageRows, count: int, crowded: NDArray[np.bool_] | None
    ) -> list[CurveSteps]:
        """Return the precision/recall curves of relationships and those of phrases, each as a sequence of steps.

        The first element of the result contains ``count`` curves of relationships, the second ``count`` curves of
        phrases. ``curves``, ``count`` and ``crowded`` are passed to :meth:`CurveSteps.of`.
        """
        rows = image_rows[self.images]
        kinds = [np.where(missing, MISS, HIT).astype(np.uint8) for missing in self.misses]
        return [CurveSteps.of(curves, self.confidences, kind, rows, count, crowded=crowded) for kind in kinds]


@dataclass(frozen=True, slots=True)
class ScoredPairs:
    """A submission that has been read and matched, by the fast path or by the reference implementation.

    Attributes
    ----------
    truth : RelationshipsTruth
    entries : PairEntries
    found : int arrays, one for each limit in :data:`evaluator.tracks.relationships.summary.RECALL_AT`
        Image of each triplet that is hit by one of the ``limit`` most confident pairs of its image.
    areas : callable
        A function that takes the name of a split and returns the functions that compute the areas under its curves.
        Every image has the weight 1.
    weights : three floats
        As in :meth:`WeightedSplit.metrics`.
    crowded : bool array of shape (images,)
        Which images have unusually many predictions; see :func:`evaluator.metrics.resampling.crowded_images`.
    """

    truth: RelationshipsTruth
    entries: PairEntries
    found: Sequence[Integers]
    areas: Callable[[str], SplitAreas]
    weights: Weights
    crowded: NDArray[np.bool_]

    def outcome(self) -> Outcome:
        """Return the reports of all splits, and functions that compute curves and statistics on demand."""
        reports = self.truth.for_each_split(self.report)
        highest = {"score": fsum(self.weights)}
        return Outcome(
            reports, self.statistics, self.curves, trials=lambda metric: self.truth.triplet_images, highest=highest
        )

    def report(self, split: str) -> SplitReport:
        """Return the score report for a split."""
        in_split = self.truth.splits[split]
        positives = self.truth.positives(split).astype(np.float64)
        found = [np.asarray(np.count_nonzero(in_split[images]), np.float64) for images in self.found]
        weighted = WeightedSplit.of(positives, found, *self.areas(split))
        return split_report(self.truth, split, weighted, self.weights)

    def curves(self, split: str) -> list[CurveRow]:
        """Return the precision/recall curves of a split.

        For relationships and for phrases, there is a pooled curve and a curve for each relation.
        """
        truth, positives = self.truth, self.truth.positives(split)
        entries = self.entries.scored(len(positives))
        entries = entries[truth.splits[split][entries.images]]
        members = list(indices_by_group(entries.relations, len(positives)))
        hits = [(~misses).astype(float) for misses in entries.misses]

        def row(kind: int, relation: int | None, named: CurveRow, positives: float) -> CurveRow:
            chosen = slice(None) if relation is None else members[relation]
            return curve_row(named, entries.confidences[chosen], hits[kind][chosen], positives)

        return curve_rows(truth, split, row)

    def statistics(self, image_rows: ImageRows) -> "PairStatistics":
        """Return the statistics of a split, from which bootstrap replicates are computed.

        ``image_rows`` maps each image to its row in the matrix of bootstrap weights.
        """
        truth, entries, relations = self.truth, self.entries, len(self.truth.relations)
        crowded = crowded_entries(self.crowded, entries.images, image_rows)
        limits = np.repeat(np.arange(len(self.found)), [len(images) for images in self.found])
        return PairStatistics(
            positives=ImageGroups.of(truth.triplet_relations, image_rows[truth.triplet_images], relations),
            found=ImageGroups.of(limits, image_rows[np.concatenate(self.found)], len(self.found)),
            by_relation=entries.steps(entries.relations, image_rows, relations + 1, crowded),
            pooled=entries.steps(entries.pooled(relations), image_rows, 1, crowded),
            weights=self.weights,
        )


def curve_rows(
    truth: RelationshipsTruth, split: str, row: Callable[[int, int | None, CurveRow, float], CurveRow]
) -> list[CurveRow]:
    """Return the rows of all curves in a split: the pooled curve and those of the relations, for each of :data:`KINDS`.

    ``row`` is a function that returns a row from the index of the kind, the relation (None for all relations pooled),
    the columns that identify the curve, and the number of triplets.
    """
    positives, rows = truth.positives(split), []
    for index, kind in enumerate(KINDS):
        pooled: CurveRow = {"label": None, "name": "all relations", "curve": f"weighted_ap_{kind}"}
        rows.append(row(index, None, pooled, float(positives.sum())))
        for relation in truth.shown_relations(split):
            name = truth.relation_names[relation]
            named: CurveRow = {"label": truth.relations[relation], "name": name, "curve": f"ap_{kind}"}
            rows.append(row(index, relation, named, float(positives[relation])))
    return rows


@dataclass(frozen=True, slots=True)
class PairStatistics:
    """The triplets of a split and its predicted pairs, prepared for computing bootstrap replicates.

    Each attribute is named after the attribute of :class:`WeightedSplit` that is computed from it.
    """

    positives: ImageGroups
    found: ImageGroups
    by_relation: Sequence[CurveSteps]
    pooled: Sequence[CurveSteps]
    weights: Weights

    def metrics(self, image_weights: ImageWeights, engine: Engine) -> Mapping[str, Numbers]:
        """Return the value of every metric in each bootstrap replicate."""

        def areas(curves: CurveSteps) -> Areas:
            return lambda positives: engine.average_precisions(image_weights, curves, positives, 1.0)

        return WeightedSplit.of(
            engine.sums(image_weights, self.positives),
            list(engine.sums(image_weights, self.found)),
            [areas(curves) for curves in self.by_relation],
            [areas(curves) for curves in self.pooled],
        ).metrics(self.weights)
