"""Labels of Open Images: classes and their hierarchy, and which of them somebody verified in which image."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evaluator.files.folder import TruthFolder, coded
from evaluator.hierarchy import Hierarchy, HierarchyCycle
from evaluator.tracks.checking import check_labels, distinct_keys, image_names
from evaluator.tracks.shared.truth_warnings import warn_contradictions, warn_denied, warn_unlisted_images

if TYPE_CHECKING:
    from evaluator.files.tables import TruthTable

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Labelling:
    """Images, labels, and what ``image_labels.csv`` tells.

    Attributes
    ----------
    images, labels : dict of str to int
        Codes.
    names : list of str
        Display names of the labels.
    closed : bool
        Whether ``classes.csv`` lists the labels.
    in_hierarchy : int or None
        How many labels the hierarchy lists, None without one; without ``classes.csv`` they are the first ones.
    ancestors : list of list of int
        Of each label.
    above, below : list of list of int
        Relatives that a label also counts for; empty where nothing is expanded.
    label_images, label_codes, present
        The rows of ``image_labels.csv``; arrays of shape (rows,).
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
        """Read the labels of a truth folder; faults are noted and not raised.

        Parameters
        ----------
        tables : mapping of file name to table
            ``image_labels.csv`` and every other one with the columns ImageID and LabelName.
        expand : bool
            Whether a label also counts for its relatives in the hierarchy.
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
                warn_denied(table, verified)
        codes = coded(verified.texts("ImageID"), images), coded(verified.texts("LabelName"), labels)
        names = [(listed or {}).get(label, label) for label in labels]
        lists = listed is not None, len(known) if hierarchy else None
        return cls(images, labels, names, *lists, ancestors, above, below, *codes, present)

    def told(self, present: bool) -> tuple[Codes, Codes]:
        """Return images and labels of what is verified as present, or as absent, relatives included.

        What is there is there for its ancestors too; what is not, is not for its descendants. Source: the Open Images
        V4 paper, 5.2.1.
        """
        chosen = self.present == present
        rows, labels = expanded(self.label_codes[chosen], self.above if present else self.below)
        return self.label_images[chosen][rows], labels

    @property
    def labelled(self) -> Codes:
        """The sorted image × label keys of what ``image_labels.csv`` verifies either way, relatives included."""
        there, absent = self.told(True), self.told(False)
        return distinct_keys(
            np.concatenate([there[0], absent[0]]), np.concatenate([there[1], absent[1]]), len(self.labels)
        )

    @property
    def listed_arrays(self) -> dict[str, Codes]:
        """How many labels, the first ones, the hierarchy lists, where it is the only public list of them."""
        alone = self.in_hierarchy is not None and not self.closed
        return {"listed_labels": np.array([self.in_hierarchy])} if alone else {}

    @property
    def ancestor_arrays(self) -> dict[str, Codes]:
        """The ancestors of all labels, and where those of each end."""
        return {
            "ancestors": np.array([ancestor for each in self.ancestors for ancestor in each], np.int64),
            "ancestor_ends": np.cumsum([len(each) for each in self.ancestors], dtype=np.int64),
        }

    @property
    def texts(self) -> dict[str, list[str]]:
        """The texts of a prepared truth."""
        return {"images": list(self.images), "labels": list(self.labels), "names": self.names}

    def flags(self, folder: TruthFolder) -> dict[str, bool]:
        """Return the flags of a prepared truth."""
        return {"images_listed": "images.csv" in folder, "labels_listed": self.closed}


def _read_hierarchy(folder: TruthFolder) -> Hierarchy | None:
    """Read ``hierarchy.json`` where it is there."""
    if "hierarchy.json" not in folder:
        return None
    try:
        return Hierarchy.of(folder.json("hierarchy.json"))
    except HierarchyCycle as error:
        folder.faults.add("truth_hierarchy_cycle", "hierarchy.json", str(error), column=error.path)
    except ValueError as error:
        folder.faults.add("truth_bad_value", "hierarchy.json", str(error))
    return None


def _check_hierarchy(table: "TruthTable", hierarchy: Hierarchy) -> None:
    """Note every label that has no place below the root."""
    outside = coded(table.texts("LabelName"), dict.fromkeys(hierarchy.ancestors, 0)) < 0
    table.mark("LabelName", outside, "truth_not_in_hierarchy", "is not below the root of hierarchy.json")


def _label_codes(
    tables: Mapping[str, "TruthTable"], hierarchy: Hierarchy | None, listed: Mapping[str, str] | None
) -> dict[str, int]:
    """Return every label with its code.

    With ``classes.csv`` its labels in its order: an ancestor that it does not list is not evaluated. Without it
    those that the hierarchy lists, sorted, and then what else the truth names, sorted.
    """
    if listed is not None:
        return {label: code for code, label in enumerate(listed)}
    public = sorted(hierarchy.ancestors if hierarchy else ())
    named = {label for table in tables.values() for label in table.frame["LabelName"].tolist()}
    return {label: code for code, label in enumerate([*public, *sorted(named - set(public))])}


def expanded(labels: Codes, relatives: list[list[int]]) -> tuple[Codes, Codes]:
    """Return each row with a copy for every relative of its label: (row, label), both of shape (N + copies,).

    >>> expanded(np.array([0, 1]), [[1, 2], []])
    (array([0, 1, 0, 0]), array([0, 1, 1, 2]))
    """
    counts = np.array([len(found) for found in relatives], np.int64)
    flat = np.array([label for found in relatives for label in found], np.int64)
    starts = np.cumsum(counts) - counts
    sizes = counts[labels]
    copies = np.repeat(np.arange(len(labels)), sizes)
    place = np.arange(len(copies)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.r_[np.arange(len(labels)), copies], np.r_[labels, flat[np.repeat(starts[labels], sizes) + place]]
