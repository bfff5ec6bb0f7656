"""Defines the ground truth and the parameters of the segmentation track."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.metrics.mapped_bytes import MappedBytes
from evaluator.metrics.masks import Masks
from evaluator.metrics.matching import contains
from evaluator.tracks.detection.candidates import ancestors_of
from evaluator.tracks.shared.label_truth import ObjectTruth
from evaluator.tracks.shared.parameters import TrackParameters
from evaluator.truth import StoredArray, StoredTexts, Texts


@dataclass(frozen=True, slots=True)
class SegmentationParameters(TrackParameters):
    """The parameters of the segmentation track.

    Attributes
    ----------
    expand_hierarchy : bool
        Whether objects are copied for the ancestors of their class, and verified labels for their ancestors or
        descendants.
    iou_threshold : float
        Smallest overlap for a match.
    group_of_weight : float
        The amount that a group adds to the positives and, if it is matched, to the true positives.
    expand_predictions : bool
        Whether every detection also counts as a detection of each ancestor of its class.
    require_all_images : bool
        Whether a submission must have a row for every image; a missing row is a defect.
    """

    expand_hierarchy: bool
    iou_threshold: float
    group_of_weight: float
    expand_predictions: bool
    require_all_images: bool


class SegmentationTruth(ObjectTruth):
    """The ground truth: ordinary objects and groups, each with a mask or with only a box, and the verified classes.

    A class is verified in an image if its presence or absence is known. Objects without a mask are not among the
    positives. A box is given as XMin, XMax, YMin, YMax.
    """

    object_keys = StoredArray[np.int64]("mask_keys")
    """Key (image and label) of each ordinary object with a mask, ascending; shape (M,)."""
    group_keys = StoredArray[np.int64]("group_mask_keys")
    """Key (image and label) of each group of objects with a mask, ascending; shape (G,)."""
    object_masks = StoredArray[np.int64]("masks")
    """Row of masks.csv with the mask of each object in ``object_keys``, counted from 0; shape (M,)."""
    group_masks = StoredArray[np.int64]()
    """Row of masks.csv with the mask of each group in ``group_keys``, counted from 0; shape (G,)."""
    box_keys = StoredArray[np.int64]()
    """Key (image and label) of each ordinary object without a mask, ascending; shape (B,)."""
    boxes = StoredArray[np.float64]()
    """Box of each ordinary object without a mask; shape (B, 4)."""
    group_box_keys = StoredArray[np.int64]()
    """Key (image and label) of each group of objects without a mask, ascending; shape (H,)."""
    group_boxes = StoredArray[np.float64]()
    """Box of each group of objects without a mask; shape (H, 4)."""
    run_lengths = StoredTexts("masks")
    """The compressed run lengths in each row of masks.csv, as COCO writes them."""
    areas = StoredArray[np.int64]()
    """Number of pixels of the mask in each row of masks.csv; shape (rows,)."""
    widths = StoredArray[np.int64]()
    """Width of each image in pixels, 0 if it is not known; shape (images,)."""
    heights = StoredArray[np.int64]()
    """Height of each image in pixels, 0 if it is not known; shape (images,)."""

    @property
    def public_arrays(self) -> dict[str, NDArray[np.int64]]:
        """The arrays that participants may see: the image sizes, and those of :attr:`LabelTruth.public_arrays`."""
        return {**super().public_arrays, "widths": self.widths, "heights": self.heights}

    @property
    def object_is_annotated(self) -> NDArray[np.bool_]:
        """Whether each ordinary object is a row of masks.csv and not a copy for an ancestor; shape (M,)."""
        return self._is_annotated(self.object_keys, self.object_masks)

    @property
    def group_is_annotated(self) -> NDArray[np.bool_]:
        """Whether each group is a row of masks.csv and not a copy for an ancestor; shape (G,)."""
        return self._is_annotated(self.group_keys, self.group_masks)

    def _is_annotated(self, keys: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        # A copy is recognized by its class, which is an ancestor of the class of another object with the same mask.
        _, labels = self.images_and_labels(keys)
        origins, ancestors = ancestors_of(self.ancestors_from, self.ancestors, labels)
        copies = np.unique(rows[origins] * len(self.labels) + ancestors)
        return ~contains(copies, rows * len(self.labels) + labels)

    @property
    def masks_of_objects(self) -> Masks:
        """The masks of the M ordinary objects."""
        return self._masks(self.object_masks)

    @property
    def masks_of_groups(self) -> Masks:
        """The masks of the G groups."""
        return self._masks(self.group_masks)

    @property
    def all_masks(self) -> Masks:
        """The masks of the M ordinary objects, followed by those of the G groups."""
        return self._masks(np.concatenate([self.object_masks, self.group_masks]))

    def _masks(self, rows: NDArray[np.int64]) -> Masks:
        """Return the masks in the given rows of masks.csv. The run lengths in a prepared file are not copied."""
        texts = self.run_lengths if isinstance(self.run_lengths, Texts) else Texts.of(self.run_lengths)
        begins, ends = np.append(0, texts.ends), texts.ends
        return Masks(MappedBytes(texts.data), np.stack([begins[rows], ends[rows]], axis=1), self.areas[rows])
