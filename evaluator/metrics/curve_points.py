"""Reduces precision/recall curves to fewer points."""

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import Curve

MAX_POINTS = 500


def simplified(curve: Curve, max_points: int = MAX_POINTS, *, interpolated: bool = True) -> Curve:
    """Return a curve with only the points that its area depends on, in order of descending confidence.

    Parameters
    ----------
    curve : Curve
        A curve with one point for each threshold, and at least one point.
    max_points : int
        Approximate maximum number of points, at least 2.
    interpolated : bool
        Whether the area is computed from the interpolated curve.

    Returns
    -------
    Curve
        The first and the last point, and between them the corners of the interpolated curve. A corner is a point whose
        precision is higher than at any lower confidence. Leaving out the other points does not change the area. If
        there are more than ``max_points`` corners, only the next corner above each of ``max_points`` evenly spaced
        recalls is kept. The area is then smaller than the average precision by less than 1 / (``max_points`` − 1).
        Without interpolation, the points at which recall rises are kept instead of the corners.

    Examples
    --------
    >>> from evaluator.metrics.average_precision import precision_recall
    >>> curve = precision_recall(np.array([0.9, 0.8, 0.7, 0.6]), np.array([1.0, 0.0, 1.0, 1.0]), 4)
    >>> simplified(curve).recalls
    array([0.25, 0.75])
    """
    is_kept = np.ones(len(curve.recalls), bool)
    if interpolated:
        envelope = np.maximum.accumulate(curve.precisions[::-1])[::-1]
        np.greater(envelope[:-1], envelope[1:], out=is_kept[:-1])
    else:
        is_kept[0] = curve.recalls[0] > 0
        np.greater(curve.recalls[1:], curve.recalls[:-1], out=is_kept[1:])
    (kept,) = is_kept.nonzero()
    if len(kept) > max_points:
        recalls = curve.recalls[kept]
        is_kept[:] = False
        is_kept[kept[recalls.searchsorted(np.linspace(recalls[0], recalls[-1], max_points))]] = True
    is_kept[0] = is_kept[-1] = True
    return Curve(curve.confidences[is_kept], curve.recalls[is_kept], curve.precisions[is_kept])


def precisions_at(recalls: NDArray[np.float64], curve: Curve, *, interpolated: bool = True) -> NDArray[np.float64]:
    """Return the precision of a curve at the given recalls.

    Parameters
    ----------
    recalls : float64 array of shape (N,), in [0, 1]
    curve : Curve
        A curve with any number of points.
    interpolated : bool

    Returns
    -------
    float64 array of shape (N,)
        The highest precision at any threshold that reaches the recall, 0 if no threshold does. Without interpolation,
        the precision at the highest of these thresholds.

    Examples
    --------
    >>> from evaluator.metrics.average_precision import precision_recall
    >>> curve = precision_recall(np.array([0.9, 0.8, 0.7]), np.array([1.0, 0.0, 1.0]), 4)
    >>> precisions_at(np.array([0.0, 0.25, 0.4, 0.75]), curve).round(3)
    array([1.   , 1.   , 0.667, 0.   ])
    """
    precisions = np.maximum.accumulate(curve.precisions[::-1])[::-1] if interpolated else curve.precisions
    return np.asarray(np.append(precisions, 0.0)[np.searchsorted(curve.recalls, recalls)])
