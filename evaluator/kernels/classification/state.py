"""Defines the ground truth that the classification kernels read, and the state that they change."""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from evaluator.kernels.jit import inlined, read_only
from evaluator.kernels.reading import NEGATIVE
from evaluator.kernels.text.lookup import INDEX, TextIndex

# Number of elements in the array ``counts``; evaluator.kernels.reading defines the index of each counter.
COUNTS = NEGATIVE + 1


class KernelTruth(NamedTuple):
    """The verified labels, sorted by image and label. All arrays are read-only.

    A label is *verified* in an image if annotators have verified it as present or absent. Other labels are not scored
    in the image.

    Attributes
    ----------
    images, labels : TextIndex
    closed : bool array of shape (2,)
        Whether an unknown image is a defect, and whether an unknown label is a defect.
    listed : int64
        Labels whose code is at least this number count as unknown; see ``LabelTruth.public_labels``.
    verified_from : int32 array of shape (images + 1,)
        Position in ``verified`` of the first verified label of each image.
    verified : int32 array of shape (V + 16 * search_steps,)
        Codes of the verified labels of all images, ascending in each image.
    search_steps : int64
        Number of steps to search the verified labels of an image; see
        :func:`evaluator.kernels.text.csv_blocks.searchable`.
    """

    images: TextIndex
    labels: TextIndex
    closed: NDArray[np.bool_]
    listed: int
    verified_from: NDArray[np.int32]
    verified: NDArray[np.int32]
    search_steps: int


TRUTH = types.NamedTuple(
    (
        INDEX,
        INDEX,
        read_only(types.boolean),
        types.int64,
        read_only(types.int32),
        read_only(types.int32),
        types.int64,
    ),
    KernelTruth,
)


class ClassificationState(NamedTuple):
    """The results of one thread. Only this thread writes to the arrays.

    Attributes
    ----------
    counts, named, image_predictions, unknown_image_hashes
        As for :class:`evaluator.kernels.detection.state.DetectionState`.
    class_positions : int32 array of shape (labels + 1,)
        Position of each label of the current image in ``KernelTruth.verified``, or its spare position if the label is
        not verified in the image; see :func:`spare_position`. The last element is for unknown labels. All elements are
        spare positions while no image is being processed.
    highest : float64 array of shape (P + labels + 1,)
        Highest confidence that was read for each element of ``KernelTruth.verified``, whose length is P; -inf if there
        is none. The spare positions, which follow, receive the confidences of labels that are not scored. They are
        stored like all others, so that the running time does not reveal which labels are verified.
    """

    counts: NDArray[np.int64]
    named: NDArray[np.uint8]
    image_predictions: NDArray[np.int32]
    unknown_image_hashes: NDArray[np.uint64]
    class_positions: NDArray[np.int32]
    highest: NDArray[np.float64]


STATE = types.NamedTuple(
    (
        types.int64[::1],
        types.uint8[::1],
        types.int32[::1],
        types.uint64[::1],
        types.int32[::1],
        types.float64[::1],
    ),
    ClassificationState,
)


@inlined
def spare_position(truth, label):
    """Return the position in ``ClassificationState.highest`` for a label that is not verified in an image.

    All unknown labels, whose code is -1, share a position.
    """
    return np.int64(len(truth.verified)) + (label if label >= 0 else np.int64(len(truth.labels.starts) - 1))
