"""The metrics of the detection tracks, defined once, and the report of a split."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import DETECTION
from evaluator.metrics.bootstrap import Numbers, mean_over_classes
from evaluator.report import ClassRow, SplitReport, finite
from evaluator.tracks.shared.label_truth import ObjectTruth

Counts = NDArray[np.integer[Any]] | Numbers
Areas = Callable[[Numbers], Numbers]
"""Takes the positives of each class and returns the area under the curve of each, both of shape (classes, ...)."""


def weighted(ordinary: Counts, groups: Counts, group_weight: float) -> Numbers:
    """Return the number of positives: an ordinary object counts as 1, a group as its weight.

    >>> weighted(np.array([2, 0]), np.array([1, 1]), 0.5)
    array([2.5, 0.5])
    """
    return np.asarray(ordinary + group_weight * groups)


@dataclass(frozen=True, slots=True)
class WeightedSplit:
    """A split with weighted images: the numbers that its metrics are computed from.

    For the score, each image counts once. For bootstrap replicates, each image counts as often as it was drawn, and the
    last axis of every array has one element for each replicate.

    Attributes
    ----------
    positives : float64 array of shape (classes, ...)
    average_precisions : float64 array of shape (classes, ...)
        NaN for a class without positives.
    """

    positives: Numbers
    average_precisions: Numbers

    @classmethod
    def of(cls, ordinary: Counts, groups: Counts, group_weight: float, areas: Areas) -> Self:
        """Return the numbers of a split.

        Parameters
        ----------
        ordinary, groups : arrays of shape (classes, ...)
            Number of ordinary objects and of groups.
        group_weight : float
        areas : callable
        """
        positives = weighted(ordinary, groups, group_weight)
        return cls(positives, areas(positives))

    def metrics(self) -> dict[str, Numbers]:
        """Return every metric of the track, shape (...), NaN where undefined."""
        return {"mAP": mean_over_classes(self.average_precisions)}


@dataclass(frozen=True, slots=True)
class EntryCounts:
    """Number of entries of each class in a split; arrays of shape (classes,).

    Attributes
    ----------
    scored : int64 array
        All entries.
    true : float64 array
        True positives; a group counts as its weight.
    false : int64 array
        False positives.
    """

    scored: NDArray[np.int64]
    true: NDArray[np.float64]
    false: NDArray[np.int64]


def split_report(truth: ObjectTruth, split: str, group_weight: float, areas: Areas, counts: EntryCounts) -> SplitReport:
    """Return the report of a split.

    Parameters
    ----------
    truth : ObjectTruth
    split : str
    group_weight : float
    areas : callable
        Computes the areas under the curves of the split, in which each image counts once.
    counts : EntryCounts
    """
    numbers = WeightedSplit.of(*truth.counts(split), group_weight, areas)
    rows: list[ClassRow] = [
        {
            "label": truth.labels[label],
            "name": truth.names[label],
            "ap": finite(numbers.average_precisions[label]),
            "truths": float(numbers.positives[label]),
            "scored": int(counts.scored[label]),
            "true_positives": float(counts.true[label]),
            "false_positives": int(counts.false[label]),
        }
        for label in truth.shown_labels(split)
    ]
    metrics = {name: finite(float(value)) for name, value in numbers.metrics().items()}
    return SplitReport(DETECTION.headline, metrics, rows)
