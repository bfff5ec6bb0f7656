"""Matches predictions with objects, one prediction after another, by the rules of FiftyOne.

Scoring uses :mod:`evaluator.kernels.detection.fiftyone`; this module is the reference implementation.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

DIGITS = 10
NEARLY_ONE = 1 - 1e-10


def rounded(overlaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return overlaps rounded half up to ten decimal places, so that rounding errors do not matter near a threshold.

    >>> rounded(np.array([0.49999999999]))
    array([0.5])
    """
    return np.floor(overlaps * 10.0**DIGITS + 0.5) / 10.0**DIGITS


def matched_in_turn(
    predictions: NDArray[np.int64],
    objects: NDArray[np.int64],
    overlaps: NDArray[np.float64],
    is_group: NDArray[np.bool_],
    *,
    count: int,
    threshold: float,
) -> NDArray[np.int64]:
    """Return the object that each prediction matches, given P pairs of a prediction and an object that it overlaps.

    Parameters
    ----------
    predictions : int64 array of shape (P,)
        Index of the prediction in each pair. The pairs of one prediction are adjacent. Predictions are matched in this
        order.
    objects : int64 array of shape (P,)
        Index of the object in each pair. For each prediction, the ordinary objects come first, in file order, followed
        by the group-of boxes.
    overlaps : float64 array of shape (P,)
        Overlap of each pair, rounded by :func:`rounded`. Pairs below the threshold do not change the result and may be
        left out.
    is_group : bool array of shape (objects,)
        Whether each object is a group-of box, which can be matched any number of times. An ordinary object can be
        matched only once.
    count : int
        Number of predictions.
    threshold : float
        Smallest overlap of a match.

    Returns
    -------
    int64 array of shape (count,), -1 for a prediction without a match

    Notes
    -----
    A prediction is matched with the available object that it overlaps most. In a tie, it is matched with the last of
    the tied objects, or with the first if their overlap is 1. If an ordinary object that is already matched overlaps
    the prediction even more, the prediction is matched with no ordinary object. Ordinary objects take precedence over
    group-of boxes. Source: FiftyOne 1.22.1, ``evaluate_detections(method="open-images")``.

    Examples
    --------
    The object that the second prediction overlaps most is already matched, so this prediction has no match.

    >>> overlaps = np.array([0.9, 0.8, 0.7])
    >>> ordinary = np.zeros(2, bool)
    >>> matched_in_turn(np.array([0, 1, 1]), np.array([0, 0, 1]), overlaps, ordinary, count=2, threshold=0.5)
    array([ 0, -1])
    """
    taken = np.full(count, -1, np.int64)
    available = np.ones(len(is_group), bool)
    bounds = np.append(np.flatnonzero(np.diff(predictions, prepend=-1)), len(predictions))
    for begin, end in pairwise(bounds.tolist()):
        chosen = _chosen(objects[begin:end], overlaps[begin:end], available, is_group, min(threshold, NEARLY_ONE))
        taken[predictions[begin]] = chosen
        if chosen >= 0:
            available[chosen] = is_group[chosen]
    return taken


def _chosen(
    objects: NDArray[np.int64],
    overlaps: NDArray[np.float64],
    available: NDArray[np.bool_],
    is_group: NDArray[np.bool_],
    threshold: float,
) -> int:
    """Return the object that one prediction matches, or -1 if it has no match."""
    best, best_overlap, highest_taken = -1, threshold, threshold
    for candidate, overlap in zip(objects.tolist(), overlaps.tolist(), strict=True):
        if not available[candidate]:
            if overlap > highest_taken:
                highest_taken = overlap
                if overlap > best_overlap:
                    best, best_overlap = -1, threshold
            continue
        if best_overlap == 1 or (is_group[candidate] and best >= 0 and not is_group[best]):
            break
        if overlap >= best_overlap:
            best, best_overlap = candidate, overlap
    return -1 if best >= 0 and not is_group[best] and highest_taken > best_overlap else best
