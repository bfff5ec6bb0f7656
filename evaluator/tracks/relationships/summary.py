"""Defines the metrics of the relationships track and the report of a split."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from evaluator.catalog import RELATIONSHIPS
from evaluator.metrics.bootstrap import Areas, Numbers, mean_over_classes, ratios
from evaluator.report import ClassRow, SplitReport, finite
from evaluator.tracks.relationships.truth import RelationshipsTruth, Weights

KINDS = ("relationships", "phrases")
RECALL_AT = (50, 100)


@dataclass(frozen=True, slots=True)
class WeightedSplit:
    """The counts and average precisions from which the metrics of a split are computed. Each image has a weight.

    For the score, every weight is 1. For bootstrap replicates, the weight of an image is the number of times that it
    was drawn, and the last axis of every array has one element for each replicate.

    Attributes
    ----------
    positives : array of shape (relations, ...)
        Number of triplets of each relation.
    found : arrays of shape (...), one for each of :data:`RECALL_AT`
        Number of triplets that are hit by one of the K most confident pairs in their image, where K is the recall
        limit.
    by_relation : arrays of shape (relations, ...), one for each of :data:`KINDS`
        Average precision of each relation, NaN for a relation without triplets.
    pooled : arrays of shape (...), one for each of :data:`KINDS`
        Average precision over the pairs of all relations, NaN if there are no triplets.
    """

    positives: Numbers
    found: Sequence[Numbers]
    by_relation: Sequence[Numbers]
    pooled: Sequence[Numbers]

    @classmethod
    def of(
        cls, positives: Numbers, found: Sequence[Numbers], by_relation: Sequence[Areas], pooled: Sequence[Areas]
    ) -> Self:
        """Compute the average precisions of a split, and return them together with the given counts.

        Parameters
        ----------
        positives, found
            As in :class:`WeightedSplit`.
        by_relation, pooled : sequences of functions, one for each of :data:`KINDS`
            Functions that take the numbers of positives and compute the area under the curve of each relation, or under
            the single curve of all relations pooled.
        """
        total = positives.sum(axis=0)
        return cls(
            positives,
            found,
            [areas(positives) for areas in by_relation],
            [areas(total[np.newaxis])[0] for areas in pooled],
        )

    def metrics(self, weights: Weights) -> dict[str, Numbers]:
        """Return every metric of the track, shape (...), NaN where undefined.

        ``weights`` are the weights that the mAP of relationships, recall@50 and the mAP of phrases have in the score.
        """
        total = self.positives.sum(axis=0)
        relationships, phrases = map(mean_over_classes, self.by_relation)
        recall_at_50, recall_at_100 = (ratios(found, total) for found in self.found)
        return {
            "score": weights[0] * relationships + weights[1] * recall_at_50 + weights[2] * phrases,
            "mAP_relationships": relationships,
            "mAP_phrases": phrases,
            "recall@50": recall_at_50,
            "recall@100": recall_at_100,
            "weighted_ap_relationships": self.pooled[0],
            "weighted_ap_phrases": self.pooled[1],
        }


def split_report(truth: RelationshipsTruth, split: str, weighted: WeightedSplit, weights: Weights) -> SplitReport:
    """Return the score report for a split. In ``weighted``, the weight of every image must be 1."""
    metrics = {name: finite(float(value)) for name, value in weighted.metrics(weights).items()}
    relationships, phrases = weighted.by_relation
    rows: list[ClassRow] = [
        {
            "label": truth.relations[relation],
            "name": truth.relation_names[relation],
            "ap_relationships": finite(relationships[relation]),
            "ap_phrases": finite(phrases[relation]),
            "truths": int(weighted.positives[relation]),
        }
        for relation in truth.shown_relations(split)
    ]
    return SplitReport(RELATIONSHIPS.headline, metrics, rows)
