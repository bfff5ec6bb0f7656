"""What detection kernels share: the truth they look at, the state they leave behind, and how one detection counts."""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels.cache import frozen, kernel, outlined, part
from evaluator.kernels.precedence import best_box, best_group, is_before
from evaluator.kernels.texts import INDEX, TextIndex

IGNORED, PUBLIC, PRIVATE = 0, 1, 2
MOST_PER_IMAGE_AND_CLASS = 10_000
NOBODY = -1.0

# Places in State.counts.
ENTRIES, STRANGERS, IMAGES, PREDICTIONS, UNKNOWN_IMAGES, UNKNOWN_LABELS, INVERTED, OUTSIDE, BEYOND_ONE = range(9)
COUNTS = 9

# What a reading kernel returns: 0, or why the readable way must be taken.
DONE, ODD, NEGATIVE, CAPPED = 0, 1, 2, 3


class DetectionTruth(NamedTuple):
    """Truth boxes sorted by image, class and place in the file; all arrays are read-only.

    Attributes
    ----------
    images, labels : TextIndex
    closed : bool array of shape (2,)
        Whether an unknown image, an unknown label is a defect.
    usage : int8 array of shape (images,)
    verified_from : int32 array of shape (images + 1,)
        Where each image's verified classes begin among all: V of them.
    verified : int32 array of shape (V,)
        Their labels.
    boxes_from, groups_from : int32 arrays of shape (V + 1,)
        Where the boxes of each begin.
    boxes, groups : float64 arrays of shape (M, 4) and (G, 4): XMin, XMax, YMin, YMax
    """

    images: TextIndex
    labels: TextIndex
    closed: NDArray[np.bool_]
    usage: NDArray[np.int8]
    verified_from: NDArray[np.int32]
    verified: NDArray[np.int32]
    boxes_from: NDArray[np.int32]
    groups_from: NDArray[np.int32]
    boxes: NDArray[np.float64]
    groups: NDArray[np.float64]


TRUTH = types.NamedTuple(
    (
        INDEX,
        INDEX,
        frozen(types.boolean),
        frozen(types.int8),
        *(frozen(types.int32) for _ in range(4)),
        frozen(types.float64, 2),
        frozen(types.float64, 2),
    ),
    DetectionTruth,
)


class DetectionState(NamedTuple):
    """What one thread has found; it owns the arrays and nobody else writes to them.

    Suitors, groups and kept are those of one image at a time (``Kaggle`` shape) or of all (long shape).

    Attributes
    ----------
    counts : int64 array of shape (COUNTS,)
    named : uint8 array of shape (images,)
        1 where the file named the image.
    strangers : uint64 array
        Hashes of the images that the truth does not know, ``counts[STRANGERS]`` of them.
    place : int32 array of shape (labels,)
        The class's place among all verified ones, -1 where it is not verified in this image. All -1 between images.
    kept : uint16 array
        Detections of each verified class.
    suitors : float64 array of shape (boxes, 6)
        Confidence, overlap and corners of the best detection that points at each box; confidence -1: nobody.
    absorbed : float64 array of shape (groups,)
        Highest confidence that each group-of box absorbed, -1: none.
    confidences, codes, entry_images : float64, uint32, int32 arrays of shape (capacity,)
        The entries of the curves, ``counts[ENTRIES]`` of them; code = class × 4 + (private: 2) + (false positive: 1).
    """

    counts: NDArray[np.int64]
    named: NDArray[np.uint8]
    strangers: NDArray[np.uint64]
    place: NDArray[np.int32]
    kept: NDArray[np.uint16]
    suitors: NDArray[np.float64]
    absorbed: NDArray[np.float64]
    confidences: NDArray[np.float64]
    codes: NDArray[np.uint32]
    entry_images: NDArray[np.int32]


STATE = types.NamedTuple(
    (
        types.int64[::1],
        types.uint8[::1],
        types.uint64[::1],
        types.int32[::1],
        types.uint16[::1],
        types.float64[:, ::1],
        types.float64[::1],
        types.float64[::1],
        types.uint32[::1],
        types.int32[::1],
    ),
    DetectionState,
)


@part
def add_entry(state, confidence, label, usage, miss, image):
    """Append one entry of the curves."""
    at = state.counts[ENTRIES]
    state.confidences[at] = confidence
    state.codes[at] = np.uint32(label * 4 + (usage == PRIVATE) * 2 + miss)
    if len(state.entry_images):
        state.entry_images[at] = image
    state.counts[ENTRIES] = at + 1


@part
def count_oddities(counts, confidence, corners):
    """Count what is scored by the rules but was hardly meant; tell whether the box is sound."""
    x_min, x_max, y_min, y_max = corners
    low, high = min(min(x_min, x_max), min(y_min, y_max)), max(max(x_min, x_max), max(y_min, y_max))
    sound = x_min < x_max and y_min < y_max
    if low < 0.0 or high > 1.0 or confidence > 1.0 or not sound:
        counts[INVERTED] += not sound
        counts[OUTSIDE] += low < 0.0 or high > 1.0
        counts[BEYOND_ONE] += confidence > 1.0
    return sound


@part
def court(truth, state, origin, threshold, image, place, aim, confidence, corners):
    """Let a detection point at a box; whoever loses goes into a group or becomes a false positive.

    Since a detection may only take its best box, each box's taker is the first in order that points at it; whoever
    is displaced is judged as if it had come second.

    Parameters
    ----------
    place : int64
        Its class among all verified ones.
    aim : (int64, float64)
        The box, -1 for none, and how much the detection overlaps it.
    """
    box, overlap = aim
    if box >= 0:
        suitor = state.suitors[box - origin[1]]
        if is_before(confidence, overlap, corners, suitor):
            displaced, their_corners = suitor[0], (suitor[2], suitor[3], suitor[4], suitor[5])
            suitor[0], suitor[1] = confidence, overlap
            suitor[2], suitor[3], suitor[4], suitor[5] = corners
            if displaced == NOBODY:
                return
            confidence, corners = displaced, their_corners
    group, share = best_group(truth.groups, truth.groups_from[place], truth.groups_from[place + 1], corners)
    if group >= 0 and share >= threshold:
        state.absorbed[group - origin[2]] = max(state.absorbed[group - origin[2]], confidence)
    else:
        add_entry(state, confidence, np.int64(truth.verified[place]), truth.usage[image], 1, image)


@part
def detect(truth, state, origin, threshold, image, place, confidence, corners):
    """Take one detection of a verified class.

    Parameters
    ----------
    place : int64
        The class among all verified ones.
    origin : (int64, int64, int64)
        Verified class, box and group that stand first in ``kept``, ``suitors`` and ``absorbed``.
    confidence : float64, not negative, no negative zero
    corners : four float64

    Returns
    -------
    DONE or CAPPED
    """
    seen = state.kept[place - origin[0]]
    if seen == MOST_PER_IMAGE_AND_CLASS:
        return CAPPED
    state.kept[place - origin[0]] = seen + 1
    best, overlap = best_box(truth.boxes, truth.boxes_from[place], truth.boxes_from[place + 1], corners)
    aim = (best, overlap) if overlap >= threshold else (np.int64(-1), overlap)
    court(truth, state, origin, threshold, image, place, aim, confidence, corners)
    return DONE


@part
def take(truth, state, origin, threshold, image, place, confidence, corners):
    """Take one prediction of a known image, ``place`` -1 where its class is not verified there.

    Returns DONE, NEGATIVE or CAPPED.
    """
    if not confidence >= 0:
        return NEGATIVE
    if count_oddities(state.counts, confidence, corners) and place >= 0:
        return detect(truth, state, origin, threshold, image, place, confidence + 0.0, corners)  # -0.0 becomes 0.0
    return DONE


@outlined
def enter(truth, state, image):
    """Note which classes are verified in an image, so that one look tells; an ignored image has none."""
    if truth.usage[image] != IGNORED:
        for place in range(truth.verified_from[image], truth.verified_from[image + 1]):
            state.place[truth.verified[place]] = place


@outlined
def leave(truth, state, image):
    """Forget what :func:`enter` noted."""
    for place in range(truth.verified_from[image], truth.verified_from[image + 1]):
        state.place[truth.verified[place]] = -1


@outlined
def settle(truth, state, origin, image, groups_count):
    """Turn the suitors of an image's boxes, and its groups, into entries; put their state back to the beginning."""
    for place in range(truth.verified_from[image], truth.verified_from[image + 1]):
        label, usage = truth.verified[place], truth.usage[image]
        state.kept[place - origin[0]] = 0
        for box in range(truth.boxes_from[place] - origin[1], truth.boxes_from[place + 1] - origin[1]):
            if state.suitors[box, 0] != NOBODY:
                add_entry(state, state.suitors[box, 0], label, usage, 0, image)
                state.suitors[box, 0] = NOBODY
        for group in range(truth.groups_from[place] - origin[2], truth.groups_from[place + 1] - origin[2]):
            if groups_count and state.absorbed[group] > 0:
                add_entry(state, state.absorbed[group], label, usage, 0, image)
            state.absorbed[group] = NOBODY


@kernel(TRUTH, STATE, types.boolean)
def settle_all(truth, state, groups_count):
    """Settle every image of a state that holds all; it must have room for an entry for each box and group."""
    for image in range(len(truth.usage)):
        settle(truth, state, (0, 0, 0), image, groups_count)
