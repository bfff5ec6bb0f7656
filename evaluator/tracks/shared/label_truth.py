"""Members that the truths of several tracks have: labels, verified labels, and objects in a hierarchy of labels."""

from functools import cached_property
from typing import Self, overload

import numpy as np
from numpy.typing import NDArray

from evaluator.truth import PRIVATE, PUBLIC, StoredArray, StoredTexts, Truth

USAGES_OF_SPLITS = {"all": [PUBLIC, PRIVATE], "public": [PUBLIC], "private": [PRIVATE]}
IndexArrays = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64]]


class StoredIndex:
    """A typed member of a truth class that reads the hash table of some of its texts.

    Its value has the three arrays of :class:`evaluator.kernels.text.lookup.TextIndex`, which is not imported here
    because that loads numba.

    Parameters
    ----------
    name : str
        Name of the texts in the truth.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, truth: None, owner: type[Truth]) -> Self: ...
    @overload
    def __get__(self, truth: Truth, owner: type[Truth]) -> IndexArrays: ...
    def __get__(self, truth: Truth | None, owner: type[Truth]) -> Self | IndexArrays:
        """Return slots, starts and words of the hash table."""
        if truth is None:
            return self
        slots, starts, words = (truth.arrays[f"{self._name}.{part}"] for part in ("slots", "starts", "words"))
        return slots, starts, words


class LabelTruth(Truth):
    """The truth of a track whose submissions name labels."""

    labels = StoredTexts()
    """Each label; its index is its code."""

    @property
    def labels_listed(self) -> bool:
        """Whether ``classes.csv`` lists the labels, so that a label that it does not list is a defect."""
        return self.flags["labels_listed"]

    @cached_property
    def label_codes(self) -> dict[str, int]:
        """Code of each label."""
        return {label: code for code, label in enumerate(self.labels)}

    @property
    def public_labels(self) -> tuple[int, bool]:
        """Number n, and whether the first n labels are from a public list. All later labels count as unknown.

        The public list is ``classes.csv`` or, without it, the hierarchy. Without either, n is the number of all labels.
        """
        if not self.labels_listed and "listed_labels" in self.arrays:
            return int(self.arrays["listed_labels"][0]), True
        return len(self.labels), self.labels_listed


class VerifiedTruth(LabelTruth):
    """The truth of a track in which annotators verified some labels of each image as present or absent.

    A label that was not verified in an image is not scored in it. The *key* of an image and a label is the code of the
    image × number of labels + the code of the label.
    """

    names = StoredTexts()
    """Display name of each label."""
    verified = StoredArray[np.int64]()
    """Keys of the verified labels of all images, ascending and distinct; shape (V,)."""

    def images_and_labels(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the codes of the image and of the label of each key, two arrays of the shape of ``keys``."""
        images, labels = np.divmod(keys, max(len(self.labels), 1))
        return images, labels

    def shown_labels(self, split: str) -> list[int]:
        """Return the labels with a row in the report of a split: those of ``classes.csv``, or those verified in it.

        A row for any further label would show participants which labels only private images have.
        """
        if self.labels_listed:
            return list(range(len(self.labels)))
        images, labels = self.images_and_labels(self.verified)
        return np.flatnonzero(np.bincount(labels[self.splits[split][images]], minlength=len(self.labels))).tolist()


class ObjectTruth(VerifiedTruth):
    """The truth of a track in which objects are located: single ones, and groups that are annotated as one object.

    With a hierarchy, each object has a copy for every ancestor of its label. Objects are sorted by key (image and
    label) and then by row of the file.
    """

    object_keys = StoredArray[np.int64]()
    """Key of each ordinary object, ascending; shape (M,)."""
    group_keys = StoredArray[np.int64]()
    """Key of each group, ascending; shape (G,)."""
    object_counts = StoredArray[np.int64]("objects")
    """Number of ordinary objects and of groups by usage of the image and by label; see :func:`count_objects`."""
    ancestors = StoredArray[np.int64]()
    """Codes of the ancestors of the first label, then of the second, and so on."""
    ancestor_ends = StoredArray[np.int64]()
    """Index into ``ancestors`` after the last ancestor of each label; shape (labels,)."""

    @property
    def has_copies(self) -> bool:
        """Whether objects and labels have copies for the ancestors of their label."""
        return bool(self.parameters["expand_hierarchy"])

    def counts(self, split: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many ordinary objects and how many groups of each label a split has, both of shape (labels,)."""
        ordinary, groups = self.object_counts[USAGES_OF_SPLITS[split]].sum(axis=0)
        return ordinary, groups


def count_objects(
    object_keys: NDArray[np.int64], group_keys: NDArray[np.int64], usage: NDArray[np.int8], labels: int
) -> NDArray[np.int64]:
    """Return how many ordinary objects and how many groups of each label the images of each usage have.

    Returns
    -------
    int64 array of shape (3, 2, labels)
    """
    counts = []
    for keys in (object_keys, group_keys):
        images, codes = np.divmod(keys, max(labels, 1))
        counts.append(np.bincount(usage[images].astype(np.int64) * labels + codes, minlength=3 * labels))
    return np.stack([count.reshape(3, labels) for count in counts], axis=1)
