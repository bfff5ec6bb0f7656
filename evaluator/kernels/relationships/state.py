"""What relationship kernels share: the truth they look at, the state they leave behind, and how one pair counts.

The twins are ``evaluator.tracks.relationships.scorer`` and ``evaluator.metrics``.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels.jit import frozen, kernel, outlined, part
from evaluator.kernels.overlap import is_before
from evaluator.kernels.reading import (
    BEYOND_ONE,
    DONE,
    ENTRIES,
    IGNORED,
    INVERTED,
    NEGATIVE,
    OUTSIDE,
    UNCLAIMED,
    UNKNOWN_LABELS,
)
from evaluator.kernels.text.lookup import INDEX, TextIndex

UNKNOWN_RELATIONS = 9  # in State.counts, after those of detections
COUNTS = 10
SUITOR = 10  # confidence, overlap, corners of both boxes
MOST_LEFT_OUT = 10_000
UNTOLD, KNOWN, ABSENT = 0, 1, 2


class RelationshipTruth(NamedTuple):
    """Triplets sorted by image, classes, relation and place in the file; all arrays are read-only.

    Attributes
    ----------
    images, labels, relations : TextIndex
    closed : bool array of shape (3,)
        Whether an unknown image, label, relation is a defect.
    usage : int8 array of shape (images,)
    told_from : int32 array of shape (images + 1,)
        Where the labels that are known of each image begin.
    told : int32 array
        2 × label + (1 where the image does not have it), ascending in each image.
    triplets_from : int32 array of shape (images + 1,)
    triplets : int64 array of shape (M,), ascending
        Keys: image, label, label and relation as one number.
    first, second : float32 arrays of shape (M, 4): XMin, XMax, YMin, YMax
    """

    images: TextIndex
    labels: TextIndex
    relations: TextIndex
    closed: NDArray[np.bool_]
    usage: NDArray[np.int8]
    told_from: NDArray[np.int32]
    told: NDArray[np.int32]
    triplets_from: NDArray[np.int32]
    triplets: NDArray[np.int64]
    first: NDArray[np.float32]
    second: NDArray[np.float32]


TRUTH = types.NamedTuple(
    (
        INDEX,
        INDEX,
        INDEX,
        frozen(types.boolean),
        frozen(types.int8),
        *(frozen(types.int32) for _ in range(3)),
        frozen(types.int64),
        frozen(types.float32, 2),
        frozen(types.float32, 2),
    ),
    RelationshipTruth,
)


class RelationshipState(NamedTuple):
    """What one thread has found; it owns the arrays and nobody else writes to them.

    Attributes
    ----------
    counts, named, rows, strangers
        As for :class:`evaluator.kernels.detection.state.DetectionState`.
    suitors : float64 array of shape (2 × M, 10)
        The best pair that points at each triplet, then at each phrase; confidence -1: nobody.
    takers : int64 array of shape (2 × M,)
        Which entry that is, -1: none.
    confidences, images, relations : float64, int32, int32 arrays of shape (capacity,)
        Every pair that counts, ``counts[ENTRIES]`` of them; an unknown relation has the code after the last. The code
        after that is for pairs that count for nothing. Those are left out only among the first 10,000 of an image, so
        that neither time nor memory tells what counts.
    """

    counts: NDArray[np.int64]
    named: NDArray[np.uint8]
    rows: NDArray[np.int32]
    strangers: NDArray[np.uint64]
    suitors: NDArray[np.float64]
    takers: NDArray[np.int64]
    confidences: NDArray[np.float64]
    images: NDArray[np.int32]
    relations: NDArray[np.int32]


STATE = types.NamedTuple(
    (
        types.int64[::1],
        types.uint8[::1],
        types.int32[::1],
        types.uint64[::1],
        types.float64[:, ::1],
        types.int64[::1],
        types.float64[::1],
        types.int32[::1],
        types.int32[::1],
    ),
    RelationshipState,
)


@part
def _single(corners, first):
    """Return four of the corners in single precision."""
    return (
        np.float32(corners[first]),
        np.float32(corners[first + 1]),
        np.float32(corners[first + 2]),
        np.float32(corners[first + 3]),
    )


@part
def _row(boxes, place):
    return boxes[place, 0], boxes[place, 1], boxes[place, 2], boxes[place, 3]


@part
def _around(one, two):
    """Return the smallest box around two."""
    return min(one[0], two[0]), max(one[1], two[1]), min(one[2], two[2]), max(one[3], two[3])


@part
def _overlap(ours, theirs):
    """Return the IoU of two float32 boxes; differences, areas and their sum are float32, the rest is float64."""
    width = min(ours[1], theirs[1]) - max(ours[0], theirs[0])
    height = min(ours[3], theirs[3]) - max(ours[2], theirs[2])
    if not (width > 0 and height > 0):
        return 0.0
    common = np.float64(height) * np.float64(width)
    area = (ours[3] - ours[2]) * (ours[1] - ours[0])
    its_area = (theirs[3] - theirs[2]) * (theirs[1] - theirs[0])
    share = common / (np.float64(area + its_area) - common)
    return share if share < np.inf else 0.0


@part
def _standing(truth, image, label):
    """Tell what is known of a label in an image: UNTOLD, KNOWN or ABSENT."""
    low, high = np.int64(truth.told_from[image]), np.int64(truth.told_from[image + 1])
    while low < high:
        middle = (low + high) >> 1
        told = np.int64(truth.told[middle])
        if told >> 1 == label:
            return KNOWN + (told & 1)
        if told >> 1 < label:
            low = middle + 1
        else:
            high = middle
    return UNTOLD


@part
def _counts(truth, image, one, two):
    """Tell whether a pair of these labels counts: both are known in the image, or at least one is absent there."""
    if one < 0 or two < 0:
        return False
    first, second = _standing(truth, image, one), _standing(truth, image, two)
    return (first != UNTOLD and second != UNTOLD) or first == ABSENT or second == ABSENT


@part
def _first_of(truth, image, key):
    """Return the first triplet of an image with this key or a larger one."""
    low, high = np.int64(truth.triplets_from[image]), np.int64(truth.triplets_from[image + 1])
    while low < high:
        middle = (low + high) >> 1
        if truth.triplets[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@part
def court(state, place, entry, confidence, overlap, corners):
    """Let a pair point at a triplet or phrase; whoever comes first in order takes it."""
    suitor = state.suitors[place]
    if is_before(confidence, overlap, corners, suitor):
        suitor[0], suitor[1] = confidence, overlap
        for corner in range(len(corners)):
            suitor[2 + corner] = corners[corner]
        state.takers[place] = entry


@outlined
def _match(truth, state, threshold, entry, at, confidence, corners):
    """Find the triplet, and the phrase, that a pair overlaps most among those of the key at ``at``."""
    first, second = _single(corners, 0), _single(corners, 4)
    around, key = _around(first, second), truth.triplets[at]
    best, most, best_phrase, most_phrase = at, 0.0, at, 0.0
    while at < len(truth.triplets) and truth.triplets[at] == key:
        one, two = _row(truth.first, at), _row(truth.second, at)
        overlap = min(_overlap(first, one), _overlap(second, two))
        if overlap > most:
            best, most = at, overlap
        overlap = _overlap(around, _around(one, two))
        if overlap > most_phrase:
            best_phrase, most_phrase = at, overlap
        at += 1
    if most >= threshold:
        court(state, best, entry, confidence, most, corners)
    if most_phrase >= threshold:
        court(state, len(truth.triplets) + best_phrase, entry, confidence, most_phrase, corners)


@part
def _count_oddities(counts, confidence, corners):
    """Count what is scored by the rules but was hardly meant, once a pair."""
    low, high = corners[0], corners[0]
    for corner in corners:
        low, high = min(low, corner), max(high, corner)
    inverted = corners[0] >= corners[1] or corners[2] >= corners[3]
    inverted = inverted or corners[4] >= corners[5] or corners[6] >= corners[7]
    counts[INVERTED] += inverted
    counts[OUTSIDE] += low < 0.0 or high > 1.0
    counts[BEYOND_ONE] += confidence > 1.0


@part
def take(truth, state, threshold, image, labels, relation, confidence, corners):
    """Take one predicted pair of a known image; return DONE or NEGATIVE.

    Parameters
    ----------
    labels : (int64, int64)
    relation : int64
        -1, as for a label, where the truth does not know it.
    corners : eight float64: XMin, XMax, YMin, YMax of the first box, then of the second
    """
    if not confidence >= 0:
        return NEGATIVE
    _count_oddities(state.counts, confidence, corners)
    one, two = labels
    state.counts[UNKNOWN_RELATIONS] += relation < 0
    state.counts[UNKNOWN_LABELS] += one < 0 or two < 0
    state.rows[image] += 1
    counts = _counts(truth, image, one, two)
    if not counts and state.rows[image] <= MOST_LEFT_OUT:
        return DONE
    known, kinds = len(truth.labels.starts) - 1, len(truth.relations.starts) - 1
    entry = state.counts[ENTRIES]
    state.counts[ENTRIES] = entry + 1
    confidence += 0.0  # -0.0 becomes 0.0
    state.confidences[entry] = confidence
    state.images[entry] = image
    state.relations[entry] = relation if relation >= 0 else kinds
    if not counts or truth.usage[image] == IGNORED:
        state.relations[entry] = kinds + 1
    if counts and relation >= 0:
        key = ((image * known + one) * known + two) * (kinds + 1) + relation
        at = _first_of(truth, image, key)
        if at < len(truth.triplets) and truth.triplets[at] == key:
            _match(truth, state, threshold, entry, at, confidence, corners)
    return DONE


@kernel(STATE, STATE, types.int64)
def merge(ours, theirs, offset):
    """Take over what another thread has found, as if its suitors had come to us.

    ``offset``: how many entries stand before theirs once all are put together.
    """
    for place in range(len(ours.takers)):
        suitor = theirs.suitors[place]
        if suitor[0] != UNCLAIMED:
            first = (suitor[2], suitor[3], suitor[4], suitor[5])
            corners = (*first, suitor[6], suitor[7], suitor[8], suitor[9])
            court(ours, place, theirs.takers[place] + offset, suitor[0], suitor[1], corners)
