"""Metrics that are shares of trials, such as accuracies and recalls."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.bootstrap import Numbers, Weights, ratios
from evaluator.metrics.resampling import ImageGroups, ImageRows
from evaluator.tracks.interface import Engine


@dataclass(frozen=True, slots=True)
class TrialCounts:
    """A split with weighted images: the numbers that its metrics are computed from.

    For the score, each image counts once. For bootstrap replicates, each image counts as often as it was drawn, and the
    last axis of every array has one element for each replicate.

    Attributes
    ----------
    trials : float64 array of shape (groups, ...)
        Number of trials in each group.
    hits : mapping of str to float64 array of shape (groups, ...)
        Number of trials that succeed, by the name of the criterion.
    """

    trials: Numbers
    hits: Mapping[str, Numbers]

    def shares(self) -> dict[str, Numbers]:
        """Return the share of hits in each group, shape (groups, ...), NaN for a group without trials."""
        return {name: ratios(hits, self.trials) for name, hits in self.hits.items()}

    def pooled_shares(self) -> dict[str, Numbers]:
        """Return the share of hits in all groups together, shape (...), NaN without trials.

        >>> TrialCounts(np.array([1.0, 3.0]), {"accuracy": np.array([1.0, 0.0])}).pooled_shares()
        {'accuracy': array(0.25)}
        """
        total = self.trials.sum(axis=0)
        return {name: ratios(hits.sum(axis=0), total) for name, hits in self.hits.items()}


Metrics = Callable[[TrialCounts], dict[str, Numbers]]
"""Returns every metric of a track, shape (...), NaN where undefined."""


@dataclass(frozen=True, slots=True)
class Trials:
    """Trials in groups; each trial belongs to an image and succeeds or fails by each of several criteria.

    Attributes
    ----------
    images : int64 array of shape (N,)
        Code of the image of each trial.
    hits : mapping of str to bool array of shape (N,)
        Whether each trial succeeds, by the name of the criterion.
    groups : int array of shape (N,)
        Group of each trial, less than ``group_count``.
    group_count : int
    """

    images: NDArray[np.int64]
    hits: Mapping[str, NDArray[np.bool_]]
    groups: NDArray[np.integer[Any]]
    group_count: int

    @classmethod
    def ungrouped(cls, images: NDArray[np.int64], hits: Mapping[str, NDArray[np.bool_]]) -> Self:
        """Return trials that are all in one group."""
        return cls(images, hits, np.zeros(len(images), np.int64), 1)

    def regrouped(self, groups: NDArray[np.integer[Any]], group_count: int) -> Self:
        """Return the trials with new groups; trials whose group is -1 are left out."""
        chosen = groups >= 0
        return replace(self[chosen], groups=groups[chosen], group_count=group_count)

    def __getitem__(self, chosen: NDArray[np.bool_]) -> Self:
        """Return some of the trials."""
        hits = {name: hit[chosen] for name, hit in self.hits.items()}
        return replace(self, images=self.images[chosen], hits=hits, groups=self.groups[chosen])

    def counts(self, in_split: NDArray[np.bool_]) -> TrialCounts:
        """Return the counts of a split in which each image counts once.

        Parameters
        ----------
        in_split : bool array of shape (images,)
        """
        weights = in_split[self.images].astype(np.float64)

        def count(values: Numbers) -> Numbers:
            return np.bincount(self.groups, values, self.group_count).astype(np.float64)

        return TrialCounts(count(weights), {name: count(weights * hit) for name, hit in self.hits.items()})

    def statistics(self, metrics: Metrics, image_rows: ImageRows) -> "TrialStatistics":
        """Return the statistics of the split whose images have a row in the weights."""
        rows = image_rows[self.images]
        return TrialStatistics(
            ImageGroups.of(self.groups, rows, self.group_count),
            {name: ImageGroups.of(self.groups[hit], rows[hit], self.group_count) for name, hit in self.hits.items()},
            metrics,
        )


@dataclass(frozen=True, slots=True)
class TrialStatistics:
    """The trials and hits of one split in the form that bootstrap replicates are computed from."""

    trials: ImageGroups
    hits: Mapping[str, ImageGroups]
    metrics_of: Metrics

    def metrics(self, weights: Weights, engine: Engine) -> Mapping[str, Numbers]:
        """Return every metric of each replicate."""
        hits = {name: engine.sums(weights, groups) for name, groups in self.hits.items()}
        return self.metrics_of(TrialCounts(engine.sums(weights, self.trials), hits))
