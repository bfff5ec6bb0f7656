"""Who hits what: each prediction looks at its best object only, each object takes its best suitor only."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.boxes import highest_iou

PAIRS_AT_ONCE = 2**14  # little beside what a file takes, so that peak memory does not depend on the truth

Keys = NDArray[np.int64]
PairOverlap = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]
Rivalry = Callable[[NDArray[np.int64]], tuple[NDArray[np.float64], Sequence[NDArray[np.generic]]]]


def best_objects(keys: Keys, object_keys: Keys, overlap: PairOverlap) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return for each prediction the object of its own key that it overlaps most, and how much.

    Parameters
    ----------
    keys : int64 array of shape (N,)
        What a prediction must share with an object to be compared: image and class.
    object_keys : int64 array of shape (M,), ascending
        Equal keys stand in file order.
    overlap : callable
        Takes indices of predictions and of objects, both of shape (P,), and returns their overlaps, shape (P,).

    Returns
    -------
    best : int64 array of shape (N,), index into the objects, -1 where there is none of that key
    most : float64 array of shape (N,), 0 where there is none

    Notes
    -----
    Of objects that are overlapped equally the first counts. Pairs are made in portions of bounded size. A prediction
    that has no object of its key is compared as well, and the answer dropped, so that it takes as long as one that has.

    Examples
    --------
    >>> best_objects(np.array([7, 8]), np.array([7, 7]), lambda ours, theirs: np.array([0.2, 0.6])[theirs])
    (array([ 1, -1]), array([0.6, 0. ]))
    """
    best, most = np.full(len(keys), -1, np.int64), np.zeros(len(keys))
    for ours, theirs in pairs(keys, object_keys):
        found = overlap(ours, theirs)
        begins = np.flatnonzero(np.r_[True, ours[1:] != ours[:-1]])
        highest = np.maximum.reduceat(found, begins)
        sizes = np.diff(begins, append=len(ours))
        is_highest = np.where(found == np.repeat(highest, sizes), theirs, len(object_keys))
        has_object = object_keys[theirs[begins]] == keys[ours[begins]]
        best[ours[begins]] = np.where(has_object, np.minimum.reduceat(is_highest, begins), -1)
        most[ours[begins]] = np.where(has_object, highest, 0.0)
    return best, most


def highest_overlaps(
    keys: Keys, boxes: NDArray[np.float64], object_keys: Keys, objects: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how much each prediction overlaps the object of its own key that it overlaps most, as IoU, shape (N,).

    Parameters
    ----------
    keys : int64 array of shape (N,), equal ones together
    boxes : float64 array of shape (N, 4)
    object_keys : int64 array of shape (M,), ascending
    objects : float64 array of shape (M, 4)

    Examples
    --------
    >>> highest_overlaps(np.array([7]), np.array([[0.0, 1, 0, 1]]), np.array([7, 8]), np.array([[0.0, 1, 0, 1]] * 2))
    array([1.])
    """
    overlaps = np.zeros(len(keys))
    begins = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]][: len(keys)])
    for first, stop in zip(begins.tolist(), [*begins[1:].tolist(), len(keys)], strict=True):
        its = slice(*np.searchsorted(object_keys, [keys[first], keys[first] + 1]).tolist())
        overlaps[first:stop] = highest_iou(boxes[first:stop], objects[its])
    return overlaps


def pairs(keys: Keys, object_keys: Keys) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield predictions and objects of equal keys, pair by pair, in portions of bounded size.

    A prediction of a key that no object has is paired with the first object of all.

    Parameters
    ----------
    keys, object_keys
        As for :func:`best_objects`.

    Yields
    ------
    ours, theirs : int64 arrays of shape (P,), P > 0
        Indices; predictions in order, the pairs of one together, its objects in order.

    Examples
    --------
    >>> list(pairs(np.array([7, 8]), np.array([7, 7])))
    [(array([0, 0, 1]), array([0, 1, 0]))]
    """
    if not len(object_keys):
        return
    for begin in range(0, len(keys), PAIRS_AT_ONCE):
        part = keys[begin : begin + PAIRS_AT_ONCE]
        first = np.searchsorted(object_keys, part, side="left")
        counts = np.searchsorted(object_keys, part, side="right") - first
        first[counts == 0], counts = 0, np.maximum(counts, 1)
        ends = np.cumsum(counts)
        start = 0
        while start < len(part):
            done = int(ends[start - 1]) if start else 0
            stop = max(int(np.searchsorted(ends, done + PAIRS_AT_ONCE, side="right")), start + 1)
            sizes = counts[start:stop]
            begins = np.cumsum(sizes) - sizes
            place = np.arange(int(sizes.sum())) - np.repeat(begins, sizes)
            yield np.repeat(np.arange(begin + start, begin + stop), sizes), np.repeat(first[start:stop], sizes) + place
            start = stop


def takers(
    targets: NDArray[np.int64],
    confidences: NDArray[np.float64],
    overlaps: NDArray[np.float64],
    corners: Sequence[NDArray[np.generic]],
) -> NDArray[np.bool_]:
    """Tell which predictions get the object they point at: of each object's suitors the first in order.

    Parameters
    ----------
    targets : int64 array of shape (N,)
        Object a prediction points at; negative where it points at none.
    confidences, overlaps : float64 arrays of shape (N,)
    corners : arrays of shape (N,)
        What decides last, ascending: the prediction's coordinates, the weightiest first.

    Returns
    -------
    bool array of shape (N,)

    Notes
    -----
    The order: confidence, then overlap, both descending, then the coordinates ascending; of equals the first. Since a
    prediction may only take its best object, this equals walking through them by confidence, as the official code does.
    Predictions that point at none compete for nothing, so that they take as long.

    Examples
    --------
    >>> takers(np.array([0, 0, -1]), np.array([0.4, 0.9, 1.0]), np.array([0.9, 0.6, 0.0]), [])
    array([False,  True, False])
    """
    taken = np.zeros(len(targets), bool)
    places = np.where(targets >= 0, targets, targets.max(initial=-1) + 1)
    suitors = np.arange(len(targets))
    for values in (-confidences, -overlaps, *corners, suitors):
        its, ours = places[suitors], values[suitors]
        least = np.full(int(places.max(initial=-1)) + 1, ours.max(initial=0), values.dtype)
        np.minimum.at(least, its, ours)
        suitors = suitors[ours == least[its]]
    taken[suitors] = targets[suitors] >= 0
    return taken


def precedence(
    groups: NDArray[np.int64],
    confidences: NDArray[np.float64],
    overlaps: NDArray[np.float64],
    corners: Sequence[NDArray[np.generic]],
) -> NDArray[np.int64]:
    """Return the order of predictions inside their groups: surest, then best overlap, then smallest coordinates.

    Never depends on the order of the rows: only equal predictions are left undecided.

    >>> precedence(np.array([0, 0]), np.array([0.5, 0.5]), np.array([0.6, 0.9]), [])
    array([1, 0])
    """
    return np.asarray(np.lexsort((*reversed(corners), -overlaps, -confidences, groups)))


def surest(most: int, keys: Keys, confidences: NDArray[np.float64], rivalry: Rivalry) -> NDArray[np.int64]:
    """Return which predictions are among the ``most`` that come first in the order of their key, ascending.

    Parameters
    ----------
    most : int
    keys : int64 array of shape (N,)
    confidences : float64 array of shape (N,)
    rivalry : callable
        Takes the indices of predictions that are equally sure where a key must be cut, shape (R,), and returns what
        decides between them as in :func:`precedence`: their overlaps and their corners. Called only where it is needed,
        because overlaps are dear.

    Examples
    --------
    >>> surest(1, np.array([3, 3, 5]), np.array([0.2, 0.9, 0.2]), lambda rivals: (np.zeros(len(rivals)), []))
    array([1, 2])
    """
    order = np.lexsort((-confidences, keys))
    last = order[ranks_in_groups(keys[order]) == most - 1]  # in each key that has so many
    if not len(last):
        return np.arange(len(keys))
    of_key = np.minimum(np.searchsorted(keys[last], keys), len(last) - 1)
    is_full = keys[last][of_key] == keys
    level = is_full & (confidences == confidences[last][of_key])
    above = is_full & (confidences > confidences[last][of_key])
    room = most - np.bincount(of_key[above], minlength=len(last))
    rivals = np.flatnonzero(level & (np.bincount(of_key[level], minlength=len(last)) > room)[of_key])
    kept = ~is_full | above | level
    if len(rivals):
        rivals = rivals[np.argsort(keys[rivals], kind="stable")]
        overlaps, corners = rivalry(rivals)
        by_corners = np.lexsort((*reversed(corners), keys[rivals]))  # of all, whatever the overlaps leave to decide
        rivals, overlaps = rivals[by_corners], overlaps[by_corners]
        begins = np.flatnonzero(ranks_in_groups(keys[rivals]) == 0)
        for its, shares in zip(np.split(rivals, begins[1:]), np.split(overlaps, begins[1:]), strict=True):
            kept[its] = _highest(int(room[of_key[its[0]]]), shares)
    return np.flatnonzero(kept)


def _highest(most: int, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which are the ``most`` highest of more values; of equals the first."""
    least = np.partition(values, len(values) - most)[len(values) - most]
    chosen = np.asarray(values > least)
    chosen[np.flatnonzero(values == least)[: most - np.count_nonzero(chosen)]] = True
    return chosen


def ranks_in_groups(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each element's place in its run of equal values, from 0; ``groups`` must be sorted.

    >>> ranks_in_groups(np.array([3, 3, 5]))
    array([0, 1, 0])
    """
    return np.arange(len(groups)) - np.searchsorted(groups, groups, side="left")
