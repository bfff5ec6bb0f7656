"""Reads the labels of Open Images: classes, their hierarchy, and the labels that annotators verified in each image."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evaluator.files.folder import TruthFolder, coded
from evaluator.hierarchy import Hierarchy, HierarchyCycle, InvalidHierarchy
from evaluator.tracks.checking import (
    check_labels,
    distinct_keys,
    image_names,
    warn_absent_labels,
    warn_contradictions,
    warn_labels_with_spaces,
    warn_unlisted_images,
    warn_unused,
)

if TYPE_CHECKING:
    from evaluator.files.tables import TruthTable

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Labelling:
    """The images, the labels, and the verified labels of a ground truth folder.

    Attributes
    ----------
    images, labels : dict of str to int
        Code of each image and of each label.
    names : list of str
        Display name of each label.
    closed : bool
        Whether ``classes.csv`` lists the labels.
    in_hierarchy : int or None
        Number of labels in the hierarchy, None without a hierarchy. Without ``classes.csv``, these labels have the
        first codes.
    ancestors : list of list of int
        Ancestors of each label.
    above, below : list of list of int
        Ancestors and descendants to which each label is copied. The lists are empty if labels are not copied.
    label_images, label_codes : int64 arrays of shape (rows,)
        Image and label in each row of ``image_labels.csv``.
    present : bool array of shape (rows,)
        Whether the label is verified as present.
    """

    images: dict[str, int]
    labels: dict[str, int]
    names: list[str]
    closed: bool
    in_hierarchy: int | None
    ancestors: list[list[int]]
    above: list[list[int]]
    below: list[list[int]]
    label_images: Codes
    label_codes: Codes
    present: NDArray[np.bool_]

    @classmethod
    def of(cls, folder: TruthFolder, tables: Mapping[str, "TruthTable"], *, expand: bool) -> "Labelling":
        """Read the labels of a ground truth folder. Faults are added to those of the folder.

        Parameters
        ----------
        tables : mapping of file name to table
            ``image_labels.csv`` and all other tables with the columns ImageID and LabelName.
        expand : bool
            Whether labels are copied to their ancestors and descendants in the hierarchy.
        """
        warn_unlisted_images(folder)
        images = {image: code for code, image in enumerate(image_names(folder, tables))}
        hierarchy = _read_hierarchy(folder)
        listed = folder.names("classes.csv") if "classes.csv" in folder else None
        for table in tables.values():
            if listed is not None:
                check_labels(table, "LabelName", listed, "classes.csv")
            if hierarchy is not None and expand:
                _check_hierarchy(table, hierarchy)
        labels = _label_codes(tables, hierarchy, listed)
        known = hierarchy.ancestors if hierarchy else {}
        ancestors = [sorted(labels[a] for a in known.get(label, ()) if a in labels) for label in labels]
        above: list[list[int]] = ancestors if expand else [[] for _ in labels]
        below: list[list[int]] = [[] for _ in labels]
        for label, its_ancestors in enumerate(above):
            for ancestor in its_ancestors:
                below[ancestor].append(label)
        verified = tables["image_labels.csv"]
        present = verified.integers("Confidence") == 1
        warn_contradictions(verified)
        for table in tables.values():
            if table is not verified:
                warn_absent_labels(table, verified)
        own = _labels_of_objects(tables, verified, present)
        warn_unused(folder, "classes.csv", listed or (), own.union(*(known.get(label, ()) for label in own)))
        warn_labels_with_spaces(folder, "classes.csv", labels, tables)
        codes = coded(verified.texts("ImageID"), images), coded(verified.texts("LabelName"), labels)
        names = [(listed or {}).get(label, label) for label in labels]
        lists = listed is not None, len(known) if hierarchy else None
        return cls(images, labels, names, *lists, ancestors, above, below, *codes, present)

    def verified_as(self, *, present: bool) -> tuple[Codes, Codes]:
        """Return the image and the code of each label verified as present, or as absent if ``present`` is false.

        Implied labels are included: if a label is present, its ancestors are present too. If a label is absent, its
        descendants are absent too.
        Source: the Open Images V4 paper, 5.2.1.
        """
        chosen = self.present == present
        rows, labels = expanded(self.label_codes[chosen], self.above if present else self.below)
        return self.label_images[chosen][rows], labels

    @property
    def labelled(self) -> Codes:
        """The keys, in ascending order, of labels that are verified in an image or implied by a verified label.

        The key of a label in an image is (image code × number of labels + label code).
        """
        present, absent = self.verified_as(present=True), self.verified_as(present=False)
        images, labels = (np.concatenate(columns) for columns in zip(present, absent, strict=True))
        return distinct_keys(images, labels, len(self.labels))

    @property
    def listed_arrays(self) -> dict[str, Codes]:
        """A dict with the array ``listed_labels`` of a prepared ground truth, or an empty dict.

        ``listed_labels`` has one element: the number of labels in the hierarchy. It exists only if the ground truth has
        a hierarchy but no ``classes.csv``.
        """
        alone = self.in_hierarchy is not None and not self.closed
        return {"listed_labels": np.array([self.in_hierarchy])} if alone else {}

    @property
    def ancestor_arrays(self) -> dict[str, Codes]:
        """The arrays in which a prepared ground truth stores the ancestors of all labels."""
        return {
            "ancestors": np.array([ancestor for each in self.ancestors for ancestor in each], np.int64),
            "ancestor_ends": np.cumsum([len(each) for each in self.ancestors], dtype=np.int64),
        }

    @property
    def texts(self) -> dict[str, list[str]]:
        """The sequences of strings in a prepared ground truth: image ids, labels and display names."""
        return {"images": list(self.images), "labels": list(self.labels), "names": self.names}

    def flags(self, folder: TruthFolder) -> dict[str, bool]:
        """Return the flags of a prepared ground truth: whether its folder has images.csv and classes.csv."""
        return {"images_listed": "images.csv" in folder, "labels_listed": self.closed}


def _read_hierarchy(folder: TruthFolder) -> Hierarchy | None:
    """Return the hierarchy, or None if there is no ``hierarchy.json`` or if it has a fault."""
    if "hierarchy.json" not in folder:
        return None
    try:
        return Hierarchy.of(folder.json("hierarchy.json"))
    except InvalidHierarchy as error:
        code = "truth_hierarchy_cycle" if isinstance(error, HierarchyCycle) else "truth_bad_value"
        folder.faults.add(code, "hierarchy.json", str(error), column=error.path)
    return None


def _check_hierarchy(table: "TruthTable", hierarchy: Hierarchy) -> None:
    """Record a fault for every label that is not below the root of the hierarchy."""
    outside = coded(table.texts("LabelName"), dict.fromkeys(hierarchy.ancestors, 0)) < 0
    table.mark("LabelName", outside, "truth_not_in_hierarchy", "is not below the root of hierarchy.json")


def _labels_of_objects(
    tables: Mapping[str, "TruthTable"], verified: "TruthTable", present: NDArray[np.bool_]
) -> set[str]:
    """Return the labels of all objects. If the ground truth has no objects, return the labels verified as present."""
    objects = [table for table in tables.values() if table is not verified]
    if objects:
        return {label for table in objects for label in table.texts("LabelName")}
    return {
        label for label, is_present in zip(verified.texts("LabelName"), present.tolist(), strict=True) if is_present
    }


def _label_codes(
    tables: Mapping[str, "TruthTable"], hierarchy: Hierarchy | None, listed: Mapping[str, str] | None
) -> dict[str, int]:
    """Return a dict that maps each label to its code.

    If there is a ``classes.csv``, only its labels have codes, in the order of the file. Ancestors that the file does
    not list are not evaluated. Without ``classes.csv``, the sorted labels of the hierarchy come first, followed by the
    other labels in sorted order.
    """
    if listed is not None:
        return {label: code for code, label in enumerate(listed)}
    public = sorted(hierarchy.ancestors if hierarchy else ())
    named = {label for table in tables.values() for label in table.frame["LabelName"].tolist()}
    return {label: code for code, label in enumerate([*public, *sorted(named - set(public))])}


def expanded(labels: Codes, relatives: list[list[int]]) -> tuple[Codes, Codes]:
    """Return the given labels, followed by the relatives (ancestors or descendants) of each of them.

    Parameters
    ----------
    labels : int64 array of shape (N,)
    relatives : list of list of int
        Relatives of each label, indexed by label code.

    Returns
    -------
    rows : int64 array of shape (N + copies,)
        For each element of ``expanded``, the index in ``labels`` of the label from which it was derived.
    expanded : int64 array of the same shape

    Examples
    --------
    >>> expanded(np.array([0, 1]), [[1, 2], []])
    (array([0, 1, 0, 0]), array([0, 1, 1, 2]))
    """
    counts = np.array([len(found) for found in relatives], np.int64)
    flat = np.array([label for found in relatives for label in found], np.int64)
    starts = np.cumsum(counts) - counts
    sizes = counts[labels]
    copies = np.repeat(np.arange(len(labels)), sizes)
    offsets = np.arange(len(copies)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.r_[np.arange(len(labels)), copies], np.r_[labels, flat[np.repeat(starts[labels], sizes) + offsets]]
