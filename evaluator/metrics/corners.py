"""A precision/recall curve with fewer points: those that its area is made of."""

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.average_precision import Curve

MOST = 500


def corners(curve: Curve, most: int = MOST) -> Curve:
    """Return the points of a curve that matter, surest first.

    Parameters
    ----------
    curve : Curve
        One point for each threshold, at least one.
    most : int
        About how many points may stay, from 2.

    Returns
    -------
    Curve
        The first and the last point, and between them the corners of the interpolated curve: points that no less sure
        one exceeds in precision. What is left out changes no area. Where more than ``most`` corners are there, those
        next above ``most`` even steps of recall stay; the area under them is smaller than the average precision by
        less than 1 / (``most`` − 1).

    Examples
    --------
    >>> from evaluator.metrics.average_precision import precision_recall
    >>> curve = precision_recall(np.array([0.9, 0.8, 0.7, 0.6]), np.array([1.0, 0.0, 1.0, 1.0]), 4)
    >>> corners(curve).recalls
    array([0.25, 0.75])
    """
    envelope = np.maximum.accumulate(curve.precisions[::-1])[::-1]
    kept = np.flatnonzero(np.append(envelope[:-1] > envelope[1:], True))
    if len(kept) > most:
        recalls = curve.recalls[kept]
        kept = kept[np.unique(np.searchsorted(recalls, np.linspace(recalls[0], recalls[-1], most)))]
    kept = np.union1d(kept, [0, len(envelope) - 1])
    return Curve(curve.confidences[kept], curve.recalls[kept], curve.precisions[kept])


def at_recalls(curve: Curve, recalls: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the interpolated precision at some recalls.

    Parameters
    ----------
    curve : Curve
        Of any number of points, surest first.
    recalls : float64 array of shape (N,), in [0, 1]

    Returns
    -------
    float64 array of shape (N,)
        The highest precision of a threshold that reaches the recall, 0 where none does.

    Examples
    --------
    >>> from evaluator.metrics.average_precision import precision_recall
    >>> curve = precision_recall(np.array([0.9, 0.8, 0.7]), np.array([1.0, 0.0, 1.0]), 4)
    >>> at_recalls(curve, np.array([0.0, 0.25, 0.4, 0.75])).round(3)
    array([1.   , 1.   , 0.667, 0.   ])
    """
    envelope = np.append(np.maximum.accumulate(curve.precisions[::-1])[::-1], 0.0)
    return np.asarray(envelope[np.searchsorted(curve.recalls, recalls)])
