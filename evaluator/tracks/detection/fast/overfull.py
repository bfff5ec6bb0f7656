"""Applies the cap, which is the maximum number of predictions per class and image that are scored.

Images whose total number of predictions exceeds the cap are called overfull. Which images are overfull, and how many
of their predictions remain, must not depend on the ground truth. Otherwise, running time and memory use would reveal
annotations. The ground truth is used only to choose between predictions of equal confidence.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.detection.overfull import overlaps_of
from evaluator.kernels.detection.state import COLLECTED, MAX_PER_IMAGE_AND_CLASS, DetectionState, KernelTruth
from evaluator.metrics.confidence_cap import most_confident


class Collected(NamedTuple):
    """Predictions in overfull images, which have more than 10,000 predictions.

    Predictions whose box has no area are not included.

    Attributes
    ----------
    images, labels : int32 arrays of shape (N,)
    predictions : float64 array of shape (N, 5)
        Confidence, XMin, XMax, YMin and YMax of each prediction.
    """

    images: NDArray[np.int32]
    labels: NDArray[np.int32]
    predictions: NDArray[np.float64]

    def only(self, chosen: NDArray[np.int64]) -> "Collected":
        """Return the predictions with the given indices."""
        return Collected(self.images[chosen], self.labels[chosen], self.predictions[chosen])


def collected(state: DetectionState) -> Collected:
    """Return the predictions that one thread has collected in overfull images (with more than 10,000 predictions)."""
    count = int(state.counts[COLLECTED])
    return Collected(state.collected_images[:count], state.collected_labels[:count], state.collected[:count])


def joined(parts: Sequence[Collected]) -> Collected:
    """Return the predictions that all threads have collected in overfull images (with more than 10,000 predictions)."""
    return Collected(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def capped(truth: KernelTruth, found: Collected) -> Collected:
    """Return the most confident predictions for each image and label, ordered by image.

    At most ``MAX_PER_IMAGE_AND_CLASS`` predictions are returned for an image and a label.
    """
    kept = within_cap(truth, found)
    return found.only(kept[np.argsort(found.images[kept], kind="stable")])


def within_cap(truth: KernelTruth, found: Collected) -> NDArray[np.int64]:
    """Return the indices, in ascending order, of the most confident predictions for each image and label.

    At most ``MAX_PER_IMAGE_AND_CLASS`` indices are returned for an image and a label. All labels that are not in the
    ground truth are treated as one label.
    """
    labels = len(truth.labels.starts)  # Labels that are not in the ground truth count as one additional label.
    keys = found.images.astype(np.int64) * labels + found.labels + 1

    def tie_breaks(rivals: NDArray[np.int64]) -> tuple[NDArray[np.float64], Sequence[NDArray[np.float64]]]:
        overlaps, chosen = np.empty(len(rivals)), found.only(rivals)
        overlaps_of(truth, *chosen, overlaps)
        return overlaps, list(chosen.predictions[:, 1:].T)

    return most_confident(MAX_PER_IMAGE_AND_CLASS, keys, found.predictions[:, 0], tie_breaks)
