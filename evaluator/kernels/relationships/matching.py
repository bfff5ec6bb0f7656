"""Matches predicted pairs of boxes with the triplets and phrases of their image.

A triplet is two labelled boxes and the relation between them. Its phrase is the smallest box around both.

The reference implementations are ``evaluator.tracks.relationships.scorer`` and ``evaluator.metrics``.
"""

import numpy as np
from numba import types

from evaluator.kernels import CROWD
from evaluator.kernels.jit import inlined, kernel
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
from evaluator.kernels.relationships.comparing import (
    as_float32,
    claim,
    coordinates_of,
    enclosing,
    float32_iou,
    triplet_overlap,
)
from evaluator.kernels.relationships.explaining import explain
from evaluator.kernels.relationships.state import CANDIDATE_NUMBERS, STATE, UNKNOWN_RELATIONS
from evaluator.kernels.text.csv_blocks import position_in

# Whether a label is verified in an image and, if so, whether a triplet of the image has it.
UNVERIFIED, IN_TRIPLET, NEGATIVE_LABEL = 0, 1, 2
# No triplet has this key. The key of a triplet encodes its image, its two labels and its relation as one number.
NO_KEY = np.int64(-1)
# In a sorted array, a binary search stops when at most this many values are left.
COMPARED_AT_ONCE = 16
# Values of :func:`first_triplet_of` for a pair that no triplet can match, and for a pair that is not scored.
NO_TRIPLET, NOT_SCORED = np.int64(-1), np.int64(-2)


@inlined
def _first_not_below(values, first, stop, wanted):
    """Return the index of the first value in ``values[first:stop]`` that is at least ``wanted``; ``stop`` if none is.

    The values are in ascending order. The last values are compared without branches, because the CPU could not predict
    the branches.
    """
    while stop - first > COMPARED_AT_ONCE:
        middle = (first + stop) >> 1
        if values[np.uint64(middle)] < wanted:
            first = middle + 1
        else:
            stop = middle
    found = first
    for at in range(first, stop):
        found += np.int64(values[np.uint64(at)] < wanted)
    return found


@inlined
def _verification(truth, image, label):
    """Return whether a label is verified in an image: UNVERIFIED, IN_TRIPLET or NEGATIVE_LABEL."""
    first, stop = np.int64(truth.verified_from[image]), np.int64(truth.verified_from[image + 1])
    at = position_in(truth.verified_labels, first, stop, label, truth.search_steps)
    return IN_TRIPLET + np.int64(truth.negative[np.uint64(at)]) if at >= 0 else UNVERIFIED


@inlined
def _is_scored(truth, image, one, two):
    """Return whether a pair is scored: both labels are verified in the image, or one of them is negative."""
    # Unknown labels are searched for too. Otherwise, the time would reveal which labels are in the ground truth.
    first, second = _verification(truth, image, one), _verification(truth, image, two)
    both_verified = (first != UNVERIFIED) & (second != UNVERIFIED)
    return (both_verified | (first == NEGATIVE_LABEL) | (second == NEGATIVE_LABEL)) & (one >= 0) & (two >= 0)


@inlined
def first_triplet_of(truth, image, codes):
    """Return the index of the first triplet with the image, the labels and the relation of a pair.

    The result is NO_TRIPLET if there is no such triplet, and NOT_SCORED if the pair is not scored. The search is done
    even if the pair is not scored or the image has no triplets. Otherwise, the scoring time would reveal which pairs
    are scored, and which images have triplets.

    Parameters
    ----------
    codes : three int64
        The codes of both labels and the relation, -1 for those that are not in the ground truth.
    """
    one, two, relation = codes
    known, kinds = len(truth.labels.starts) - 1, len(truth.relations.starts) - 1
    is_scored = _is_scored(truth, image, one, two)
    key = ((image * known + one) * known + two) * (kinds + 1) + relation if is_scored and relation >= 0 else NO_KEY
    first, stop = np.int64(truth.triplets_from[image]), np.int64(truth.triplets_from[image + 1])
    # If the image has no triplets, the key is compared with a triplet of the next image, so that the time is the same.
    stop = min(max(stop, first + 1), np.int64(len(truth.triplets)))
    at = _first_not_below(truth.triplets, first, stop, key)
    if at < stop and truth.triplets[np.uint64(at)] == key:
        return at
    return NO_TRIPLET if is_scored else NOT_SCORED


@inlined
def _match(truth, state, threshold, entry, first_triplet, confidence, coordinates):
    """Let a predicted pair claim the triplet and the phrase that it overlaps most.

    The pair is compared only with the triplets that have its image, labels and relation, the first of which has the
    index ``first_triplet``. If there are none (the index is negative), it is compared with an arbitrary triplet.
    Otherwise, the scoring time would reveal which triplets exist. For the same reason, a pair that hits no triplet or
    no phrase claims an additional candidate instead, see ``state.best_candidates``.

    Return the index of the triplet, and the overlap with it.
    """
    first, second = as_float32(coordinates, 0), as_float32(coordinates, 4)
    around, triplets = enclosing(first, second), len(truth.triplets)
    begin = max(first_triplet, 0)
    key, stop = truth.triplets[begin] if first_triplet >= 0 else NO_KEY, begin + 1
    best, highest, best_phrase, highest_phrase = begin, 0.0, begin, 0.0
    while stop < triplets and truth.triplets[stop] == key:
        stop += 1
    for at in range(begin, stop):
        overlap = triplet_overlap(truth, at, first, second)
        best, highest = (at, overlap) if overlap > highest else (best, highest)
        overlap = float32_iou(around, enclosing(coordinates_of(truth.first, at), coordinates_of(truth.second, at)))
        best_phrase, highest_phrase = (at, overlap) if overlap > highest_phrase else (best_phrase, highest_phrase)
    no_phrase = len(state.best_candidates) - 1
    target = best if (first_triplet >= 0) & (highest >= threshold) else no_phrase - 1
    claim(state, target, entry, confidence, highest, coordinates)
    target = triplets + best_phrase if (first_triplet >= 0) & (highest_phrase >= threshold) else no_phrase
    claim(state, target, entry, confidence, highest_phrase, coordinates)
    return best, highest


@inlined
def _count_unusual(counts, confidence, coordinates, threshold):
    """Count unusual pairs: those with an inverted box, coordinates outside the image, or a confidence above 1.

    Pairs that can match neither a relationship nor a phrase are counted too. All these pairs are valid but probably not
    intended, so a notice tells the participant how many there are.
    """
    first, second = coordinates[:4], coordinates[4:]
    around = enclosing(first, second)
    low = min(min(around[0], around[2]), min(min(first[1], second[1]), min(first[3], second[3])))
    high = max(max(around[1], around[3]), max(max(first[0], second[0]), max(first[2], second[2])))
    inverted = (first[0] >= first[1]) | (first[2] >= first[3]) | (second[0] >= second[1]) | (second[2] >= second[3])
    if inverted or low < 0.0 or high > 1.0 or confidence > 1.0:
        counts[INVERTED] += inverted
        counts[OUTSIDE] += low < 0.0 or high > 1.0
        counts[BEYOND] += confidence > 1.0
        counts[USELESS] += not (
            can_match(first, threshold) or can_match(second, threshold) or can_match(around, threshold)
        )


@inlined
def _keep(state, entry, labels, confidence, coordinates):
    """Store the labels, the confidence and the coordinates of a pair, for the table of matches."""
    state.labels[entry, 0], state.labels[entry, 1] = labels
    state.numbers[entry, 0] = confidence
    for column in range(8):
        state.numbers[entry, 1 + column] = coordinates[column]


@inlined
def add_prediction(truth, state, threshold, image, codes, first_triplet, confidence, coordinates):
    """Match one predicted pair in an image of the ground truth, and append its entry to a precision/recall curve.

    A pair that is not scored has an entry only if it is not among the first ``CROWD`` pairs of its image, or if the
    score is to be explained. In the latter case, the outcome of the pair is determined too.

    Parameters
    ----------
    codes
        As for :func:`first_triplet_of`.
    first_triplet : int64
        The result of :func:`first_triplet_of`.
    coordinates : eight float64
        XMin, XMax, YMin, YMax of the first box, then of the second.

    Returns
    -------
    int64 : DONE or NEGATIVE_CONFIDENCE
    """
    if not confidence >= 0:
        return NEGATIVE_CONFIDENCE
    _count_unusual(state.counts, confidence, coordinates, threshold)
    one, two, relation = codes
    state.counts[UNKNOWN_RELATIONS] += relation < 0
    state.counts[UNKNOWN_LABELS] += one < 0 or two < 0
    state.image_predictions[image] += 1
    is_scored, explains = first_triplet != NOT_SCORED, len(state.outcomes) > 0
    if not is_scored and not explains and state.image_predictions[image] <= CROWD:
        return DONE
    entry = state.counts[ENTRIES]
    state.counts[ENTRIES] = entry + 1
    if len(state.numbers):
        _keep(state, entry, (one, two), confidence, coordinates)
    confidence += 0.0  # Add zero to turn -0.0 into 0.0, because entries are sorted by the bits of their confidences.
    kinds = len(truth.relations.starts) - 1
    state.confidences[entry] = confidence
    state.images[entry] = image
    state.relations[entry] = relation if relation >= 0 else kinds
    if not is_scored or truth.usage[image] == IGNORED:
        state.relations[entry] += kinds + 1
    exact = first_triplet, 0.0
    if first_triplet >= 0 or (state.image_predictions[image] > CROWD and len(truth.triplets) > 0):
        nearest = _match(truth, state, threshold, entry, first_triplet, confidence, coordinates)
        exact = nearest if first_triplet >= 0 else exact
    if explains:
        explain(truth, state, threshold, entry, is_scored, codes, exact, confidence, coordinates)
    return DONE


@kernel(STATE, STATE, types.int64)
def merge(state, other, offset):
    """Merge the best candidates found by another thread, ``other``, into ``state``.

    If both threads have a candidate for the same triplet or phrase, the better one remains. ``offset`` is the number of
    entries of all earlier threads; it is added to the entry indices of ``other``.
    """
    for target in range(len(state.best_entries)):
        candidate = other.best_candidates[target]
        if candidate[0] != UNCLAIMED:
            first = (candidate[2], candidate[3], candidate[4], candidate[5])
            coordinates = (*first, candidate[6], candidate[7], candidate[8], candidate[9])
            entry = other.best_entries[target] + offset
            if len(candidate) > CANDIDATE_NUMBERS:
                claim(state, target, entry, candidate[0], candidate[1], (*coordinates, candidate[CANDIDATE_NUMBERS]))
            else:
                claim(state, target, entry, candidate[0], candidate[1], coordinates)
