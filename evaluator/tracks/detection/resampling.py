"""What a detection score is folded from, image by image."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import members_of
from evaluator.metrics.bootstrap import Numbers, Weights, means_defined
from evaluator.metrics.resampling import HIT, MISS, PART, Groups, Places, Steps
from evaluator.report import CurveRow
from evaluator.tracks.detection.summary import objects
from evaluator.tracks.interface import Engine, shown_labels
from evaluator.tracks.shared.curve_rows import curve_row
from evaluator.truth import Truth

BOXES = ("box_keys", "group_keys")


@dataclass(frozen=True, slots=True)
class DetectionSample:
    """One split: its ordinary objects and its groups by class, the curve of each class, the weight of a group."""

    ordinary: Groups
    groups: Groups
    curves: Steps
    weight: float

    def metrics(self, weights: Weights, engine: Engine) -> Mapping[str, Numbers]:
        """Return the mAP of each replicate."""
        truths = engine.sums(weights, self.ordinary) + self.weight * engine.sums(weights, self.groups)
        return {"mAP": means_defined(engine.average_precisions(weights, self.curves, truths, self.weight))}


@dataclass(slots=True)
class Entries:
    """What goes into the curves; arrays of shape (N,). A group that was found is one entry of its weight.

    An entry of a label that is one more than there are counts for nothing.
    ``objects`` names the truth's keys of the ordinary objects and of the groups that there were to find.
    """

    images: NDArray[np.integer[Any]]
    labels: NDArray[np.integer[Any]]
    confidences: NDArray[np.float64]
    weights: NDArray[np.float64]
    objects: tuple[str, str] = BOXES

    def __getitem__(self, chosen: NDArray[np.bool_]) -> "Entries":
        """Return the chosen ones."""
        arrays = self.images[chosen], self.labels[chosen], self.confidences[chosen], self.weights[chosen]
        return Entries(*arrays, self.objects)

    def curves(self, truth: Truth, weight: float, split: str) -> list[CurveRow]:
        """Return the precision/recall curve of each class of a report."""
        truths = objects(truth, split, weight)
        chosen = truth.splits[split][self.images]
        confidences, weights = self.confidences[chosen], self.weights[chosen]
        members = list(members_of(self.labels[chosen].astype(np.int64), len(truths)))
        rows = []
        for label in shown_labels(truth, split):
            named: CurveRow = {
                "label": truth.texts["labels"][label],
                "name": truth.texts["names"][label],
                "curve": "ap",
            }
            mine = members[label]
            rows.append(curve_row(named, confidences[mine], weights[mine], float(truths[label])))
        return rows

    def sample(self, truth: Truth, weight: float, places: Places) -> DetectionSample:
        """Return the sample of one split."""
        labels = len(truth.texts["labels"])
        entries = self[self.labels < labels]
        kinds = np.where(entries.weights >= 1, HIT, np.where(entries.weights > 0, PART, MISS)).astype(np.uint8)
        ordinary, groups = (_objects(places, truth.arrays[keys], labels) for keys in self.objects)
        return DetectionSample(
            ordinary,
            groups,
            Steps.of(entries.labels, entries.confidences, kinds, places[entries.images], labels),
            weight,
        )


def _objects(places: Places, keys: NDArray[np.int64], labels: int) -> Groups:
    images, classes = np.divmod(keys, max(labels, 1))
    return Groups.of(classes, places[images], labels)
