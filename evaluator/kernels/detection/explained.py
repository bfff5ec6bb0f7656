"""The data of the kernel that explains detections: their predictions, the rules of the hierarchy, and the outcomes."""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels.jit import read_only

# What became of a prediction, or what else an entry of a curve is. A false positive has the outcome FALSE plus its kind
# of error (``evaluator.metrics.errors``). FIXABLE is a false positive of kind LOCALIZATION that would hit a box if its
# error were fixed; of kind CLASS, it has an additional entry of the class of that box, whose outcome is ARRIVAL.
UNVERIFIED, IGNORED, HIT, ABSORBED, GROUP, PLAIN_GROUP, ARRIVAL, FIXABLE, FALSE = range(9)
OUTCOMES = 16
# What became of a prediction without the hierarchy: PLAIN_LEFT_OUT if it is absorbed, ignored or no prediction.
PLAIN_UNVERIFIED, PLAIN_FALSE, PLAIN_HIT, PLAIN_LEFT_OUT = range(4)
# The code of an entry is the outcome, plus these values × 1 for a private image, × the outcome without the hierarchy,
# and × the size of the prediction (of the box that it hits, for a hit).
PRIVATE_CODE, PLAIN_CODE, SIZE_CODE = 16, 32, 128
# Bits of ``Predictions.caps``: the prediction is within the cap, with and without the hierarchy.
WITHIN_CAP, PLAIN_WITHIN_CAP = 1, 2
# Indices into ``Outcomes.counts``.
WRITTEN, CONFUSIONS = 0, 1


class Hierarchy(NamedTuple):
    """The parts of a ground truth that the score does not need: which objects are copies for the hierarchy.

    Attributes
    ----------
    box_is_annotated, group_is_annotated : bool arrays of shapes (M,) and (G,)
        Whether each ordinary box and each group-of box is a row of boxes.csv and not a copy for an ancestor.
    verified_plain : bool array of shape (V,)
        Whether each verified class of an image would be verified without the hierarchy.
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
    """N predictions, image by image, and in each image in the order of the file.

    Attributes
    ----------
    images, labels : int32 arrays of shape (N,)
        The label is -1 if it is not in the ground truth.
    numbers : float64 array of shape (N, 5)
        Confidence, XMin, XMax, YMin and YMax.
    caps : uint8 array of shape (N,), or empty if no image is overfull
        WITHIN_CAP and PLAIN_WITHIN_CAP.
    """

    images: NDArray[np.int32]
    labels: NDArray[np.int32]
    numbers: NDArray[np.float64]
    caps: NDArray[np.uint8]


PREDICTIONS = types.NamedTuple(
    (types.int32[::1], types.int32[::1], types.float64[:, ::1], types.uint8[::1]), Predictions
)


class Overlaps(NamedTuple):
    """Scratch memory of one thread: the objects that N predictions overlap most, and the predictions that win objects.

    Attributes
    ----------
    boxes, groups : int64 arrays of shape (2, N)
        Index of the ordinary box and of the group-of box of its class that each prediction overlaps most, -1 if there
        is none; in the first row with the hierarchy, in the second row without it.
    ious, shares : float64 arrays of shape (2, N)
        Overlaps with these boxes.
    others : int64 array of shape (N,)
        Index of the annotated box of another class that each prediction overlaps most, -1 if there is none.
    other_ious, fixed_ious : float64 arrays of shape (N,)
        Overlap with that box, and with the box that the prediction would hit if its error were fixed.
    outcomes : uint8 array of shape (2, N)
    box_winners : int64 array of shape (3, boxes of one image)
        Index of the prediction that hits each box, with and without the hierarchy, and of the prediction that would hit
        it if its error were fixed; -1 if there is none.
    group_winners : int64 array of shape (2, groups of one image)
        Index of the most confident prediction that each group-of box absorbs, with and without the hierarchy.
    class_positions : int32 array of shape (labels,)
        As in :class:`evaluator.kernels.detection.state.DetectionState`.
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
    ),
    Overlaps,
)


class Outcomes(NamedTuple):
    """The results of the kernel.

    Attributes
    ----------
    counts : int64 array of shape (2,)
        Number of entries, and of confusions.
    confidences, entries : float64 and uint32 arrays
        The entries of the curves: (class × CODES) plus the code. At most four for each prediction.
    confusions : int64 array
        For each false positive of kind CLASS: (label of the box × labels + predicted label) × 2, plus 1 for a private
        image; -1 for an image that is not scored.
    box_kinds : int8 array of shape (M,)
        Kind of error that caused each ordinary box to be missed, NO_ERROR for a box that was hit.
    group_is_found : bool array of shape (G,)
        Whether a prediction with a confidence above 0 lies in each group-of box.
    """

    counts: NDArray[np.int64]
    confidences: NDArray[np.float64]
    entries: NDArray[np.uint32]
    confusions: NDArray[np.int64]
    box_kinds: NDArray[np.int8]
    group_is_found: NDArray[np.bool_]


OUTCOMES_TYPE = types.NamedTuple(
    (
        types.int64[::1],
        types.float64[::1],
        types.uint32[::1],
        types.int64[::1],
        types.int8[::1],
        types.boolean[::1],
    ),
    Outcomes,
)
