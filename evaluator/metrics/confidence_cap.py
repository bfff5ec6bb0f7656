"""Chooses the most confident predictions if an image has more of them than the limit."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.matching import Indices, Keys, positions_in_groups

TieBreaks = Callable[[Indices], tuple[NDArray[np.float64], Sequence[NDArray[np.generic]]]]


def most_confident(limit: int, keys: Keys, confidences: NDArray[np.float64], tie_breaks: TieBreaks) -> Indices:
    """Return, in ascending order, the indices of the first ``limit`` predictions with each key.

    A key encodes an image and a class. Predictions with equal keys are ordered by the precedence that
    ``winning_claims`` describes.

    Parameters
    ----------
    limit : int
    keys : int64 array of shape (N,)
    confidences : float64 array of shape (N,)
    tie_breaks : callable
        Takes the indices, shape (T,), of predictions with equal confidences if only some of them are within the limit.
        Returns their overlaps and their coordinates, by which ``winning_claims`` breaks ties. The function is
        called only if there are such predictions, because overlaps are expensive to compute.

    Examples
    --------
    >>> most_confident(1, np.array([3, 3, 5]), np.array([0.2, 0.9, 0.2]), lambda tied: (np.zeros(len(tied)), []))
    array([1, 2])
    """
    order = np.lexsort((-confidences, keys))
    # ``last`` contains, for each key with at least ``limit`` predictions, the index of the last prediction within the
    # limit.
    last = order[positions_in_groups(keys[order]) == limit - 1]
    if not len(last):
        return np.arange(len(keys))
    of_key = np.minimum(np.searchsorted(keys[last], keys), len(last) - 1)
    reaches_limit = keys[last][of_key] == keys
    level = reaches_limit & (confidences == confidences[last][of_key])
    above = reaches_limit & (confidences > confidences[last][of_key])
    room = limit - np.bincount(of_key[above], minlength=len(last))
    tied = np.flatnonzero(level & (np.bincount(of_key[level], minlength=len(last)) > room)[of_key])
    kept = ~reaches_limit | above | level
    if len(tied):
        tied = tied[np.argsort(keys[tied], kind="stable")]
        overlaps, coordinates = tie_breaks(tied)
        # Predictions with equal confidences are all sorted by coordinates, even if their overlaps alone determine which
        # of them are kept. Otherwise, the scoring time would reveal overlaps with the ground truth.
        by_coordinates = np.lexsort((*reversed(coordinates), keys[tied]))
        tied, overlaps = tied[by_coordinates], overlaps[by_coordinates]
        starts = np.flatnonzero(positions_in_groups(keys[tied]) == 0)
        for of_one_key, its_overlaps in zip(np.split(tied, starts[1:]), np.split(overlaps, starts[1:]), strict=True):
            kept[of_one_key] = _are_highest(int(room[of_key[of_one_key[0]]]), its_overlaps)
    return np.flatnonzero(kept)


def _are_highest(count: int, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a Boolean mask that selects the ``count`` highest values. In a tie, the first values are chosen.

    There must be more than ``count`` values.
    """
    lowest = np.partition(values, len(values) - count)[len(values) - count]
    chosen = np.asarray(values > lowest)
    chosen[np.flatnonzero(values == lowest)[: count - np.count_nonzero(chosen)]] = True
    return chosen
