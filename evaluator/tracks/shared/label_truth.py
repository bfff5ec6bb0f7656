"""Defines base classes for ground truths with labels, with verified labels, and with objects in a label hierarchy."""

from collections.abc import Sequence
from functools import cached_property
from typing import Self, overload

import numpy as np
from numpy.typing import NDArray

from evaluator.derived import derived
from evaluator.truth import PRIVATE, PUBLIC, StoredArray, StoredTexts, Truth

USAGES_OF_SPLITS = {"all": [PUBLIC, PRIVATE], "public": [PUBLIC], "private": [PRIVATE]}
IndexArrays = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64]]


class StoredIndex:
    """A descriptor for ground truth classes that reads the hash table of a sequence of strings.

    The value is a tuple of the three arrays in :class:`evaluator.kernels.text.lookup.TextIndex`. That class itself is
    not used, because importing it would load numba.

    Parameters
    ----------
    name : str
        Name of the sequence in the ground truth.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, truth: None, owner: type[Truth]) -> Self: ...
    @overload
    def __get__(self, truth: Truth, owner: type[Truth]) -> IndexArrays: ...
    def __get__(self, truth: Truth | None, owner: type[Truth]) -> Self | IndexArrays:
        """Return the three arrays of the stored hash table: slots, starts and words."""
        if truth is None:
            return self
        slots, starts, words = (truth.arrays[f"{self._name}.{part}"] for part in ("slots", "starts", "words"))
        return slots, starts, words


class LabelTruth(Truth):
    """The ground truth of a track whose submissions contain labels."""

    labels = StoredTexts()
    """The id of each label. The index of a label in this sequence is its code."""

    @property
    def public_texts(self) -> dict[str, Sequence[str]]:
        """The strings that participants may see: the image ids, the public labels and their display names, if any."""
        count, listed = self.public_labels
        labels = list(self.labels)[:count] if listed else []
        labels, names = sorted_by_id(labels, self._names if self.labels_listed else ())
        return {**super().public_texts, "labels": labels, "names": names}

    @property
    def public_arrays(self) -> dict[str, NDArray[np.int64]]:
        """The arrays that participants may see: none, or only ``listed_labels``.

        ``listed_labels`` has one element: the number of labels in the hierarchy. It exists only if the ground truth has
        a hierarchy but no ``classes.csv``.
        """
        return {name: array for name, array in self.arrays.items() if name == "listed_labels"}

    @property
    def _names(self) -> Sequence[str]:
        """The display name of each label; empty in ground truths that were prepared without them."""
        return self.texts.get("names", ())

    @cached_property
    def labels_by_name(self) -> dict[str, str]:
        """A dict that maps each display name in ``classes.csv``, in lower case, to its label."""
        return by_name(self.labels, self._names if self.labels_listed else ())

    @property
    def labels_listed(self) -> bool:
        """Whether ``classes.csv`` lists the labels. If so, any other label in a submission is a defect."""
        return self.flags["labels_listed"]

    @cached_property
    def label_codes(self) -> dict[str, int]:
        """A dict that maps each label to its code."""
        return {label: code for code, label in enumerate(self.labels)}

    @property
    def public_labels(self) -> tuple[int, bool]:
        """The pair (number of public labels, True), or (number of all labels, False) if no labels are public.

        Public labels are listed in ``classes.csv`` or, without this file, in the hierarchy. They have the first codes.
        Labels with higher codes count as unknown.
        """
        if not self.labels_listed and "listed_labels" in self.arrays:
            return int(self.arrays["listed_labels"][0]), True
        return len(self.labels), self.labels_listed


def by_name(labels: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return a dict that maps each display name, in lower case, to the label with this name.

    If several labels have the same name, the first one in sorted order is used. Labels whose display name equals the
    label itself are left out.

    >>> by_name(["/m/01yrx", "/m/0199g"], ["Cat", "Bicycle"])
    {'cat': '/m/01yrx', 'bicycle': '/m/0199g'}
    """
    pairs = sorted(zip(labels, names, strict=False), reverse=True)
    return {name.lower(): label for label, name in pairs if name != label}


def sorted_by_id(labels: Sequence[str], names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return labels in sorted order together with their display names, if any.

    Sorting is necessary because the order in a ground truth file such as ``classes.csv`` may reveal how frequent the
    labels are.

    >>> sorted_by_id(["/m/dog", "/m/cat"], ["Dog", "Cat"])
    (['/m/cat', '/m/dog'], ['Cat', 'Dog'])
    """
    order = sorted(range(len(labels)), key=labels.__getitem__)
    return [labels[index] for index in order], [names[index] for index in order] if names else []


class VerifiedTruth(LabelTruth):
    """The ground truth of a track in which annotators verified some labels of each image as present or absent.

    Labels that were not verified in an image are not scored in this image. The *key* of a label in an image is (image
    code × number of labels + label code).
    """

    names = StoredTexts()
    """Display name of each label."""
    verified = StoredArray[np.int64]()
    """Keys (image and label) of the verified labels of all images, ascending and distinct; shape (V,)."""

    def images_and_labels(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the image code and the label code of each key, as two arrays with the same shape as ``keys``."""
        images, labels = np.divmod(keys, max(len(self.labels), 1))
        return images, labels

    def shown_labels(self, split: str) -> list[int]:
        """Return the labels in a split's report: those in ``classes.csv`` or, without it, those verified in the split.

        A label is verified in an image if it is known to be present or absent. If a report on the public split had rows
        for other labels, participants would learn which labels occur only in private images.
        """
        if self.labels_listed:
            return list(range(len(self.labels)))
        return derived(self, f"labels verified in the split {split}", lambda: self._verified_labels_of(split))

    def _verified_labels_of(self, split: str) -> list[int]:
        images, labels = self.images_and_labels(self.verified)
        return np.flatnonzero(np.bincount(labels[self.splits[split][images]], minlength=len(self.labels))).tolist()


class ObjectTruth(VerifiedTruth):
    """The ground truth of a track in which objects are located: individual objects, and groups annotated as one object.

    If the parameter ``expand_hierarchy`` is true, each object has a copy for every ancestor of its label. Objects are
    sorted by key (image and label) and then by row of the file.
    """

    object_keys = StoredArray[np.int64]()
    """Key (image and label as one number) of each ordinary (not group-of) object, ascending; shape (M,)."""
    group_keys = StoredArray[np.int64]()
    """Key (image and label as one number) of each group of objects, ascending; shape (G,)."""
    object_counts = StoredArray[np.int64]("objects")
    """Numbers of ordinary objects and of groups, by usage of the image (such as public) and by label; see
    :func:`count_objects`."""
    ancestors = StoredArray[np.int64]()
    """Codes of the ancestors of the first label, followed by those of the second label, and so on."""
    ancestor_ends = StoredArray[np.int64]()
    """Index into ``ancestors`` after the last ancestor of each label; shape (labels,)."""

    @property
    def ancestors_from(self) -> NDArray[np.int64]:
        """Index in ``ancestors`` of each label's first ancestor, then ``len(ancestors)``; shape (labels + 1,)."""
        return np.append(0, self.ancestor_ends)

    @property
    def object_places(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The image codes and the label codes of all objects: first the ordinary objects, then the groups."""

        def places() -> tuple[NDArray[np.int32], NDArray[np.int32]]:
            images, labels = self.images_and_labels(np.concatenate([self.object_keys, self.group_keys]))
            return images.astype(np.int32), labels.astype(np.int32)

        return derived(self, "object places", places)

    @property
    def has_copies(self) -> bool:
        """Whether objects and verified labels were copied to the ancestors or descendants of their label.

        Without a hierarchy, no label has ancestors.
        """
        return bool(self.parameters["expand_hierarchy"]) and len(self.ancestors) > 0

    def counts(self, split: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of ordinary objects and of groups with each label in a split, each of shape (labels,)."""
        ordinary, groups = self.object_counts[USAGES_OF_SPLITS[split]].sum(axis=0)
        return ordinary, groups


def count_objects(
    object_keys: NDArray[np.int64], group_keys: NDArray[np.int64], usage: NDArray[np.int8], labels: int
) -> NDArray[np.int64]:
    """Return the numbers of ordinary objects and of groups, by usage of the image (such as public) and by label.

    Returns
    -------
    int64 array of shape (3, 2, labels): by usage, kind (ordinary object or group) and label
    """
    counts = []
    for keys in (object_keys, group_keys):
        images, codes = np.divmod(keys, max(labels, 1))
        counts.append(np.bincount(usage[images].astype(np.int64) * labels + codes, minlength=3 * labels))
    return np.stack([count.reshape(3, labels) for count in counts], axis=1)
