"""Defines the ground truth and the parameters of the ObjectNet track."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.tracks.shared.label_truth import by_name
from evaluator.tracks.shared.parameters import TrackParameters
from evaluator.truth import StoredArray, StoredTexts, Truth

CLASSES = 313
CLASS_IDS = {str(number): number for number in range(CLASSES)}
CONTROLS = ("background", "rotation", "viewpoint")
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class ObjectNetParameters(TrackParameters):
    """The parameters of the ObjectNet track, all of which affect the metrics."""

    top_k: int


@dataclass(frozen=True, slots=True)
class Control:
    """A condition under which the images were taken, such as the background.

    Attributes
    ----------
    name : str
        One of :data:`CONTROLS`.
    values : sequence of str
        The possible values of the control, sorted.
    codes : int64 array of shape (images,)
        The value for each image, as an index into ``values``; UNKNOWN if the value is not known.
    """

    name: str
    values: Sequence[str]
    codes: NDArray[np.int64]


class ObjectNetTruth(Truth):
    """The ground truth: the class of each image, and the conditions under which the images were taken."""

    names = StoredTexts()
    """Display name of each class; shape (CLASSES,)."""
    answers = StoredArray[np.int64]()
    """Class of each image, UNKNOWN for an image without an answer; shape (images,)."""

    @property
    def public_texts(self) -> dict[str, Sequence[str]]:
        """The strings that participants may see: image ids, and the display names of all classes."""
        return {**super().public_texts, "names": self.names}

    @property
    def classes_by_name(self) -> dict[str, str]:
        """A dict that maps each display name in ``classes.csv``, in lower case, to its class id."""
        return by_name(list(CLASS_IDS), self.names)

    @property
    def controls(self) -> list[Control]:
        """The conditions under which the images were taken, from ``controls.csv``; empty without this file."""
        known = (name for name in CONTROLS if name in self.arrays)
        return [Control(name, self.texts[name], self.arrays[name]) for name in known]
