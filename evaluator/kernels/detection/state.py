"""What detection kernels share: the truth they look at, the state they leave behind, and how one detection counts."""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels.jit import frozen, kernel, outlined, part
from evaluator.kernels.overlap import best_box, best_group, is_before
from evaluator.kernels.reading import DONE, ENTRIES, IGNORED, NEGATIVE, PRIVATE, UNCLAIMED, count_oddities
from evaluator.kernels.text.lookup import INDEX, TextIndex

MOST_PER_IMAGE_AND_CLASS = 10_000
COLLECTED = 9  # in State.counts, after those of all reading kernels
COUNTS = 10


class DetectionTruth(NamedTuple):
    """Truth boxes sorted by image, class and place in the file; all arrays are read-only.

    Attributes
    ----------
    images, labels : TextIndex
    closed : bool array of shape (2,)
        Whether an unknown image, an unknown label is a defect.
    listed : int64
        How many labels, the first ones, do not count as unknown: see :func:`evaluator.tracks.interface.listed_labels`.
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
    listed: int
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
        types.int64,
        frozen(types.int8),
        *(frozen(types.int32) for _ in range(4)),
        frozen(types.float64, 2),
        frozen(types.float64, 2),
    ),
    DetectionTruth,
)


class DetectionState(NamedTuple):
    """What one thread has found; it owns the arrays and nobody else writes to them.

    Suitors and groups are those of one image at a time (``Kaggle`` shape) or of all (long shape).

    Attributes
    ----------
    counts : int64 array of shape (COUNTS,)
    named : uint8 array of shape (images,)
        1 where the file named the image.
    rows : int32 array of shape (images,)
        How many predictions of each image were read.
    overfull : bool array of shape (images,), read-only
        The images whose predictions are collected and not taken: those that are known to have too many.
    strangers : uint64 array
        Hashes of the images that the truth does not know, ``counts[STRANGERS]`` of them.
    place : int32 array of shape (labels,)
        The class's place among all verified ones, -1 where it is not verified in this image. All -1 between images.
    suitors : float64 array of shape (boxes, 6)
        Confidence, overlap and corners of the best detection that points at each box; confidence -1: nobody.
    absorbed : float64 array of shape (groups,)
        Highest confidence that each group-of box absorbed, -1: none.
    confidences, codes, entry_images : float64, uint32, int32 arrays of shape (capacity,)
        The entries of the curves, ``counts[ENTRIES]`` of them; code = class × 4 + (private: 2) + (false positive: 1).
        The code of what counts for nothing is that of a class beyond all: see :func:`idle`.
    collected_images, collected_labels, collected : int32, int32, float64 arrays of shapes (room,), (room,), (room, 5)
        The sound predictions of overfull images, ``counts[COLLECTED]`` of them: confidence, XMin, XMax, YMin, YMax.
    """

    counts: NDArray[np.int64]
    named: NDArray[np.uint8]
    rows: NDArray[np.int32]
    overfull: NDArray[np.bool_]
    strangers: NDArray[np.uint64]
    place: NDArray[np.int32]
    suitors: NDArray[np.float64]
    absorbed: NDArray[np.float64]
    confidences: NDArray[np.float64]
    codes: NDArray[np.uint32]
    entry_images: NDArray[np.int32]
    collected_images: NDArray[np.int32]
    collected_labels: NDArray[np.int32]
    collected: NDArray[np.float64]


STATE = types.NamedTuple(
    (
        types.int64[::1],
        types.uint8[::1],
        types.int32[::1],
        frozen(types.boolean),
        types.uint64[::1],
        types.int32[::1],
        types.float64[:, ::1],
        types.float64[::1],
        types.float64[::1],
        types.uint32[::1],
        types.int32[::1],
        types.int32[::1],
        types.int32[::1],
        types.float64[:, ::1],
    ),
    DetectionState,
)


@part
def idle(truth, label):
    """Return the class, beyond all others, of what counts for nothing: one for each label, one for unknown labels.

    It costs time and memory as if it counted, so that neither tells whether it does.
    """
    labels = len(truth.labels.starts) - 1
    if label >= labels:
        return label  # it was beyond them already
    return labels + (label if label >= 0 else labels)


@part
def add_entry(truth, state, confidence, label, image, miss):
    """Append one entry of the curves; in an ignored image it counts for nothing."""
    at, usage = state.counts[ENTRIES], truth.usage[image]
    if usage == IGNORED:
        label = idle(truth, label)
    state.confidences[at] = confidence
    state.codes[at] = np.uint32(label * 4 + (usage == PRIVATE) * 2 + miss)
    if len(state.entry_images):
        state.entry_images[at] = image
    state.counts[ENTRIES] = at + 1


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
        suitor = state.suitors[box - origin[0]]
        if is_before(confidence, overlap, corners, suitor):
            displaced, their_corners = suitor[0], (suitor[2], suitor[3], suitor[4], suitor[5])
            suitor[0], suitor[1] = confidence, overlap
            suitor[2], suitor[3], suitor[4], suitor[5] = corners
            if displaced == UNCLAIMED:
                return
            confidence, corners = displaced, their_corners
    group, share = best_group(truth.groups, truth.groups_from[place], truth.groups_from[place + 1], corners)
    if group >= 0 and share >= threshold:
        state.absorbed[group - origin[1]] = max(state.absorbed[group - origin[1]], confidence)
    else:
        add_entry(truth, state, confidence, np.int64(truth.verified[place]), image, 1)


@part
def detect(truth, state, origin, threshold, image, place, confidence, corners):
    """Take one detection of a verified class.

    Parameters
    ----------
    place : int64
        The class among all verified ones.
    origin : (int64, int64)
        Box and group that stand first in ``suitors`` and ``absorbed``.
    confidence : float64, not negative, no negative zero
    corners : four float64
    """
    best, overlap = best_box(truth.boxes, truth.boxes_from[place], truth.boxes_from[place + 1], corners)
    aim = (best, overlap) if overlap >= threshold else (np.int64(-1), overlap)
    court(truth, state, origin, threshold, image, place, aim, confidence, corners)


@outlined
def collect(state, image, label, confidence, corners):
    """Put a prediction of an overfull image aside."""
    at = state.counts[COLLECTED]
    state.collected_images[at], state.collected_labels[at] = image, label
    state.collected[at, 0] = confidence
    state.collected[at, 1], state.collected[at, 2], state.collected[at, 3], state.collected[at, 4] = corners
    state.counts[COLLECTED] = at + 1


@part
def take(truth, state, origin, threshold, image, label, place, confidence, corners):
    """Take one prediction of a known image, ``place`` -1 where its class is not verified there; or put it aside.

    Once an image has more predictions than all are sure to count, this reading of the file is of no use but for
    finding the other images like it, and only counts.

    Returns DONE or NEGATIVE.
    """
    if not confidence >= 0:
        return NEGATIVE
    rows = state.rows[image] + 1
    state.rows[image] = rows
    if count_oddities(state.counts, confidence, corners):
        confidence += 0.0  # -0.0 becomes 0.0
        if state.overfull[image]:
            collect(state, image, label, confidence, corners)
        elif place >= 0 and rows <= MOST_PER_IMAGE_AND_CLASS:
            detect(truth, state, origin, threshold, image, place, confidence, corners)
    return DONE


@part
def origin_of(truth, image):
    """Return the box and the group that stand first in an image."""
    first = np.int64(truth.verified_from[image])
    return np.int64(truth.boxes_from[first]), np.int64(truth.groups_from[first])


@outlined
def enter(truth, state, image):
    """Note which classes are verified in an image, so that one look tells."""
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
        label = np.int64(truth.verified[place])
        for box in range(truth.boxes_from[place] - origin[0], truth.boxes_from[place + 1] - origin[0]):
            if state.suitors[box, 0] != UNCLAIMED:
                add_entry(truth, state, state.suitors[box, 0], label, image, 0)
                state.suitors[box, 0] = UNCLAIMED
        for group in range(truth.groups_from[place] - origin[1], truth.groups_from[place + 1] - origin[1]):
            if groups_count and state.absorbed[group] > 0:
                add_entry(truth, state, state.absorbed[group], label, image, 0)
            state.absorbed[group] = UNCLAIMED


@kernel(TRUTH, STATE, types.boolean)
def settle_all(truth, state, groups_count):
    """Settle every image of a state that holds all; it must have room for an entry for each box and group."""
    for image in range(len(truth.usage)):
        settle(truth, state, (0, 0), image, groups_count)
