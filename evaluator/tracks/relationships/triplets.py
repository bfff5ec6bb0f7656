"""Defines the columns of a triplet, and triplet keys, which encode an image, two labels and a relation as a number."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LABELS = ("LabelName1", "LabelName2")
FIRST = ("XMin1", "XMax1", "YMin1", "YMax1")
SECOND = ("XMin2", "XMax2", "YMin2", "YMax2")

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TripletKeys:
    """Converts the codes of a triplet to its key and back.

    Attributes
    ----------
    labels : int
        Number of labels in the ground truth.
    relations : int
        Number of relations in the ground truth. All relations that are not in the ground truth share the code after the
        last relation.

    Examples
    --------
    A triplet in image 5 has the labels 0 and 2 and the relation 1. :meth:`decode` does not return the image.

    >>> keys = TripletKeys(labels=3, relations=2)
    >>> key = keys.encode(np.array([5]), np.array([0]), np.array([2]), np.array([1]))
    >>> [codes.item() for codes in keys.decode(key)]
    [0, 2, 1]
    """

    labels: int
    relations: int

    def encode(self, images: Codes, first: Codes, second: Codes, relations: Codes) -> Codes:
        """Return the key of each triplet, shape (N,), from four arrays of codes of the same shape."""
        return ((images * self.labels + first) * self.labels + second) * (self.relations + 1) + relations

    def without_images(self, keys: Codes) -> Codes:
        """Return a number for each key that encodes only the labels and the relation of the triplet."""
        return np.asarray(keys % (max(self.labels, 1) ** 2 * (self.relations + 1)))

    def decode(self, keys: Codes) -> tuple[Codes, Codes, Codes]:
        """Return the codes of the first label, the second label and the relation of each key, each of shape (N,)."""
        labels = max(self.labels, 1)
        rest, relations = np.divmod(keys, self.relations + 1)
        rest, second = np.divmod(rest, labels)
        return rest % labels, second, relations
