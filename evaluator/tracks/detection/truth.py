"""Defines the ground truth and the parameters of a detection track."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.matching import contains
from evaluator.tracks.shared.label_truth import ObjectTruth, StoredIndex, count_objects
from evaluator.tracks.shared.parameters import TrackParameters
from evaluator.truth import StoredArray, StoredTexts

Keys = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class DetectionParameters(TrackParameters):
    """The parameters of the detection track.

    Attributes
    ----------
    iou_threshold : float
        Smallest overlap for a match.
    group_of_weight : float
        The amount that a group-of box adds to the positives and, if it is matched, to the true positives.
    expand_hierarchy : bool
        Whether each box of the ground truth is copied for the ancestors of its label, and each verified label for its
        ancestors or descendants.
    expand_predictions : bool
        Whether every detection also counts as a detection of each ancestor of its class.
    require_all_images : bool
        Whether a submission must have a row for every image; a missing row is a defect.
    protocol : str
        The matching rules: those of the official Open Images code, or those of FiftyOne.
    classwise : bool
        Whether a detection matches only objects of its own class. False is allowed only with FiftyOne's rules.
    """

    iou_threshold: float
    group_of_weight: float
    expand_hierarchy: bool
    expand_predictions: bool
    require_all_images: bool
    protocol: Literal["tfod", "fiftyone"]
    classwise: bool


class DetectionTruth(ObjectTruth):
    """The ground truth: ordinary and group-of boxes, and the classes that are verified in each image.

    A class is verified in an image if its presence or absence is known. A box is given as XMin, XMax, YMin, YMax.
    """

    object_keys = StoredArray[np.int64]("box_keys")
    """Key (image and label as one number) of each ordinary (not group-of) box, ascending; shape (B,)."""
    boxes = StoredArray[np.float64]()
    """XMin, XMax, YMin and YMax of each ordinary (not group-of) box; shape (B, 4)."""
    group_boxes = StoredArray[np.float64]()
    """XMin, XMax, YMin and YMax of each group-of box, which contains several objects; shape (G, 4)."""
    object_rows = StoredArray[np.int32]("box_rows")
    """Row of boxes.csv that each ordinary box comes from, counted from 0; shape (B,)."""
    group_rows = StoredArray[np.int32]()
    """Row of boxes.csv that each group-of box comes from, counted from 0; shape (G,)."""
    row_labels = StoredArray[np.int32]()
    """Code of the label in each row of boxes.csv; shape (rows,)."""
    attribute_names = StoredTexts("attributes")
    """Columns of boxes.csv that describe a box and do not change the score, such as IsOccluded."""
    attributes = StoredArray[np.int8]()
    """Value of each attribute in each row of boxes.csv: 1 yes, 0 no, -1 unknown; shape (rows, attributes)."""
    labelled = StoredArray[np.int64]()
    """Keys of the labels verified in image_labels.csv, and of the labels that the hierarchy derives from them,
    ascending; shape (L,)."""
    labelled_unexpanded = StoredArray[np.int64]()
    """Keys of the labels verified in image_labels.csv, without labels derived from the hierarchy, ascending."""

    image_index = StoredIndex("images")
    """Hash table that maps each image id to its code."""
    label_index = StoredIndex("labels")
    """Hash table that maps each label to its code."""
    verified_from = StoredArray[np.int32]()
    """Index into ``verified`` of the first key of each image, followed by the number of keys; shape (images + 1,)."""
    verified_labels = StoredArray[np.int32]()
    """Code of the label of each key (image and label) in the array ``verified``; shape (V,)."""
    boxes_from = StoredArray[np.int32]()
    """Index into ``boxes`` of the first box of each key in ``verified``, followed by B; shape (V + 1,)."""
    groups_from = StoredArray[np.int32]()
    """Index into ``group_boxes`` of the first box of each key in ``verified``, followed by G; shape (V + 1,)."""

    @property
    def object_is_annotated(self) -> Mask:
        """Whether each ordinary box is a row of boxes.csv and not a copy for an ancestor; shape (B,)."""
        return self._is_annotated(self.object_keys, self.object_rows)

    @property
    def group_is_annotated(self) -> Mask:
        """Whether each group-of box is a row of boxes.csv and not a copy for an ancestor; shape (G,)."""
        return self._is_annotated(self.group_keys, self.group_rows)

    def _is_annotated(self, keys: Keys, rows: NDArray[np.int32]) -> Mask:
        return np.asarray(self.images_and_labels(keys)[1] == self.row_labels[rows])

    def without_unlabelled(self) -> Self:
        """Return the ground truth restricted to labels verified in image_labels.csv, and to boxes with these labels.

        Labels that the hierarchy derives from verified labels are kept too.
        """
        objects, groups = (contains(self.labelled, keys) for keys in (self.object_keys, self.group_keys))
        return self._part(objects, groups, verified=self.labelled)

    def for_reports(self, verified: Keys, counts: Keys) -> Self:
        """Return a ground truth with other verified labels, and with only the arrays that score reports need.

        Parameters
        ----------
        verified : int64 array
            As in :attr:`~evaluator.tracks.shared.label_truth.VerifiedTruth.verified`.
        counts : int64 array of shape (3, 2, labels)
            As ``object_counts``.
        """
        arrays = {name: self.arrays[name] for name in ("usage", "listed_labels") if name in self.arrays}
        return replace(self, arrays={**arrays, "verified": verified, "objects": counts})

    def without_copies(self) -> Self:
        """Return the ground truth without the copies of boxes and verified labels that the hierarchy adds."""
        objects, groups = self.object_is_annotated, self.group_is_annotated
        keys = [self.object_keys[objects], self.group_keys[groups], self.labelled_unexpanded]
        return self._part(objects, groups, verified=np.unique(np.concatenate(keys)))

    def without_copied_boxes(self) -> Self:
        """Return the ground truth without the copies of boxes that the hierarchy adds. All verified labels are kept.

        Verified labels are those known to be present or absent in an image.
        """
        return self._part(self.object_is_annotated, self.group_is_annotated, verified=self.verified)

    def _part(self, objects: Mask, groups: Mask, *, verified: Keys) -> Self:
        """Return the ground truth restricted to the selected boxes.

        The arrays for the kernels still describe the whole ground truth.
        """
        object_keys, group_keys = self.object_keys[objects], self.group_keys[groups]
        changed: Mapping[str, NDArray[Any]] = {
            "verified": verified,
            "box_keys": object_keys,
            "boxes": self.boxes[objects],
            "box_rows": self.object_rows[objects],
            "group_keys": group_keys,
            "group_boxes": self.group_boxes[groups],
            "group_rows": self.group_rows[groups],
            "objects": count_objects(object_keys, group_keys, self.usage, len(self.labels)),
        }
        return replace(self, arrays={**self.arrays, **changed})


def class_ranges(
    verified: NDArray[np.int64],
    boxes: NDArray[np.int64],
    groups: NDArray[np.int64],
    *,
    images: int,
    labels: int,
) -> dict[str, NDArray[Any]]:
    """Return the arrays that list the verified classes of each image, and the boxes and groups of each such class.

    ``verified_from`` contains the index in ``verified`` of the first key of each image. ``boxes_from`` and
    ``groups_from`` contain the indices of the first box and of the first group of each key in ``verified``. The last
    element of each of these arrays is the length of ``verified``, ``boxes`` or ``groups``.

    A class is verified in an image if its presence or absence is known. ``verified``, ``boxes`` and ``groups`` are
    ascending keys (image × number of labels + label).
    """
    after = np.append(verified, np.iinfo(np.int64).max)
    return {
        "verified_from": np.searchsorted(verified, np.arange(images + 1) * labels).astype(np.int32),
        "verified_labels": (verified % max(labels, 1)).astype(np.int32),
        "boxes_from": np.searchsorted(boxes, after).astype(np.int32),
        "groups_from": np.searchsorted(groups, after).astype(np.int32),
    }
