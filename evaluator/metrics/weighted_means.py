"""Computes weighted means over all values or group by group."""

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.bool_] | NDArray[np.float64]


def weighted_means(
    values: Values, weights: NDArray[np.float64], groups: NDArray[np.int64] | None = None, count: int = 1
) -> NDArray[np.float64]:
    """Return the weighted mean of each group.

    Parameters
    ----------
    values : array of shape (N,), in [0, 1] or bool
    weights : float64 array of shape (N,)
        Weight of each value: 0 or 1 in a split, a whole number in a bootstrap replicate.
    groups : int64 array of shape (N,), optional
        Group of each value, from 0 to ``count`` - 1. By default, all values are one group.
    count : int
        Number of groups.

    Returns
    -------
    float64 array of shape (count,); NaN where all weights of a group are 0.

    Examples
    --------
    >>> weighted_means(np.array([True, False, True]), np.array([1.0, 1.0, 0.0]))
    array([0.5])
    >>> weighted_means(np.array([1.0, 0.5]), np.ones(2), np.array([0, 0]), 2)
    array([0.75,  nan])
    """
    if groups is None:
        groups = np.zeros(len(values), np.int64)
    whole = np.bincount(groups, weights, count)
    part = np.bincount(groups, weights * values, count)
    return np.asarray(np.divide(part, whole, out=np.full(count, np.nan), where=whole > 0))


def weighted_mean(values: Values, weights: NDArray[np.float64]) -> float:
    """Return the weighted mean of all values, NaN if the sum of the weights is 0.

    >>> weighted_mean(np.array([True, False]), np.ones(2))
    0.5
    """
    return float(weighted_means(values, weights)[0])
