"""Images with more predictions than are sure to count: their predictions are collected, and the cap is applied to them.

Which images these are, and what is kept of them, never depends on what is annotated: the truth only decides between
predictions that are equally sure.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.detection.overfull import overlaps_of
from evaluator.kernels.detection.state import COLLECTED, MOST_PER_IMAGE_AND_CLASS, DetectionState, DetectionTruth
from evaluator.metrics.matching import surest


class Collected(NamedTuple):
    """Sound predictions; arrays of shapes (N,), (N,) and (N, 5): as the kernels' state has them."""

    images: NDArray[np.int32]
    labels: NDArray[np.int32]
    predictions: NDArray[np.float64]

    def only(self, chosen: NDArray[np.int64]) -> "Collected":
        """Return the chosen ones."""
        return Collected(self.images[chosen], self.labels[chosen], self.predictions[chosen])


def overfull_images(states: Sequence[DetectionState]) -> NDArray[np.bool_]:
    """Tell which images have more predictions than an image may have of one class, over all threads."""
    return np.asarray(np.sum([state.rows for state in states], axis=0) > MOST_PER_IMAGE_AND_CLASS)


def collected(state: DetectionState) -> Collected:
    """Return what a thread has put aside."""
    count = int(state.counts[COLLECTED])
    return Collected(state.collected_images[:count], state.collected_labels[:count], state.collected[:count])


def joined(parts: Sequence[Collected]) -> Collected:
    """Put together what all threads have put aside."""
    return Collected(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def capped(truth: DetectionTruth, found: Collected) -> Collected:
    """Return the surest of each image and label, image by image; labels that the truth does not know are one label."""
    labels = len(truth.labels.starts)  # one more than there are
    keys = found.images.astype(np.int64) * labels + found.labels + 1

    def rivalry(rivals: NDArray[np.int64]) -> tuple[NDArray[np.float64], Sequence[NDArray[np.float64]]]:
        overlaps, theirs = np.empty(len(rivals)), found.only(rivals)
        overlaps_of(truth, *theirs, overlaps)
        return overlaps, list(theirs.predictions[:, 1:].T)

    kept = surest(MOST_PER_IMAGE_AND_CLASS, keys, found.predictions[:, 0], rivalry)
    return found.only(kept[np.argsort(found.images[kept], kind="stable")])
