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
TieBreaks = Callable[[Indices], tuple[NDArray[np.float64], Sequence[NDArray[np.generic]]]]


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
        sizes, firsts = np.diff(starts, append=len(predictions)), predictions[starts]
        has_object = object_keys[objects[starts]] == keys[firsts]
        for (best_of_kind, highest_of_kind), found in zip(best, overlaps(predictions, objects), strict=True):
            highest = np.maximum.reduceat(found, starts)
            candidates = np.where(found == np.repeat(highest, sizes), objects, len(object_keys))
            best_of_kind[firsts] = np.where(has_object, np.minimum.reduceat(candidates, starts), -1)
            highest_of_kind[firsts] = np.where(has_object, highest, 0.0)
    return best


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


def pairs(keys: Keys, object_keys: Keys) -> Iterator[tuple[Indices, Indices]]:
    """Yield all pairs of a prediction and an object with the same key, in batches of limited size.

    A key encodes, for example, an image and a class. If no object has the key of a prediction, the prediction is paired
    with the first of all objects. Without this pair, the number of pairs would reveal which keys the objects have.

    Parameters
    ----------
    keys, object_keys
        As in :func:`best_objects`.

    Yields
    ------
    predictions, objects : int64 arrays of shape (P,), P > 0
        Indices of the predictions and of the objects of the pairs. Predictions are in ascending order, and so are the
        objects of each prediction.

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
            offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            predictions = np.repeat(np.arange(begin + start, begin + stop), sizes)
            yield predictions, np.repeat(first[start:stop], sizes) + offsets
            start = stop


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


def most_confident(limit: int, keys: Keys, confidences: NDArray[np.float64], tie_breaks: TieBreaks) -> Indices:
    """Return, in ascending order, the indices of the first ``limit`` predictions with each key.

    A key encodes an image and a class. Predictions with equal keys are ordered by the precedence that
    :func:`winning_claims` describes.

    Parameters
    ----------
    limit : int
    keys : int64 array of shape (N,)
    confidences : float64 array of shape (N,)
    tie_breaks : callable
        Takes the indices, shape (T,), of predictions with equal confidences if only some of them are within the limit.
        Returns their overlaps and their coordinates, by which :func:`winning_claims` breaks ties. The function is
        called only if there are such predictions, because overlaps are expensive to compute.

    Examples
    --------
    >>> most_confident(1, np.array([3, 3, 5]), np.array([0.2, 0.9, 0.2]), lambda tied: (np.zeros(len(tied)), []))
    array([1, 2])
    """
    order = np.lexsort((-confidences, keys))
    # ``last`` contains, for each key with at least ``limit`` predictions, the index of the last prediction within the
    # limit.
    last = order[positions_in_groups(keys[order]) == limit - 1]
    if not len(last):
        return np.arange(len(keys))
    of_key = np.minimum(np.searchsorted(keys[last], keys), len(last) - 1)
    reaches_limit = keys[last][of_key] == keys
    level = reaches_limit & (confidences == confidences[last][of_key])
    above = reaches_limit & (confidences > confidences[last][of_key])
    room = limit - np.bincount(of_key[above], minlength=len(last))
    tied = np.flatnonzero(level & (np.bincount(of_key[level], minlength=len(last)) > room)[of_key])
    kept = ~reaches_limit | above | level
    if len(tied):
        tied = tied[np.argsort(keys[tied], kind="stable")]
        overlaps, coordinates = tie_breaks(tied)
        # Predictions with equal confidences are all sorted by coordinates, even if their overlaps alone determine which
        # of them are kept. Otherwise, the scoring time would reveal overlaps with the ground truth.
        by_coordinates = np.lexsort((*reversed(coordinates), keys[tied]))
        tied, overlaps = tied[by_coordinates], overlaps[by_coordinates]
        starts = np.flatnonzero(positions_in_groups(keys[tied]) == 0)
        for of_one_key, its_overlaps in zip(np.split(tied, starts[1:]), np.split(overlaps, starts[1:]), strict=True):
            kept[of_one_key] = _are_highest(int(room[of_key[of_one_key[0]]]), its_overlaps)
    return np.flatnonzero(kept)


def _are_highest(count: int, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a Boolean mask that selects the ``count`` highest values. In a tie, the first values are chosen.

    There must be more than ``count`` values.
    """
    lowest = np.partition(values, len(values) - count)[len(values) - count]
    chosen = np.asarray(values > lowest)
    chosen[np.flatnonzero(values == lowest)[: count - np.count_nonzero(chosen)]] = True
    return chosen


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
