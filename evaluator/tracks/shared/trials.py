"""Computes metrics that are proportions of successful trials (hits), such as accuracy and recall."""

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
    """The numbers of trials and hits in each group (such as a class), from which the metrics of a split are computed.

    Trials are weighted by their image. For the score, every weight is 1. For bootstrap replicates, the weight of an
    image is the number of times that it was drawn, and every array has a last axis with one element per replicate.

    Attributes
    ----------
    trials : float64 array of shape (groups, ...)
        Number of trials in each group.
    hits : mapping of str to float64 array of shape (groups, ...)
        For each criterion, the number of trials in each group that meet it.
    """

    trials: Numbers
    hits: Mapping[str, Numbers]

    def shares(self) -> dict[str, Numbers]:
        """Return the proportion of hits in each group, shape (groups, ...), NaN for a group without trials."""
        return {name: ratios(hits, self.trials) for name, hits in self.hits.items()}

    def pooled_shares(self) -> dict[str, Numbers]:
        """Return the proportion of hits in all groups together, shape (...), NaN if there are no trials.

        >>> TrialCounts(np.array([1.0, 3.0]), {"accuracy": np.array([1.0, 0.0])}).pooled_shares()
        {'accuracy': array(0.25)}
        """
        total = self.trials.sum(axis=0)
        return {name: ratios(hits.sum(axis=0), total) for name, hits in self.hits.items()}


Metrics = Callable[[TrialCounts], dict[str, Numbers]]
"""A function that returns every metric of a track, shape (...), NaN where undefined."""


@dataclass(frozen=True, slots=True)
class Trials:
    """Trials (such as classifying an image) in groups (such as the classes of the images).

    Each trial belongs to an image, and meets or fails each of several criteria, such as top-1 and top-5.

    Attributes
    ----------
    images : int64 array of shape (N,)
        Code of the image of each trial.
    hits : mapping of str to bool array of shape (N,)
        For each criterion, whether each trial meets it.
    groups : int array of shape (N,)
        Group of each trial, from 0 to ``group_count`` - 1.
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
        """Return the trials with new groups. Trials whose new group is -1 are left out."""
        chosen = groups >= 0
        return replace(self[chosen], groups=groups[chosen], group_count=group_count)

    def __getitem__(self, chosen: NDArray[np.bool_]) -> Self:
        """Return the trials selected by a Boolean mask."""
        hits = {name: hit[chosen] for name, hit in self.hits.items()}
        return replace(self, images=self.images[chosen], hits=hits, groups=self.groups[chosen])

    def counts(self, in_split: NDArray[np.bool_]) -> TrialCounts:
        """Return the numbers of trials and hits in a split, with weight 1 for each image.

        Parameters
        ----------
        in_split : bool array of shape (images,)
        """
        weights = in_split[self.images].astype(np.float64)

        def count(values: Numbers) -> Numbers:
            return np.bincount(self.groups, values, self.group_count).astype(np.float64)

        return TrialCounts(count(weights), {name: count(weights * hit) for name, hit in self.hits.items()})

    def statistics(self, metrics: Metrics, image_rows: ImageRows) -> "TrialStatistics":
        """Return the statistics of a split, from which bootstrap replicates are computed.

        ``metrics`` computes the metrics from the counts of a replicate. ``image_rows`` maps the code of each image to
        its row in the matrix of bootstrap weights.
        """
        rows = image_rows[self.images]
        return TrialStatistics(
            ImageGroups.of(self.groups, rows, self.group_count),
            {name: ImageGroups.of(self.groups[hit], rows[hit], self.group_count) for name, hit in self.hits.items()},
            metrics,
        )


@dataclass(frozen=True, slots=True)
class TrialStatistics:
    """The trials of a split and the successful trials (hits), prepared for computing bootstrap replicates."""

    trials: ImageGroups
    hits: Mapping[str, ImageGroups]
    metrics_of: Metrics

    def metrics(self, weights: Weights, engine: Engine) -> Mapping[str, Numbers]:
        """Return the value of every metric in each bootstrap replicate."""
        hits = {name: engine.sums(weights, groups) for name, groups in self.hits.items()}
        return self.metrics_of(TrialCounts(engine.sums(weights, self.trials), hits))
