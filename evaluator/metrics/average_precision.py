"""Average precision, the area under a precision/recall curve."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Area = Callable[[NDArray[np.float64], NDArray[np.float64], float], float]


@dataclass(frozen=True, slots=True)
class Curve:
    """A precision/recall curve, one point for each distinct confidence, surest first; arrays of shape (T,)."""

    confidences: NDArray[np.float64]
    recalls: NDArray[np.float64]
    precisions: NDArray[np.float64]


def precision_recall(confidences: NDArray[np.float64], weights: NDArray[np.float64], truths: float) -> Curve:
    """Return precision and recall at every threshold.

    Parameters
    ----------
    confidences : float64 array of shape (N,), any order
    weights : float64 array of shape (N,)
        What an entry adds to the true positives: 1 for a hit, the group-of weight for a group found, 0 for a false
        positive. Only entries of weight 0 are false positives.
    truths : float
        Weight of all objects, found or not; above 0.

    Notes
    -----
    All entries of one confidence enter together, so the curve does not depend on the order of equals. (The official
    code lets an unstable sort decide.)

    Examples
    --------
    >>> precision_recall(np.array([0.9, 0.5, 0.5]), np.array([1.0, 0.0, 1.0]), 2).recalls
    array([0.5, 1. ])
    """
    order = np.argsort(-confidences, kind="stable")
    confidences, weights = confidences[order], weights[order]
    # Counts are exact. Adding a fraction again and again depends on the order of rows and can exceed the truths.
    parts = [weight * np.cumsum(weights == weight) for weight in np.unique(weights[weights > 0])]
    true, false = np.sum(parts, axis=0) if parts else np.zeros(len(weights)), np.cumsum(weights <= 0)
    last = np.r_[confidences[1:] != confidences[:-1], True][: len(confidences)]
    true, false = true[last], false[last]
    return Curve(confidences[last], true / truths, true / (true + false))


def average_precision(confidences: NDArray[np.float64], weights: NDArray[np.float64], truths: float) -> float:
    """Return the area under the interpolated precision/recall curve.

    Parameters
    ----------
    confidences, weights, truths
        As for :func:`precision_recall`.

    Returns
    -------
    float in [0, 1]; 0 without entries; NaN where ``truths`` is 0 (undefined, not zero).

    Notes
    -----
    Precision is made non-increasing from the right; every point counts, as in PASCAL VOC since 2010. Not the 11
    points of VOC 2007, not the 101 points of COCO.

    Examples
    --------
    >>> average_precision(np.array([0.9, 0.8, 0.7]), np.array([1.0, 0.0, 1.0]), 2)
    0.8333333333333333
    >>> average_precision(np.array([]), np.array([]), 0)
    nan
    """
    if truths <= 0:
        return float("nan")
    if len(confidences) == 0:
        return 0.0
    curve = precision_recall(confidences, weights, truths)
    envelope = np.maximum.accumulate(curve.precisions[::-1])[::-1]
    steps = np.diff(curve.recalls, prepend=0.0)
    # Added one after another, surest first: an order that any implementation can repeat to the last bit.
    return float(np.cumsum(steps * envelope)[-1])


def stepwise_average_precision(confidences: NDArray[np.float64], weights: NDArray[np.float64], truths: float) -> float:
    """Return the area under the precision/recall curve as it is: a step at each threshold, no envelope.

    Parameters
    ----------
    confidences, weights, truths
        As for :func:`precision_recall`.

    Returns
    -------
    float in [0, 1]; 0 without entries; NaN where ``truths`` is 0.

    Notes
    -----
    What image-level classification uses; not the interpolated area of detection. Source: Open Images V4, 5.1.

    Examples
    --------
    >>> stepwise_average_precision(np.array([0.9, 0.8, 0.7]), np.array([0.0, 1.0, 1.0]), 2)
    0.5833333333333333
    """
    if truths <= 0:
        return float("nan")
    if len(confidences) == 0:
        return 0.0
    curve = precision_recall(confidences, weights, truths)
    return float(np.cumsum(np.diff(curve.recalls, prepend=0.0) * curve.precisions)[-1])


def average_precisions(
    curves: NDArray[np.int64],
    confidences: NDArray[np.float64],
    weights: NDArray[np.float64],
    truths: NDArray[np.float64],
    area: Area = average_precision,
) -> NDArray[np.float64]:
    """Return the area under each of C curves, NaN where it is undefined.

    Parameters
    ----------
    curves : int64 array of shape (N,)
        Curve of each entry; entries of a curve from C are left out.
    confidences, weights : float64 arrays of shape (N,)
        As for :func:`precision_recall`.
    truths : float64 array of shape (C,)
    area : callable
        :func:`average_precision` or :func:`stepwise_average_precision`.

    Examples
    --------
    >>> average_precisions(np.array([1, 1]), np.array([0.9, 0.8]), np.array([0.0, 1.0]), np.array([3.0, 1.0]))
    array([0. , 0.5])
    """
    return np.array(
        [
            area(confidences[members], weights[members], total)
            for members, total in zip(members_of(curves, len(truths)), truths.tolist(), strict=True)
        ],
        np.float64,
    )


def members_of(groups: NDArray[np.int64], count: int) -> Iterator[NDArray[np.int64]]:
    """Yield which elements belong to each of ``count`` groups, in order.

    >>> list(members_of(np.array([1, 0, 1]), 2))
    [array([1]), array([0, 2])]
    """
    order = np.argsort(groups, kind="stable")
    ends = np.searchsorted(groups[order], np.arange(count + 1))
    return (order[start:end] for start, end in pairwise(ends.tolist()))


def mean_defined(values: NDArray[np.float64]) -> float:
    """Return the mean of the values that are defined; NaN where none is.

    >>> mean_defined(np.array([0.5, np.nan, 1.0]))
    0.75
    """
    defined = values[~np.isnan(values)]
    return float(np.mean(defined)) if len(defined) else float("nan")
