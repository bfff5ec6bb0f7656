"""Computes average precision, which is the area under a precision/recall curve."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Area = Callable[[NDArray[np.float64], NDArray[np.float64], float], float]


@dataclass(frozen=True, slots=True)
class Curve:
    """A precision/recall curve with a point for each distinct confidence, in descending order; arrays of shape (T,)."""

    confidences: NDArray[np.float64]
    recalls: NDArray[np.float64]
    precisions: NDArray[np.float64]


def precision_recall(confidences: NDArray[np.float64], weights: NDArray[np.float64], positives: float) -> Curve:
    """Return precision and recall at every confidence threshold.

    Parameters
    ----------
    confidences : float64 array of shape (N,), any order
    weights : float64 array of shape (N,)
        The amount that each entry (usually a prediction) adds to the number of true positives: 1 for a hit, the
        group-of weight for a matched group-of box, 0 for a false positive. Only entries with weight 0 are false
        positives.
    positives : float
        Sum of the weights of all objects, matched or not; above 0.

    Notes
    -----
    All entries with the same confidence form one point, so the curve does not depend on their order. In the official
    Open Images code, the curve depends on an unstable sort.

    Examples
    --------
    >>> precision_recall(np.array([0.9, 0.5, 0.5]), np.array([1.0, 0.0, 1.0]), 2).recalls
    array([0.5, 1. ])
    """
    order = np.argsort(-confidences, kind="stable")
    confidences, weights = confidences[order], weights[order]
    # The entries of each weight are counted, because counts are exact. Cumulative sums of fractional weights would
    # depend on the order of the entries and could exceed ``positives``.
    by_weight = [weight * np.cumsum(weights == weight) for weight in np.unique(weights[weights > 0])]
    true, false = np.sum(by_weight, axis=0) if by_weight else np.zeros(len(weights)), np.cumsum(weights <= 0)
    last = np.r_[confidences[1:] != confidences[:-1], True][: len(confidences)]
    true, false = true[last], false[last]
    # Adding zero turns -0.0 into 0.0. Otherwise, a report could depend on the order of the entries.
    return Curve(confidences[last] + 0.0, true / positives, true / (true + false))


def average_precision(confidences: NDArray[np.float64], weights: NDArray[np.float64], positives: float) -> float:
    """Return the area under the interpolated precision/recall curve.

    Parameters
    ----------
    confidences, weights, positives
        As in :func:`precision_recall`.

    Returns
    -------
    float in [0, 1]; 0 without entries; NaN without positives (undefined, not zero).

    Notes
    -----
    Each precision is replaced by the highest precision at the same or a higher recall. Every point is used, as in
    PASCAL VOC since 2010. The 11 points of VOC 2007 and the 101 points of COCO are not used.

    Examples
    --------
    >>> average_precision(np.array([0.9, 0.8, 0.7]), np.array([1.0, 0.0, 1.0]), 2)
    0.8333333333333333
    >>> average_precision(np.array([]), np.array([]), 0)
    nan
    """
    if positives <= 0:
        return float("nan")
    if len(confidences) == 0:
        return 0.0
    return area_under(precision_recall(confidences, weights, positives))


def area_under(curve: Curve) -> float:
    """Return the area under an interpolated precision/recall curve; 0 if it has no points.

    >>> area_under(Curve(np.array([0.9, 0.8]), np.array([0.5, 1.0]), np.array([0.5, 0.6])))
    0.6
    """
    if not len(curve.recalls):
        return 0.0
    envelope = np.maximum.accumulate(curve.precisions[::-1])[::-1]
    widths = np.diff(curve.recalls, prepend=0.0)
    # The areas are added one by one in order of descending confidence, as in the kernels, so that results are
    # bit-identical.
    return float(np.cumsum(widths * envelope)[-1])


def stepwise_average_precision(
    confidences: NDArray[np.float64], weights: NDArray[np.float64], positives: float
) -> float:
    """Return the area under the precision/recall curve without interpolation: one step at each threshold.

    Parameters
    ----------
    confidences, weights, positives
        As in :func:`precision_recall`.

    Returns
    -------
    float in [0, 1]; 0 without entries; NaN without positives.

    Notes
    -----
    Image-level classification uses this metric; detection uses the interpolated area. Source: Open Images V4, 5.1.

    Examples
    --------
    >>> stepwise_average_precision(np.array([0.9, 0.8, 0.7]), np.array([0.0, 1.0, 1.0]), 2)
    0.5833333333333333
    """
    if positives <= 0:
        return float("nan")
    if len(confidences) == 0:
        return 0.0
    curve = precision_recall(confidences, weights, positives)
    return float(np.cumsum(np.diff(curve.recalls, prepend=0.0) * curve.precisions)[-1])


def average_precisions(
    curves: NDArray[np.integer[Any]],
    confidences: NDArray[np.float64],
    weights: NDArray[np.float64],
    positives: NDArray[np.float64],
    area: Area = average_precision,
) -> NDArray[np.float64]:
    """Return the area under each of C curves, NaN where it is undefined.

    Parameters
    ----------
    curves : int array of shape (N,)
        Index of the curve to which each entry (usually a prediction) belongs. Only entries of the first C curves are
        used.
    confidences, weights : float64 arrays of shape (N,)
        As in :func:`precision_recall`.
    positives : float64 array of shape (C,)
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
            for members, total in zip(indices_by_group(curves, len(positives)), positives.tolist(), strict=True)
        ],
        np.float64,
    )


def reported_average_precisions(
    curves: NDArray[np.integer[Any]],
    confidences: NDArray[np.float64],
    weights: NDArray[np.float64],
    positives: NDArray[np.float64],
    count: int,
) -> NDArray[np.float64]:
    """Return the area under each of the first C of ``count`` curves, NaN where it is undefined.

    The areas under the remaining curves, and under curves without positives, are computed and discarded. Otherwise, the
    scoring time would reveal which classes have positives, and which entries are not scored.

    Parameters
    ----------
    curves, confidences, weights, positives
        As in :func:`average_precisions`.
    count : int
        Total number of curves, at least C.

    Examples
    --------
    >>> reported_average_precisions(np.array([1, 2]), np.array([0.9, 0.8]), np.ones(2), np.array([0.0, 1.0]), 3)
    array([nan,  1.])
    """
    totals = np.ones(count)
    totals[: len(positives)][positives > 0] = positives[positives > 0]
    areas = average_precisions(curves, confidences, weights, totals)[: len(positives)]
    return np.where(positives > 0, areas, np.nan)


def indices_by_group(groups: NDArray[np.integer[Any]], count: int) -> Iterator[NDArray[np.int64]]:
    """Yield, for each of ``count`` groups, the ascending indices of its elements.

    >>> list(indices_by_group(np.array([1, 0, 1]), 2))
    [array([1]), array([0, 2])]
    """
    order = np.argsort(groups, kind="stable")
    ends = np.searchsorted(groups[order], np.arange(count + 1))
    return (order[start:end] for start, end in pairwise(ends.tolist()))


def mean_defined(values: NDArray[np.float64]) -> float:
    """Return the mean of the values that are not NaN, or NaN if there are none.

    >>> mean_defined(np.array([0.5, np.nan, 1.0]))
    0.75
    """
    defined = values[~np.isnan(values)]
    return float(np.mean(defined)) if len(defined) else float("nan")
