"""Matches predicted pairs of boxes with the triplets and phrases of their image.

A triplet is two labelled boxes and the relation between them. Its phrase is the smallest box around both.

The reference implementations are ``evaluator.tracks.relationships.scorer`` and ``evaluator.metrics``.
"""

import numpy as np
from numba import types

from evaluator.kernels import CROWD
from evaluator.kernels.jit import inlined, kernel, subroutine
from evaluator.kernels.overlap import precedes
from evaluator.kernels.reading import (
    BEYOND,
    DONE,
    ENTRIES,
    IGNORED,
    INVERTED,
    NEGATIVE_CONFIDENCE,
    OUTSIDE,
    UNCLAIMED,
    UNKNOWN_LABELS,
    USELESS,
    can_match,
)
from evaluator.kernels.relationships.state import STATE, UNKNOWN_RELATIONS

# Whether annotators verified a label in an image, and found it to be present or absent.
UNVERIFIED, PRESENT, ABSENT = 0, 1, 2
# No triplet has this key. The key of a triplet encodes its image, its two labels and its relation as one number.
NO_KEY = np.int64(-1)


@inlined
def _as_float32(coordinates, first):
    """Return the four box coordinates that begin at index ``first``, converted to float32."""
    return (
        np.float32(coordinates[first]),
        np.float32(coordinates[first + 1]),
        np.float32(coordinates[first + 2]),
        np.float32(coordinates[first + 3]),
    )


@inlined
def _coordinates_of(boxes, box):
    return boxes[box, 0], boxes[box, 1], boxes[box, 2], boxes[box, 3]


@inlined
def _enclosing(one, two):
    """Return the smallest box that contains both given boxes."""
    return min(one[0], two[0]), max(one[1], two[1]), min(one[2], two[2]), max(one[3], two[3])


@inlined
def _overlap(box, other):
    """Return the IoU of two float32 boxes. Differences, areas and their sum are float32, other values float64."""
    width = min(box[1], other[1]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[2], other[2])
    if not (width > 0 and height > 0):
        return 0.0
    common = np.float64(height) * np.float64(width)
    area = (box[3] - box[2]) * (box[1] - box[0])
    other_area = (other[3] - other[2]) * (other[1] - other[0])
    overlap = common / (np.float64(area + other_area) - common)
    return overlap if overlap < np.inf else 0.0


@inlined
def _verification(truth, image, label):
    """Return how annotators verified a label in an image: UNVERIFIED, PRESENT or ABSENT."""
    low, high = np.int64(truth.verified_from[image]), np.int64(truth.verified_from[image + 1])
    while low < high:
        middle = (low + high) >> 1
        verified = np.int64(truth.verified_labels[middle])
        if verified >> 1 == label:
            return PRESENT + (verified & 1)
        if verified >> 1 < label:
            low = middle + 1
        else:
            high = middle
    return UNVERIFIED


@inlined
def _is_scored(truth, image, one, two):
    """Return whether a pair is scored: both labels are verified in the image, or one label is verified as absent."""
    if one < 0 or two < 0:
        return False
    first, second = _verification(truth, image, one), _verification(truth, image, two)
    return (first != UNVERIFIED and second != UNVERIFIED) or first == ABSENT or second == ABSENT


@inlined
def _first_triplet(truth, image, key):
    """Return the index of the image's first triplet whose key is not smaller than ``key``.

    A key encodes an image, both labels and a relation as one number.
    """
    low, high = np.int64(truth.triplets_from[image]), np.int64(truth.triplets_from[image + 1])
    while low < high:
        middle = (low + high) >> 1
        if truth.triplets[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def claim(state, target, entry, confidence, overlap, coordinates):
    """Record that a predicted pair claims a triplet or a phrase of the ground truth.

    Of all pairs that claim the same triplet or phrase, the first in the order of
    :func:`~evaluator.kernels.overlap.precedes` is the true positive.

    Parameters
    ----------
    target : int64
        Index of the triplet or phrase in ``state.best_candidates``.
    entry : int64
        Index of the pair's entry in the precision/recall curves.
    """
    candidate = state.best_candidates[target]
    if precedes(confidence, overlap, coordinates, candidate):
        candidate[0], candidate[1] = confidence, overlap
        for coordinate in range(len(coordinates)):
            candidate[2 + coordinate] = coordinates[coordinate]
        state.best_entries[target] = entry


@subroutine
def _match(truth, state, threshold, entry, begin, key, confidence, coordinates):
    """Record that a predicted pair claims the triplet and the phrase that it overlaps most.

    The pair is compared only with the triplets that have its image, labels and relation, encoded in ``key``. The first
    of these triplets has the index ``begin``.
    """
    first, second = _as_float32(coordinates, 0), _as_float32(coordinates, 4)
    around = _enclosing(first, second)
    best, highest, best_phrase, highest_phrase, stop = begin, 0.0, begin, 0.0, begin + 1
    while stop < len(truth.triplets) and truth.triplets[stop] == key:
        stop += 1
    for at in range(begin, stop):
        one, two = _coordinates_of(truth.first, at), _coordinates_of(truth.second, at)
        overlap = min(_overlap(first, one), _overlap(second, two))
        if overlap > highest:
            best, highest = at, overlap
        overlap = _overlap(around, _enclosing(one, two))
        if overlap > highest_phrase:
            best_phrase, highest_phrase = at, overlap
    if highest >= threshold:
        claim(state, best, entry, confidence, highest, coordinates)
    if highest_phrase >= threshold:
        claim(state, len(truth.triplets) + best_phrase, entry, confidence, highest_phrase, coordinates)


@inlined
def _count_unusual(counts, confidence, coordinates, threshold):
    """Count unusual pairs: those with an inverted box, coordinates outside the image, or a confidence above 1.

    Pairs that can match neither a relationship nor a phrase are counted too. All these pairs are valid but probably not
    intended, so a notice tells the participant how many there are.
    """
    low, high = coordinates[0], coordinates[0]
    for coordinate in coordinates:
        low, high = min(low, coordinate), max(high, coordinate)
    inverted = coordinates[0] >= coordinates[1] or coordinates[2] >= coordinates[3]
    inverted = inverted or coordinates[4] >= coordinates[5] or coordinates[6] >= coordinates[7]
    counts[INVERTED] += inverted
    counts[OUTSIDE] += low < 0.0 or high > 1.0
    counts[BEYOND] += confidence > 1.0
    if inverted or low < 0.0 or high > 1.0:
        first, second = coordinates[:4], coordinates[4:]
        around = min(first[0], second[0]), max(first[1], second[1]), min(first[2], second[2]), max(first[3], second[3])
        counts[USELESS] += not (
            can_match(first, threshold) or can_match(second, threshold) or can_match(around, threshold)
        )


@inlined
def add_prediction(truth, state, threshold, image, labels, relation, confidence, coordinates):
    """Match one predicted pair in an image of the ground truth, and append its entry to a precision/recall curve.

    Among the first :data:`~evaluator.kernels.CROWD` pairs of an image, only those that are scored have entries.

    Parameters
    ----------
    labels : (int64, int64)
        -1 for a label that is not in the ground truth.
    relation : int64
        -1 for a relation that is not in the ground truth.
    coordinates : eight float64
        XMin, XMax, YMin, YMax of the first box, then of the second.

    Returns
    -------
    int64 : DONE or NEGATIVE_CONFIDENCE
    """
    if not confidence >= 0:
        return NEGATIVE_CONFIDENCE
    _count_unusual(state.counts, confidence, coordinates, threshold)
    one, two = labels
    state.counts[UNKNOWN_RELATIONS] += relation < 0
    state.counts[UNKNOWN_LABELS] += one < 0 or two < 0
    state.image_predictions[image] += 1
    is_scored = _is_scored(truth, image, one, two)
    if not is_scored and state.image_predictions[image] <= CROWD:
        return DONE
    known, kinds = len(truth.labels.starts) - 1, len(truth.relations.starts) - 1
    entry = state.counts[ENTRIES]
    state.counts[ENTRIES] = entry + 1
    confidence += 0.0  # Add zero to turn -0.0 into 0.0, because entries are sorted by the bits of their confidences.
    state.confidences[entry] = confidence
    state.images[entry] = image
    state.relations[entry] = relation if relation >= 0 else kinds
    if not is_scored or truth.usage[image] == IGNORED:
        state.relations[entry] += kinds + 1
    key = ((image * known + one) * known + two) * (kinds + 1) + relation if is_scored and relation >= 0 else NO_KEY
    at = _first_triplet(truth, image, key)
    if at < len(truth.triplets) and truth.triplets[at] == key:
        _match(truth, state, threshold, entry, at, key, confidence, coordinates)
    elif state.image_predictions[image] > CROWD and len(truth.triplets) > 0:
        # Compare the predicted pair with an arbitrary triplet, and ignore the result. Otherwise, the scoring time would
        # reveal which triplets exist.
        _match(truth, state, np.inf, entry, 0, NO_KEY, confidence, coordinates)
    return DONE


@kernel(STATE, STATE, types.int64)
def merge(state, other, offset):
    """Merge the best candidates found by another thread, ``other``, into ``state``.

    If both threads have a candidate for a triplet or a phrase, the better one remains. ``offset`` is the number of
    curve entries of all earlier threads; it is added to the entry indices of ``other``.
    """
    for target in range(len(state.best_entries)):
        candidate = other.best_candidates[target]
        if candidate[0] != UNCLAIMED:
            first = (candidate[2], candidate[3], candidate[4], candidate[5])
            coordinates = (*first, candidate[6], candidate[7], candidate[8], candidate[9])
            claim(state, target, other.best_entries[target] + offset, candidate[0], candidate[1], coordinates)
