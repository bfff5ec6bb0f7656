"""Matches predictions with objects.

A prediction claims the object that it overlaps most. If several predictions claim an object, one of them wins.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.boxes import highest_iou

# Maximum number of pairs of a prediction and an object that are compared at a time. It is so small that peak memory
# does not depend on the ground truth.
PAIRS_AT_ONCE = 2**14

Keys = NDArray[np.int64]
Indices = NDArray[np.int64]
PairOverlap = Callable[[Indices, Indices], NDArray[np.float64]]


def best_objects(keys: Keys, object_keys: Keys, overlap: PairOverlap) -> tuple[Indices, NDArray[np.float64]]:
    """Return, for each prediction, the object with the same key that it overlaps most, and their overlap.

    Parameters
    ----------
    keys : int64 array of shape (N,)
        Image and class of each prediction as one number; predictions and objects with equal keys are compared.
    object_keys : int64 array of shape (M,), ascending
    overlap : callable
        Takes indices of predictions and of objects, both of shape (P,), and returns their overlaps, shape (P,).

    Returns
    -------
    best : int64 array of shape (N,)
        Index of the object, -1 if no object has this key.
    overlaps : float64 array of shape (N,)
        Overlap with that object, 0 if there is none.

    Notes
    -----
    Of several objects with equal overlaps, the first is returned. Pairs are compared in batches of limited size. If no
    object has the key of a prediction, the prediction is compared with an object that has a different key, and the
    result is discarded. Without this comparison, the scoring time would reveal which keys the objects have.

    Examples
    --------
    >>> best_objects(np.array([7, 8]), np.array([7, 7]), lambda predictions, objects: np.array([0.2, 0.6])[objects])
    (array([ 1, -1]), array([0.6, 0. ]))
    """
    return best_objects_of_each(keys, object_keys, 1, lambda predictions, objects: [overlap(predictions, objects)])[0]


def best_objects_of_each(
    keys: Keys, object_keys: Keys, count: int, overlaps: Callable[[Indices, Indices], Sequence[NDArray[np.float64]]]
) -> list[tuple[Indices, NDArray[np.float64]]]:
    """Return the result of :func:`best_objects` for each of several ways to measure overlap.

    ``overlaps`` takes indices of predictions and of objects. It returns ``count`` arrays of overlaps, one for each way.
    """
    best = [(np.full(len(keys), -1, np.int64), np.zeros(len(keys))) for _ in range(count)]
    for predictions, objects in pairs(keys, object_keys):
        starts = np.flatnonzero(np.r_[True, predictions[1:] != predictions[:-1]])
        firsts = predictions[starts]
        has_object = object_keys[objects[starts]] == keys[firsts]
        for (best_of_kind, highest_of_kind), found in zip(best, overlaps(predictions, objects), strict=True):
            best_of_kind[firsts], highest_of_kind[firsts] = _best_in(starts, objects, found, has_object)
    return best


def best_objects_of_kinds(
    keys: Keys, object_keys: Sequence[Keys], overlap: PairOverlap
) -> list[tuple[Indices, NDArray[np.float64]]]:
    """Return the result of :func:`best_objects` for each of several kinds of objects, such as ordinary objects, groups.

    ``object_keys`` has an array for each kind. ``overlap`` takes pairs with objects of all kinds, because comparing a
    prediction with all of them at once is faster. The objects of each kind follow those of the kinds before.
    """
    best = [(np.full(len(keys), -1, np.int64), np.zeros(len(keys))) for _ in object_keys]
    for predictions, objects in pairs(keys, *object_keys):
        found, start = overlap(predictions, objects), 0
        for (best_of_kind, highest_of_kind), keys_of_kind in zip(best, object_keys, strict=True):
            chosen = np.flatnonzero((objects >= start) & (objects < start + len(keys_of_kind)))
            mine, theirs = predictions[chosen], objects[chosen] - start
            start += len(keys_of_kind)
            starts = np.flatnonzero(np.r_[True, mine[1:] != mine[:-1]][: len(mine)])
            firsts = mine[starts]
            has_object = keys_of_kind[theirs[starts]] == keys[firsts]
            best_of_kind[firsts], highest_of_kind[firsts] = _best_in(starts, theirs, found[chosen], has_object)
    return best


def _best_in(
    starts: Indices, objects: Indices, overlaps: NDArray[np.float64], has_object: NDArray[np.bool_]
) -> tuple[Indices, NDArray[np.float64]]:
    """Return the object with the highest overlap and this overlap for each prediction; -1 and 0 without an object.

    The pairs of a prediction begin at ``starts``, and ``has_object`` is whether they have its key.
    """
    highest = np.maximum.reduceat(overlaps, starts)
    is_highest = overlaps == np.repeat(highest, np.diff(starts, append=len(objects)))
    candidates = np.where(is_highest, objects, np.iinfo(np.int64).max)
    return np.where(has_object, np.minimum.reduceat(candidates, starts), -1), np.where(has_object, highest, 0.0)


def highest_overlaps(
    keys: Keys, boxes: NDArray[np.float64], object_keys: Keys, objects: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the highest IoU of each prediction with any object that has the same key, shape (N,).

    A key encodes, for example, an image and a class.

    Parameters
    ----------
    keys : int64 array of shape (N,), equal keys adjacent
    boxes : float64 array of shape (N, 4)
    object_keys : int64 array of shape (M,), ascending
    objects : float64 array of shape (M, 4)

    Examples
    --------
    >>> highest_overlaps(np.array([7]), np.array([[0.0, 1, 0, 1]]), np.array([7, 8]), np.array([[0.0, 1, 0, 1]] * 2))
    array([1.])
    """
    overlaps = np.zeros(len(keys))
    starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]][: len(keys)])
    for start, stop in pairwise([*starts.tolist(), len(keys)]):
        same_key = slice(*np.searchsorted(object_keys, [keys[start], keys[start] + 1]).tolist())
        overlaps[start:stop] = highest_iou(boxes[start:stop], objects[same_key])
    return overlaps


def pairs(keys: Keys, *object_keys: Keys) -> Iterator[tuple[Indices, Indices]]:
    """Yield all pairs of a prediction and an object with the same key, in batches of limited size.

    A key encodes, for example, an image and a class. If no object has the key of a prediction, the prediction is paired
    with the first of all objects. Without this pair, the number of pairs would reveal which keys the objects have.

    Parameters
    ----------
    keys, object_keys
        As in :func:`best_objects`. If there are several kinds of objects, each kind has an array.

    Yields
    ------
    predictions, objects : int64 arrays of shape (P,), P > 0
        Indices of the predictions and of the objects of the pairs. Predictions are in ascending order, and so are the
        objects of each prediction. The objects of each kind follow those of the kinds before.

    Examples
    --------
    >>> list(pairs(np.array([7, 8]), np.array([7, 7])))
    [(array([0, 0, 1]), array([0, 1, 0]))]
    """
    kinds = [(each, sum(map(len, object_keys[:kind]))) for kind, each in enumerate(object_keys) if len(each)]
    if not kinds:
        return
    for begin in range(0, len(keys), PAIRS_AT_ONCE):
        part = keys[begin : begin + PAIRS_AT_ONCE]
        first, counts = (np.stack(each, axis=1) for each in zip(*(_ranges(part, *kind) for kind in kinds), strict=True))
        ends = np.cumsum(counts.sum(axis=1))
        start = 0
        while start < len(part):
            done = int(ends[start - 1]) if start else 0
            stop = max(int(np.searchsorted(ends, done + PAIRS_AT_ONCE, side="right")), start + 1)
            sizes = counts[start:stop].ravel()
            offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            predictions = np.repeat(np.repeat(np.arange(begin + start, begin + stop), len(kinds)), sizes)
            yield predictions, np.repeat(first[start:stop].ravel(), sizes) + offsets
            start = stop


def _ranges(keys: Keys, object_keys: Keys, offset: int) -> tuple[Indices, Indices]:
    """Return the index of the first object with each key, plus ``offset``, and the number of these objects.

    If there is none, the first of all objects takes its place.
    """
    first = np.searchsorted(object_keys, keys, side="left")
    counts = np.searchsorted(object_keys, keys, side="right") - first
    first[counts == 0] = 0
    return first + offset, np.maximum(counts, 1)


def winning_claims(
    claimed: Indices,
    confidences: NDArray[np.float64],
    overlaps: NDArray[np.float64],
    coordinates: Sequence[NDArray[np.generic]],
) -> NDArray[np.bool_]:
    """Return whether each prediction wins the object that it claims. The first in order of precedence wins.

    Parameters
    ----------
    claimed : int64 array of shape (N,)
        Object that each prediction claims; negative if it claims none.
    confidences, overlaps : float64 arrays of shape (N,)
    coordinates : sequence of arrays of shape (N,)
        Numbers that break ties, such as the coordinates of the boxes, in the order in which they are compared.

    Returns
    -------
    bool array of shape (N,)

    Notes
    -----
    The order of precedence is: higher confidence, then higher overlap, then smaller coordinates, then smaller index. A
    prediction can win only its best object, so the result is the same as that of the official Open Images code, which
    processes the predictions in order of confidence. Predictions that claim no object compete for a dummy object.
    Otherwise, the scoring time would reveal how many predictions claim an object.

    Examples
    --------
    >>> winning_claims(np.array([0, 0, -1]), np.array([0.4, 0.9, 1.0]), np.array([0.9, 0.6, 0.0]), [])
    array([False,  True, False])
    """
    wins = np.zeros(len(claimed), bool)
    objects = np.where(claimed >= 0, claimed, claimed.max(initial=-1) + 1)
    candidates = np.arange(len(claimed))
    for values in (-confidences, -overlaps, *coordinates, candidates):
        targets, compared = objects[candidates], values[candidates]
        lowest = np.full(int(objects.max(initial=-1)) + 1, compared.max(initial=0), values.dtype)
        np.minimum.at(lowest, targets, compared)
        candidates = candidates[compared == lowest[targets]]
    wins[candidates] = claimed[candidates] >= 0
    return wins


def precedence_order(
    groups: NDArray[np.int64],
    confidences: NDArray[np.float64],
    overlaps: NDArray[np.float64],
    coordinates: Sequence[NDArray[np.generic]],
) -> Indices:
    """Return the indices of predictions sorted by group, and in each group by the precedence of :func:`winning_claims`.

    Identical predictions keep their order in the file.

    >>> precedence_order(np.array([0, 0]), np.array([0.5, 0.5]), np.array([0.6, 0.9]), [])
    array([1, 0])
    """
    return np.asarray(np.lexsort((*reversed(coordinates), -overlaps, -confidences, groups)))


def positions_in_groups(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position of each element, counted from 0, among elements of equal value. ``groups`` must be sorted.

    >>> positions_in_groups(np.array([3, 3, 5]))
    array([0, 1, 0])
    """
    return np.arange(len(groups)) - np.searchsorted(groups, groups, side="left")


def contains(sorted_keys: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each key is in ``sorted_keys``.

    >>> contains(np.array([2, 5]), np.array([5, 6]))
    array([ True, False])
    """
    if not len(sorted_keys):
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[at] == keys)
