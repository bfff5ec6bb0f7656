"""What a relationships score is folded from, image by image."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import members_of
from evaluator.metrics.bootstrap import Numbers, Weights, means_defined, shares
from evaluator.metrics.resampling import HIT, MISS, Groups, Places, Steps
from evaluator.report import CurveRow
from evaluator.tracks.interface import Engine
from evaluator.tracks.relationships.summary import combined, objects, shown
from evaluator.tracks.shared.curve_rows import curve_row
from evaluator.truth import Truth

Three = tuple[float, float, float]
KINDS = ("relationships", "phrases")


@dataclass(frozen=True, slots=True)
class RelationshipSample:
    """One split: its triplets by relation; of relationships and of phrases the curves by relation and of all together.

    ``recalled``: the relationships found among each image's surest pairs, a group for each limit of recall.
    """

    triplets: Groups
    by_relation: Sequence[Steps]
    pooled: Sequence[Steps]
    recalled: Groups
    weights: Three

    def metrics(self, weights: Weights, engine: Engine) -> Mapping[str, Numbers]:
        """Return every metric of each replicate."""
        truths = engine.sums(weights, self.triplets)
        total = truths.sum(axis=0)
        return combined(
            [means_defined(engine.average_precisions(weights, steps, truths, 1.0)) for steps in self.by_relation],
            pooled=[engine.average_precisions(weights, steps, total[None], 1.0)[0] for steps in self.pooled],
            recalls=[shares(found, total) for found in engine.sums(weights, self.recalled)],
            weights=self.weights,
        )


@dataclass(frozen=True, slots=True)
class PairEntries:
    """Every pair that counts; arrays of shape (N,).

    Attributes
    ----------
    images, relations : int arrays
        A relation that the truth does not know has the code after the last; see :meth:`counted`.
    confidences : float64 array
    misses : two bool arrays
        Whether a pair misses every relationship, every phrase.
    """

    images: NDArray[np.integer[Any]]
    relations: NDArray[np.integer[Any]]
    confidences: NDArray[np.float64]
    misses: Sequence[NDArray[np.bool_]]

    def counted(self, kinds: int) -> "PairEntries":
        """Return the entries without those that count for nothing, whose relation is beyond ``kinds``."""
        chosen = self.relations <= kinds
        if chosen.all():
            return self
        arrays = self.images[chosen], self.relations[chosen], self.confidences[chosen]
        return PairEntries(*arrays, [missing[chosen] for missing in self.misses])

    def curves(self, truth: Truth, split: str) -> list[CurveRow]:
        """Return the precision/recall curves of each relation, and of all together, for relationships and phrases."""
        truths = objects(truth, truth.splits[split])
        chosen = truth.splits[split][self.images]
        confidences, relations = self.confidences[chosen], self.relations[chosen].astype(np.int64)
        members = list(members_of(relations, len(truths)))
        labels, names = truth.texts["relations"], truth.texts["relation_names"]
        rows = []
        for kind, misses in zip(KINDS, self.misses, strict=True):
            hits = (~misses[chosen]).astype(float)
            pooled: CurveRow = {"label": None, "name": "all relations", "curve": f"weighted_ap_{kind}"}
            rows.append(curve_row(pooled, confidences, hits, float(truths.sum())))
            for relation in shown(truth, truths):
                mine = members[relation]
                named: CurveRow = {"label": labels[relation], "name": names[relation], "curve": f"ap_{kind}"}
                rows.append(curve_row(named, confidences[mine], hits[mine], float(truths[relation])))
        return rows

    def sample(
        self, truth: Truth, recalled: Sequence[NDArray[np.integer[Any]]], weights: Three, places: Places
    ) -> RelationshipSample:
        """Return the sample of one split.

        ``recalled``: for each limit of recall the image of every relationship that was found.
        """
        relations, rows = len(truth.texts["relations"]), places[self.images]
        limits = np.repeat(np.arange(len(recalled)), [len(found) for found in recalled])
        known, together = self.relations < relations, np.zeros(len(rows), np.uint8)
        kinds = [np.where(missing, MISS, HIT).astype(np.uint8) for missing in self.misses]
        return RelationshipSample(
            Groups.of(truth.arrays["relations"], places[truth.arrays["images"]], relations),
            [
                Steps.of(self.relations[known], self.confidences[known], kind[known], rows[known], relations)
                for kind in kinds
            ],
            [Steps.of(together, self.confidences, kind, rows, 1) for kind in kinds],
            Groups.of(limits, places[np.concatenate(recalled)], len(recalled)),
            weights,
        )
