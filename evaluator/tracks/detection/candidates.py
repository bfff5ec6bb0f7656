"""Finds the detections in a submission (boxes or masks) that can be matched with objects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.submission import SubmissionTable
from evaluator.kernels import LOWEST_CONFIDENCE
from evaluator.metrics.confidence_cap import TieBreaks, most_confident
from evaluator.metrics.matching import contains, positions_in_groups
from evaluator.tracks.shared.label_truth import ObjectTruth

MAX_PER_IMAGE_AND_CLASS = 10_000


@dataclass(slots=True)
class Detections:
    """N detections in a submission.

    Attributes
    ----------
    images, labels : int64 arrays of shape (N,)
        Image code and label code of each detection; -1 for a label that is not in the ground truth.
    confidences : float64 array of shape (N,)
    boxes : float64 array of shape (N, 4)
    rows : int64 array of shape (N,)
        Row of the submission table that each detection comes from.
    indices : int64 array of shape (N,)
        Index of each detection among all detections in the submission, as returned by :func:`predicted`.
    """

    images: NDArray[np.int64]
    labels: NDArray[np.int64]
    confidences: NDArray[np.float64]
    boxes: NDArray[np.float64]
    rows: NDArray[np.int64]
    indices: NDArray[np.int64]

    def __getitem__(self, chosen: NDArray[Any]) -> "Detections":
        """Return the detections selected by a Boolean mask or by indices."""
        return Detections(
            self.images[chosen],
            self.labels[chosen],
            self.confidences[chosen],
            self.boxes[chosen],
            self.rows[chosen],
            self.indices[chosen],
        )

    def __len__(self) -> int:
        """Return the number of detections."""
        return len(self.images)

    def keys(self, truth: ObjectTruth) -> NDArray[np.int64]:
        """Return the key of each detection, shape (N,); -1 for unknown labels.

        A key encodes the image and the label of a detection as one number.
        """
        return np.where(self.labels < 0, -1, self.images * len(truth.labels) + self.labels)

    @property
    def coordinates(self) -> list[NDArray[np.float64]]:
        """The four coordinates of the boxes, in the order in which they are used to break ties."""
        return [self.boxes[:, axis] for axis in range(4)]


def predicted(truth: ObjectTruth, table: SubmissionTable, boxes: NDArray[np.float64], *, expand: bool) -> Detections:
    """Return all detections in a submission. Those whose label is in the ground truth come first.

    Parameters
    ----------
    truth : ObjectTruth
    table : SubmissionTable
    boxes : float64 array of shape (rows of the table, 4)
    expand : bool
        Whether each detection is copied for every ancestor of its label.
    """
    codes = table.codes("LabelName")
    rows, others = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    labels = codes[rows]
    if expand:
        copies, ancestors = ancestors_of(truth.ancestors_from, truth.ancestors, labels)
        rows, labels = np.r_[rows, rows[copies]], np.r_[labels, ancestors]
    rows, labels = np.r_[rows, others], np.r_[labels, codes[others]]
    confidences = table.numbers("Score")[rows, 0]
    return Detections(table.codes("image")[rows], labels, confidences, boxes[rows], rows, np.arange(len(rows)))


def ancestors_of(
    ancestors_from: NDArray[np.int64], ancestors: NDArray[np.int64], labels: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ancestors of all given labels as two arrays: index into ``labels``, and code of the ancestor.

    Each index is repeated once for every ancestor of its label. Both arrays have the shape (copies,).
    ``ancestors_from`` and ``ancestors`` are those of :class:`~evaluator.tracks.shared.label_truth.ObjectTruth`.

    >>> ancestors_of(np.array([0, 0, 2]), np.array([7, 8]), np.array([0, 1]))
    (array([1, 1]), array([7, 8]))
    """
    counts = np.diff(ancestors_from)[labels]
    origins = np.repeat(np.arange(len(labels)), counts)
    return origins, ancestors[np.repeat(ancestors_from[labels], counts) + positions_in_groups(origins)]


def are_valid(detections: Detections) -> NDArray[np.bool_]:
    """Return whether each detection has a positive area and a confidence above ``LOWEST_CONFIDENCE``, shape (N,)."""
    boxes = detections.boxes
    has_area = (boxes[:, 0] < boxes[:, 1]) & (boxes[:, 2] < boxes[:, 3])
    return np.asarray(has_area & (detections.confidences > LOWEST_CONFIDENCE))


def are_verified(truth: ObjectTruth, detections: Detections) -> NDArray[np.bool_]:
    """Return whether each detection has a label that is verified as present or absent in its image, shape (N,)."""
    # Without detections, the arrays of the ground truth are not needed, so they are not read.
    if not len(detections):
        return np.zeros(0, bool)
    return contains(truth.verified, detections.keys(truth))


def indices_within_cap(truth: ObjectTruth, detections: Detections, tie_breaks: TieBreaks) -> NDArray[np.int64]:
    """Return the indices of the most confident detections, at most 10,000 for each image and label.

    This limit applies to every label, whether or not it is verified (known to be present or absent) in the image. All
    labels that are not in the ground truth are treated as one label.
    """
    keys = detections.images * (len(truth.labels) + 1) + detections.labels + 1
    return most_confident(MAX_PER_IMAGE_AND_CLASS, keys, detections.confidences, tie_breaks)
