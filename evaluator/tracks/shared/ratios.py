"""What a share of successes is folded from, image by image."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.bootstrap import Numbers, Weights
from evaluator.metrics.resampling import Groups, Places
from evaluator.tracks.interface import Engine

Fold = Callable[[Numbers, Mapping[str, Numbers]], Mapping[str, Numbers]]
"""Takes how much was tried and, by name, how much of it succeeded, each of shape (groups, replicates); returns the
metrics, each of shape (replicates,)."""


@dataclass(frozen=True, slots=True)
class ShareSample:
    """One split: the images of what was tried and of what succeeded, in groups, and how they become metrics."""

    tried: Groups
    found: Mapping[str, Groups]
    fold: Fold

    @classmethod
    def of(
        cls,
        images: NDArray[np.int64],
        hits: Mapping[str, NDArray[np.bool_]],
        places: Places,
        fold: Fold,
        groups: NDArray[np.int64] | None = None,
        count: int = 1,
    ) -> "ShareSample":
        """Return the sample of some trials.

        Parameters
        ----------
        images : int64 array of shape (N,)
            Image of each trial.
        hits : mapping of str to bool array of shape (N,)
        places : int32 array of shape (images,)
        fold : callable
        groups : int64 array of shape (N,), optional
            Group of each trial, below ``count``; without it, all are one.
        """
        rows = places[images]
        groups = np.zeros(len(rows), np.int64) if groups is None else groups
        found = {name: Groups.of(groups[hit], rows[hit], count) for name, hit in hits.items()}
        return cls(Groups.of(groups, rows, count), found, fold)

    def metrics(self, weights: Weights, engine: Engine) -> Mapping[str, Numbers]:
        """Return every metric of each replicate."""
        found = {name: engine.sums(weights, groups) for name, groups in self.found.items()}
        return self.fold(engine.sums(weights, self.tried), found)
