"""Defines the ground truth and the parameters of the grounding track."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluator.tracks.shared.parameters import TrackParameters
from evaluator.truth import StoredArray, StoredTexts, Truth

Targets = tuple[NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class GroundingParameters(TrackParameters):
    """The parameters of the grounding track, all of which affect matching."""

    box_rule: Literal["merged", "any"]
    iou_threshold: float


class GroundingTruth(Truth):
    """The ground truth: phrases with their boxes, sorted by image, by sentence and by their order in the sentence."""

    sentences = StoredTexts()
    """Image id and number of each sentence that has a phrase, as ``image#number``."""
    types = StoredTexts()
    """Names of all phrase types, sorted."""
    phrase_images = StoredArray[np.int64]("images")
    """Code of the image of each phrase; shape (P,)."""
    phrase_starts = StoredArray[np.int64]("phrases_from")
    """Index of the first phrase of each sentence, followed by P; shape (sentences + 1,)."""
    boxes = StoredArray[np.float64]()
    """x1, x2, y1 and y2 of each box in pixels; shape (B, 4)."""
    box_starts = StoredArray[np.int64]("boxes_from")
    """Index of the first box of each phrase, followed by B; shape (P + 1,)."""
    has_type = StoredArray[np.bool_]("types")
    """Whether each phrase has each of the phrase types in ``types``; shape (P, types)."""

    @property
    def public_texts(self) -> dict[str, Sequence[str]]:
        """The strings that participants may see: image ids and sentences."""
        return {**super().public_texts, "sentences": self.sentences}

    @property
    def public_arrays(self) -> dict[str, NDArray[np.int64]]:
        """The arrays that participants may see: the index of the first evaluated phrase of each sentence."""
        return {"phrases_from": self.phrase_starts}

    def targets(self, rule: Literal["merged", "any"]) -> Targets:
        """Return the boxes to match: the phrase of each box, ascending, shape (M,), and the boxes, shape (M, 4).

        Parameters
        ----------
        rule : str
            ``any`` to use each box, ``merged`` to use the smallest box around all boxes of a phrase.

        Notes
        -----
        Sources: the Flickr30k Entities paper for ``merged``, the evaluation of MDETR for ``any``.
        """
        boxes, starts = self.boxes, self.box_starts[:-1]
        if rule == "any":
            return np.repeat(np.arange(len(starts)), np.diff(self.box_starts)), boxes
        low, high = np.minimum.reduceat(boxes, starts), np.maximum.reduceat(boxes, starts)
        return np.arange(len(starts)), np.stack([low[:, 0], high[:, 1], low[:, 2], high[:, 3]], axis=1)
