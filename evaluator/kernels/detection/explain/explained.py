"""Defines the data of the kernel that explains scores of detections: predictions, class hierarchy and outcomes.

The outcomes are determined twice, except by FiftyOne's rules. With the class hierarchy, each object also counts for the
ancestors of its class. Without the hierarchy, an object counts only for its own class.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels.detection.explain.confusions import CONFUSIONS, Confusions
from evaluator.kernels.jit import read_only

# Outcomes of the entries of precision/recall curves, with the class hierarchy:
# - UNVERIFIED: a prediction whose class annotators did not verify in the image.
# - IGNORED: a prediction that is not scored for another reason, for example because its box has no area.
# - HIT: a prediction that is a true positive.
# - ABSORBED: a prediction that a group-of box absorbs.
# - GROUP: a group-of box that absorbs predictions. PLAIN_GROUP: the same without the class hierarchy.
# - ARRIVAL: a second entry for a false positive, in the curve of the class with which it would hit a box.
# - FIXABLE: a false positive that would hit a box if its coordinates were better.
# - FALSE plus a kind of error (see ``evaluator.metrics.errors``): any other false positive.
UNVERIFIED, IGNORED, HIT, ABSORBED, GROUP, PLAIN_GROUP, ARRIVAL, FIXABLE, FALSE = range(9)
OUTCOMES = 16
# Outcomes of the same entries without the class hierarchy. PLAIN_LEFT_OUT means that an entry does not count: the
# prediction is ignored or absorbed by a group-of box, or the entry is one of ARRIVAL, GROUP and PLAIN_GROUP.
PLAIN_UNVERIFIED, PLAIN_FALSE, PLAIN_HIT, PLAIN_LEFT_OUT = range(4)
# The code of a curve entry is the sum of its outcome, PRIVATE_CODE if the image is private, PLAIN_CODE × the outcome
# without the class hierarchy, and SIZE_CODE × the size (0 small, 1 medium, 2 large). For a hit, this is the size of the
# box; for a false positive, the size of the prediction. For other entries, it is 0.
PRIVATE_CODE, PLAIN_CODE, SIZE_CODE = 16, 32, 128
# Bits of ``Predictions.caps``. At most 10,000 predictions are scored per image and class. The first bit states whether
# a prediction is within this limit with the class hierarchy, the second bit states the same without the hierarchy.
WITHIN_CAP, PLAIN_WITHIN_CAP = 1, 2


class Hierarchy(NamedTuple):
    """The parts of a ground truth that only explanations need: the class hierarchy, and which objects are copies.

    An annotated object is a row of boxes.csv. For scoring, it is copied for each ancestor of its class.

    Attributes
    ----------
    box_is_annotated, group_is_annotated : bool arrays of shapes (M,) and (G,)
        Whether each ordinary box and each group-of box is annotated, and not a copy.
    verified_plain : bool array of shape (V,)
        Whether each class in ``KernelTruth.verified`` would also be verified (as present or absent) without the class
        hierarchy.
    annotated_from : int32 array of shape (images + 1,)
        Position in ``annotated`` of the first annotated box of each image.
    annotated : int32 array of shape (A,)
        Index of each annotated ordinary box.
    label_of_box : int32 array of shape (M,)
        Label of each ordinary box.
    ancestors_from : int64 array of shape (labels + 1,)
        Position in ``ancestors`` of the first ancestor of each label.
    ancestors : int64 array
    """

    box_is_annotated: NDArray[np.bool_]
    group_is_annotated: NDArray[np.bool_]
    verified_plain: NDArray[np.bool_]
    annotated_from: NDArray[np.int32]
    annotated: NDArray[np.int32]
    label_of_box: NDArray[np.int32]
    ancestors_from: NDArray[np.int64]
    ancestors: NDArray[np.int64]


HIERARCHY = types.NamedTuple(
    (
        *(read_only(types.boolean) for _ in range(3)),
        *(read_only(types.int32) for _ in range(3)),
        *(read_only(types.int64) for _ in range(2)),
    ),
    Hierarchy,
)


class Predictions(NamedTuple):
    """N predictions, sorted by image. Predictions for the same image are in the order of the file.

    Attributes
    ----------
    images, labels : int32 arrays of shape (N,)
        The label is -1 if it is not in the ground truth.
    numbers : float64 array of shape (N, 5)
        Confidence, XMin, XMax, YMin and YMax.
    caps : uint8 array of shape (N,), or empty if no image is overfull
        Whether each prediction is within the limit per image and class, as a sum of two bits: WITHIN_CAP with the class
        hierarchy, PLAIN_WITHIN_CAP without it. An image is overfull if it has more than 10,000 predictions.
    """

    images: NDArray[np.int32]
    labels: NDArray[np.int32]
    numbers: NDArray[np.float64]
    caps: NDArray[np.uint8]


PREDICTIONS = types.NamedTuple(
    (types.int32[::1], types.int32[::1], types.float64[:, ::1], types.uint8[::1]), Predictions
)


class Overlaps(NamedTuple):
    """Scratch memory of one thread: which objects N predictions overlap most, and which predictions match objects.

    Attributes
    ----------
    boxes, groups : int64 arrays of shape (2, N)
        For each prediction, index of the ordinary box and of the group-of box of its class that it overlaps most, -1 if
        there is none. The first row is the result with the class hierarchy, the second row without it. By FiftyOne's
        rules, a prediction that is matched has the box that it matches, and the rounded overlap.
    ious, shares : float64 arrays of shape (2, N)
        IoU with the ordinary box, and fraction of the prediction's area inside the group-of box.
    others : int64 array of shape (N,)
        Index of the annotated ordinary box of another class that each prediction overlaps most, -1 if there is none.
    other_ious, fixed_ious : float64 arrays of shape (N,)
        IoU with the box in ``others``, and with the box that the prediction would hit if its error were fixed.
    outcomes : uint8 array of shape (2, N)
    box_winners : int64 array of shape (3, boxes of one image)
        Index of the prediction that hits each box, with and without the class hierarchy, and of the prediction that
        would hit it if the error of that prediction were fixed; -1 if there is none.
    group_winners : int64 array of shape (2, groups of one image)
        Index of the most confident prediction that each group-of box absorbs, with and without the class hierarchy; -1
        if there is none.
    class_positions : int32 array of shape (labels + 1,)
        As in :class:`evaluator.kernels.detection.state.DetectionState`.
    annotated : float64 array of shape (6, boxes of one image + AT_ONCE)
        XMin, XMax, YMin, YMax and area of the annotated ordinary boxes of the current image, and their IoU with the
        current prediction.
    own_boxes : uint64 array of shape (labels + 1, words)
        Bit b is set, counted from the lowest bit of the first word, if the annotated box with the index b in the
        current image counts as a box of the class: it has this class, or one below it. The last row, for unknown
        labels, has no bits. All bits are 0 while no image is being processed.
    """

    boxes: NDArray[np.int64]
    groups: NDArray[np.int64]
    ious: NDArray[np.float64]
    shares: NDArray[np.float64]
    others: NDArray[np.int64]
    other_ious: NDArray[np.float64]
    fixed_ious: NDArray[np.float64]
    outcomes: NDArray[np.uint8]
    box_winners: NDArray[np.int64]
    group_winners: NDArray[np.int64]
    class_positions: NDArray[np.int32]
    annotated: NDArray[np.float64]
    own_boxes: NDArray[np.uint64]


OVERLAPS = types.NamedTuple(
    (
        *(types.int64[:, ::1] for _ in range(2)),
        *(types.float64[:, ::1] for _ in range(2)),
        types.int64[::1],
        types.float64[::1],
        types.float64[::1],
        types.uint8[:, ::1],
        *(types.int64[:, ::1] for _ in range(2)),
        types.int32[::1],
        types.float64[:, ::1],
        types.uint64[:, ::1],
    ),
    Overlaps,
)


class Outcomes(NamedTuple):
    """The results of the kernel that explains detections.

    Attributes
    ----------
    written : int64 array of shape (1,)
        Number of elements written to ``entries``.
    confidences, entries : float64 and uint32 arrays
        The entries of the precision/recall curves: the confidence, and class × CODES plus the code of the entry, which
        encodes its outcome. There are at most four entries for each prediction.
    confusions : Confusions
        The classes of the false positives with the kind of error CLASS, in images that are scored.
    box_kinds : int8 array of shape (M,)
        Kind of error that caused each ordinary box to be missed, NO_ERROR for a box that was hit.
    group_is_found : bool array of shape (G,)
        Whether, with the class hierarchy, each group-of box is found: it absorbs a prediction with a confidence above
        0 or, by FiftyOne's rules, with any confidence.
    """

    written: NDArray[np.int64]
    confidences: NDArray[np.float64]
    entries: NDArray[np.uint32]
    confusions: Confusions
    box_kinds: NDArray[np.int8]
    group_is_found: NDArray[np.bool_]


OUTCOMES_TYPE = types.NamedTuple(
    (
        types.int64[::1],
        types.float64[::1],
        types.uint32[::1],
        CONFUSIONS,
        types.int8[::1],
        types.boolean[::1],
    ),
    Outcomes,
)
