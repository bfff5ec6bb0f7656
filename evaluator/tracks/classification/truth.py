"""Defines the ground truth of the image-level classification track."""

import numpy as np

from evaluator.tracks.shared.label_truth import StoredIndex, VerifiedTruth
from evaluator.truth import StoredArray


class ClassificationTruth(VerifiedTruth):
    """The ground truth: the labels that annotators verified as present or as absent in each image."""

    present = StoredArray[np.bool_]()
    """Whether each verified label is present; shape (V,). A label verified as both present and absent is present."""

    image_index = StoredIndex("images")
    """Hash table that maps each image id to its code."""
    label_index = StoredIndex("labels")
    """Hash table that maps each label to its code."""
    verified_from = StoredArray[np.int32]()
    """Index into ``verified`` of the first key of each image, followed by the number of keys; shape (images + 1,)."""
    verified_labels = StoredArray[np.int32]()
    """Code of the label of each key (image and label) in the array ``verified``; shape (V,)."""

    @property
    def has_kernel_arrays(self) -> bool:
        """Whether the ground truth contains the arrays that only the kernels use.

        Ground truths that were prepared before this track had kernels do not contain them.
        """
        return "verified_from" in self.arrays
