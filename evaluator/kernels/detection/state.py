"""Defines the ground truth that the detection kernels read, and the state that they change; appends curve entries."""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels import CROWD
from evaluator.kernels.curves.average_precision import MISS
from evaluator.kernels.jit import inlined, read_only
from evaluator.kernels.reading import ENTRIES, IGNORED, NEGATIVE, PRIVATE
from evaluator.kernels.text.lookup import INDEX, TextIndex

MAX_PER_IMAGE_AND_CLASS = 10_000
# Indices in the array ``counts``: the numbers of collected predictions and of claimed boxes. Lower indices are defined
# in evaluator.kernels.reading.
COLLECTED, CLAIMED = NEGATIVE + 1, NEGATIVE + 2
COUNTS = CLAIMED + 1
# Value of ``group_kind`` if group-of boxes have weight 0 and therefore get no curve entries.
NO_ENTRY = -1
# Values of the elements of ``DetectionState.collects``, which determine the predictions that are stored.
NONE_OF_IMAGE, WITH_AREA, ALL_OF_IMAGE = range(3)


class KernelTruth(NamedTuple):
    """The ground-truth boxes, sorted by image, class and row of the file. All arrays are read-only.

    A *verified class* of an image is a class that the annotators have verified as present or absent in it. Other
    classes are not scored in the image.

    Attributes
    ----------
    images, labels : TextIndex
    closed : bool array of shape (2,)
        Whether an unknown image is a defect, and whether an unknown label is a defect.
    listed : int64
        Labels whose code is at least this number count as unknown; see ``LabelTruth.public_labels``.
    usage : int8 array of shape (images,)
        IGNORED, PUBLIC or PRIVATE; see :mod:`evaluator.kernels.reading`.
    verified_from : int32 array of shape (images + 1,)
        Position in ``verified`` of the first verified class of each image.
    verified : int32 array of shape (V + 16 * search_steps,)
        Labels of the verified classes of all images, ascending in each image.
    search_steps : int64
        Number of steps to search the verified classes of an image; see
        :func:`evaluator.kernels.text.csv_blocks.searchable`.
    boxes_from, groups_from : int32 arrays of shape (V + 1,)
        Position in ``boxes`` and in ``groups`` of the first box of each verified class.
    boxes, groups : float64 arrays of shape (M, 4) and (G, 4): XMin, XMax, YMin, YMax
        Ordinary boxes and group-of boxes.
    candidates_from : int32 array of shape (G + 1,)
        Number of the first ordinary box that is beside each group-of box, that is, of the same class in the same image.
        Only ordinary boxes that are beside group-of boxes are counted; the last element is the number of all of them.
    most_boxes, most_groups : int64
        The largest number of ordinary boxes in an image, and the largest number of group-of boxes.
    ancestors_from : int64 array of shape (labels + 1,)
        Position in ``ancestors`` of the first ancestor of each label.
    ancestors : int64 array
        The labels to which predictions are copied; empty if they are not copied (``expand_predictions``).
    """

    images: TextIndex
    labels: TextIndex
    closed: NDArray[np.bool_]
    listed: int
    usage: NDArray[np.int8]
    verified_from: NDArray[np.int32]
    verified: NDArray[np.int32]
    search_steps: int
    boxes_from: NDArray[np.int32]
    groups_from: NDArray[np.int32]
    boxes: NDArray[np.float64]
    groups: NDArray[np.float64]
    candidates_from: NDArray[np.int32]
    most_boxes: int
    most_groups: int
    ancestors_from: NDArray[np.int64]
    ancestors: NDArray[np.int64]


TRUTH = types.NamedTuple(
    (
        INDEX,
        INDEX,
        read_only(types.boolean),
        types.int64,
        read_only(types.int8),
        *(read_only(types.int32) for _ in range(2)),
        types.int64,
        *(read_only(types.int32) for _ in range(2)),
        *(read_only(types.float64, 2) for _ in range(2)),
        read_only(types.int32),
        *(types.int64 for _ in range(2)),
        *(read_only(types.int64) for _ in range(2)),
    ),
    KernelTruth,
)


class DetectionState(NamedTuple):
    """The results of one thread. Only this thread writes to the arrays.

    ``best_confidences``, ``best_candidates`` and ``group_confidences`` hold the data of one image at a time (Kaggle
    layout) or of all images (long layout).

    Attributes
    ----------
    counts : int64 array of shape (COUNTS,)
        The counters, such as the number of predictions that were read.
    named : uint8 array of shape (images,)
        1 if the submission has a row for the image.
    image_predictions : int32 array of shape (images,)
        Number of predictions read so far for each image.
    collects : uint8 array of shape (images,), read-only
        Which predictions of each image are stored instead of being matched. WITH_AREA stands for those whose box has an
        area and whose confidence is valid. It is used for images with more than 10,000 predictions (see
        :mod:`evaluator.kernels.detection.overfull`) and, with the rules of FiftyOne, for all images. ALL_OF_IMAGE is
        used if the score is to be explained.
    unknown_image_hashes : uint64 array
        Hashes of image ids that are not in the ground truth; their number is ``counts[UNKNOWN_IMAGE_HASHES]``.
    class_positions : int32 array of shape (labels + 1,)
        Position of each class of the current image in ``KernelTruth.verified``; -1 for classes that are not verified
        in the image. The last element is for unknown labels. All elements are -1 while no image is being processed.
    best_confidences : float64 array of shape (boxes + BATCH_ROWS,)
        Confidence of the best detection so far that claims each box; UNCLAIMED if there is none. The last BATCH_ROWS
        elements are infinity: a detection that claims no box is treated as if it had lost one of these boxes.
    best_candidates : float64 array of shape (C, 5)
        Overlap and coordinates of this detection, for the boxes beside group-of boxes; see :func:`candidate_of`. There
        may be more rows than such boxes.
    claimed : int32 array of shape (boxes + 1, 2), or (0, 2)
        The boxes that have a best candidate: index in ``KernelTruth.boxes``, and position of the class in
        ``KernelTruth.verified``. Their number is ``counts[CLAIMED]``. The list is kept only if the state holds the data
        of one image at a time. The next element may have any value.
    group_confidences : float64 array of shape (groups,)
        Highest confidence among the detections that lie in each group-of box; UNCLAIMED if there is none.
    confidences, codes, entry_images : float64, uint32, int32 arrays of shape (capacity,)
        The entries of the curves; their number is ``counts[ENTRIES]``. The code is class × 4, plus 2 for a private
        image, plus the kind; see :mod:`evaluator.kernels.curves.average_precision`. Entries that are not scored have
        the class :func:`unscored_class`.
    collected_images, collected_labels, collected : int32, int32, float64 arrays of shapes (room,), (room,), (room, 5)
        The predictions that are stored; their number is ``counts[COLLECTED]``. The columns of ``collected`` are
        confidence, XMin, XMax, YMin, YMax.
    """

    counts: NDArray[np.int64]
    named: NDArray[np.uint8]
    image_predictions: NDArray[np.int32]
    collects: NDArray[np.uint8]
    unknown_image_hashes: NDArray[np.uint64]
    class_positions: NDArray[np.int32]
    best_confidences: NDArray[np.float64]
    best_candidates: NDArray[np.float64]
    claimed: NDArray[np.int32]
    group_confidences: NDArray[np.float64]
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
        read_only(types.uint8),
        types.uint64[::1],
        types.int32[::1],
        types.float64[::1],
        types.float64[:, ::1],
        types.int32[:, ::1],
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


@inlined
def offsets_of(truth, image):
    """Return the indices of an image's first ordinary box and first group-of box."""
    first = np.int64(truth.verified_from[image])
    return np.int64(truth.boxes_from[first]), np.int64(truth.groups_from[first])


@inlined
def candidate_of(truth, offsets, position, box):
    """Return the index in ``state.best_candidates`` of a box that is beside group-of boxes.

    ``position`` is the position of the class of the box in ``truth.verified``. ``offsets`` is (0, 0) if the state holds
    the data of all images; otherwise, it is the result of :func:`offsets_of` for the image.
    """
    first = np.int64(truth.candidates_from[truth.groups_from[position]]) - truth.candidates_from[offsets[1]]
    return first + box - np.int64(truth.boxes_from[position])


@inlined
def unscored_class(truth, label):
    """Return the class code of curve entries that have this label and are not scored. All unknown labels share a code.

    Curve entries are true and false positives with their confidences. See
    :class:`evaluator.tracks.detection.entries.Entries` for the codes. The curves of entries that are not scored are
    computed but not reported. Without these entries, running time and memory use would reveal which predictions are
    scored.
    """
    labels = len(truth.labels.starts) - 1
    if label > labels:
        # A value above the number of labels in the ground truth is already a class code from this function.
        return label
    return labels + 1 + (label if label >= 0 else labels)


@inlined
def write_entry(truth, state, at, confidence, label, image, kind):
    """Write a curve entry at index ``at``. If the image is not scored, its class is that of :func:`unscored_class`."""
    usage, at = truth.usage[np.uint64(image)], np.uint64(at)
    if usage == IGNORED:
        label = unscored_class(truth, label)
    state.confidences[at] = confidence
    state.codes[at] = np.uint32(label * 4 + (usage == PRIVATE) * 2 + kind)
    if len(state.entry_images):
        state.entry_images[at] = image


@inlined
def add_entry(truth, state, confidence, label, image, kind):
    """Append a curve entry; see :func:`write_entry`."""
    at = state.counts[ENTRIES]
    write_entry(truth, state, at, confidence, label, image, kind)
    state.counts[ENTRIES] = at + 1


@inlined
def add_unscored(truth, state, confidence, label, image):
    """Append an entry to a precision/recall curve for a prediction that is not scored.

    Nothing is appended for the first :data:`~evaluator.kernels.CROWD` predictions of an image. Later predictions that
    are not scored get an entry, so that the running time does not reveal which of them are scored.
    """
    if state.image_predictions[image] > CROWD:
        add_entry(truth, state, confidence, unscored_class(truth, label), image, MISS)
