"""Reduces precision/recall curves to fewer points."""

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import Curve

MAX_POINTS = 500


def simplified(curve: Curve, max_points: int = MAX_POINTS) -> Curve:
    """Return a curve with only those points that its interpolated area depends on, in descending order of confidence.

    Parameters
    ----------
    curve : Curve
        One point for each threshold, at least one.
    max_points : int
        Approximate maximum number of points, at least 2.

    Returns
    -------
    Curve
        The first and the last point, and between them the corners of the interpolated curve: points whose precision no
        point of lower confidence exceeds. The points left out do not change the area. If there are more than
        ``max_points`` corners, only the corner next above each of ``max_points`` evenly spaced recalls remains. The
        area under them is smaller than the average precision by less than 1 / (``max_points`` − 1).

    Examples
    --------
    >>> from evaluator.metrics.average_precision import precision_recall
    >>> curve = precision_recall(np.array([0.9, 0.8, 0.7, 0.6]), np.array([1.0, 0.0, 1.0, 1.0]), 4)
    >>> simplified(curve).recalls
    array([0.25, 0.75])
    """
    envelope = np.maximum.accumulate(curve.precisions[::-1])[::-1]
    kept = np.flatnonzero(np.append(envelope[:-1] > envelope[1:], True))
    if len(kept) > max_points:
        recalls = curve.recalls[kept]
        kept = kept[np.unique(np.searchsorted(recalls, np.linspace(recalls[0], recalls[-1], max_points)))]
    kept = np.union1d(kept, [0, len(envelope) - 1])
    return Curve(curve.confidences[kept], curve.recalls[kept], curve.precisions[kept])


def precisions_at(recalls: NDArray[np.float64], curve: Curve) -> NDArray[np.float64]:
    """Return the interpolated precision of a curve at some recalls.

    Parameters
    ----------
    recalls : float64 array of shape (N,), in [0, 1]
    curve : Curve
        Any number of points.

    Returns
    -------
    float64 array of shape (N,)
        The highest precision of a threshold that reaches the recall, 0 if none does.

    Examples
    --------
    >>> from evaluator.metrics.average_precision import precision_recall
    >>> curve = precision_recall(np.array([0.9, 0.8, 0.7]), np.array([1.0, 0.0, 1.0]), 4)
    >>> precisions_at(np.array([0.0, 0.25, 0.4, 0.75]), curve).round(3)
    array([1.   , 1.   , 0.667, 0.   ])
    """
    envelope = np.append(np.maximum.accumulate(curve.precisions[::-1])[::-1], 0.0)
    return np.asarray(envelope[np.searchsorted(curve.recalls, recalls)])
