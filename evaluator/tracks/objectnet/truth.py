"""The truth and the parameters of the ObjectNet track."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.tracks.shared.parameters import TrackParameters
from evaluator.truth import StoredArray, StoredTexts, Truth

CLASSES = 313
CLASS_IDS = {str(number): number for number in range(CLASSES)}
CONTROLS = ("background", "rotation", "viewpoint")
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class ObjectNetParameters(TrackParameters):
    """The parameters that metrics depend on."""

    top_k: int


@dataclass(frozen=True, slots=True)
class Control:
    """A property of how the images were taken.

    Attributes
    ----------
    name : str
        One of :data:`CONTROLS`.
    values : sequence of str
        Its values, sorted.
    codes : int64 array of shape (images,)
        Index of the value of each image, UNKNOWN if unknown.
    """

    name: str
    values: Sequence[str]
    codes: NDArray[np.int64]


class ObjectNetTruth(Truth):
    """The class of each image, and how the images were taken."""

    names = StoredTexts()
    """Display name of each class; shape (CLASSES,)."""
    answers = StoredArray[np.int64]()
    """Class of each image, UNKNOWN for an image without an answer; shape (images,)."""

    @property
    def controls(self) -> list[Control]:
        """The controls; an empty list if the truth folder had no ``controls.csv``."""
        known = (name for name in CONTROLS if name in self.arrays)
        return [Control(name, self.texts[name], self.arrays[name]) for name in known]
