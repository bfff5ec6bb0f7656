"""Who hits what by FiftyOne's rules: predictions take their turn, and what is taken changes what is left.

The readable twin of :mod:`evaluator.kernels.turns`, which scoring takes.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

DIGITS = 10
NEARLY_ONE = 1 - 1e-10


def rounded(overlaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return overlaps rounded half up to ten decimals: what should be a half is one, whatever its last bits.

    >>> rounded(np.array([0.49999999999]))
    array([0.5])
    """
    return np.floor(overlaps * 10.0**DIGITS + 0.5) / 10.0**DIGITS


def taken_in_turn(
    suitors: NDArray[np.int64],
    objects: NDArray[np.int64],
    overlaps: NDArray[np.float64],
    is_group: NDArray[np.bool_],
    *,
    count: int,
    threshold: float,
) -> NDArray[np.int64]:
    """Return which object each prediction takes.

    Parameters
    ----------
    suitors : int64 array of shape (P,)
        Predictions of the pairs, the pairs of one together, in the order of their turns.
    objects : int64 array of shape (P,)
        What a prediction overlaps: ordinary objects in file order, then groups.
    overlaps : float64 array of shape (P,)
        :func:`rounded`; pairs below the threshold may be left out, they change nothing.
    is_group : bool array of shape (objects,)
        A group may be taken any number of times, an ordinary object once.
    count : int
        Number of predictions.
    threshold : float
        At least so much overlap is needed.

    Returns
    -------
    int64 array of shape (count,), -1 where a prediction takes nothing

    Notes
    -----
    The walk of one prediction: the object of highest overlap that is free, of equals the last; but nothing where an
    ordinary object that somebody has taken overlaps more. An ordinary object goes before any group. Source: FiftyOne
    1.22.1, ``evaluate_detections(method="open-images")``.

    Examples
    --------
    The second prediction may not fall back on its second best object.

    >>> overlaps = np.array([0.9, 0.8, 0.7])
    >>> ordinary = np.zeros(2, bool)
    >>> taken_in_turn(np.array([0, 1, 1]), np.array([0, 0, 1]), overlaps, ordinary, count=2, threshold=0.5)
    array([ 0, -1])
    """
    taken = np.full(count, -1, np.int64)
    free = np.ones(len(is_group), bool)
    bounds = np.append(np.flatnonzero(np.diff(suitors, prepend=-1)), len(suitors))
    for begin, end in pairwise(bounds.tolist()):
        mine = _walk(objects[begin:end], overlaps[begin:end], free, is_group, min(threshold, NEARLY_ONE))
        taken[suitors[begin]] = mine
        if mine >= 0:
            free[mine] = is_group[mine]
    return taken


def _walk(
    objects: NDArray[np.int64],
    overlaps: NDArray[np.float64],
    free: NDArray[np.bool_],
    is_group: NDArray[np.bool_],
    threshold: float,
) -> int:
    """Walk the objects of one prediction and return the one it takes, -1 for none."""
    best, best_overlap, lost = -1, threshold, threshold
    for mine, overlap in zip(objects.tolist(), overlaps.tolist(), strict=True):
        if not free[mine]:
            if overlap > lost:
                lost = overlap
                if overlap > best_overlap:
                    best, best_overlap = -1, threshold
            continue
        on_group = is_group[mine]
        if best_overlap == 1 or (on_group and best >= 0 and not is_group[best]):
            break
        if overlap >= best_overlap:
            best, best_overlap = mine, overlap
    return -1 if best >= 0 and not is_group[best] and lost > best_overlap else best
