"""What every track's module provides, and what they all do alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Track
from evaluator.files.submission import Table, Vocabularies, Vocabulary
from evaluator.files.tables import Faults, TruthFolder, TruthTable, coded
from evaluator.problems import Findings
from evaluator.report import SplitReport
from evaluator.truth import Truth

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Contest:
    """The four things a track can do; its declaration stands in ``evaluator.catalog``."""

    track: Track
    compile: Callable[[TruthFolder, Mapping[str, Any]], Truth]
    vocabularies: Callable[[Truth], Vocabularies]
    inspect: Callable[[Table, Findings], None]
    evaluate: Callable[[Truth, Table, Mapping[str, Any], Progress], dict[str, SplitReport]]


def image_names(folder: TruthFolder, tables: Mapping[str, TruthTable]) -> list[str]:
    """Return every image of a truth, sorted: of ``images.csv`` where it is there, else of all tables together."""
    if "images.csv" not in folder:
        return sorted({image for table in tables.values() for image in table.texts("ImageID")})
    listing = folder.table("images.csv")
    images = set(listing.texts("ImageID"))
    for table in tables.values():
        outside = np.array([image not in images for image in table.frame["ImageID"].tolist()], bool)
        table.mark("ImageID", outside, "truth_bad_value", "is not in images.csv")
    return sorted(images)


def check_labels(table: TruthTable, column: str, known: Mapping[str, Any], listing: str) -> None:
    """Note every label that the class list does not hold."""
    outside = coded(table.texts(column), dict.fromkeys(known, 0)) < 0
    table.mark(column, outside, "truth_unknown_label", f"is not in {listing}")


def check_boxes(table: TruthTable, boxes: NDArray[np.float64], suffix: str = "") -> None:
    """Note every inverted box; a box without area may stand, it just cannot be reached."""
    for axis, low, high in (("X", 0, 1), ("Y", 2, 3)):
        inverted = boxes[:, low] > boxes[:, high]
        table.mark(f"{axis}Min{suffix}", inverted, "truth_inverted_box", f"is larger than {axis}Max{suffix}")


def distinct_keys(images: NDArray[np.int64], labels: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the sorted distinct (image, label) pairs as ``image * count + label``."""
    return np.unique(images * count + labels)


def contains(sorted_keys: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell for each key whether it is among the sorted ones.

    >>> contains(np.array([2, 5]), np.array([5, 6]))
    array([ True, False])
    """
    if not len(sorted_keys):
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[at] == keys)


def vocabularies_of(truth: Truth) -> dict[str, Vocabulary]:
    """Return the image ids and labels that a truth knows."""
    return {
        "image": Vocabulary(truth.image_codes, closed=truth.flags["images_listed"]),
        "label": Vocabulary(truth.label_codes, closed=truth.flags["labels_listed"]),
    }


def notice_boxes(findings: Findings, confidences: NDArray[np.float64], boxes: list[NDArray[np.float64]]) -> None:
    """Count what is scored by the rules but was hardly meant."""
    inverted, outside = np.zeros(len(confidences), bool), np.zeros(len(confidences), bool)
    for corners in boxes:
        inverted |= (corners[:, 0] >= corners[:, 1]) | (corners[:, 2] >= corners[:, 3])
        outside |= ((corners < 0) | (corners > 1)).any(axis=1)
    findings.notice("inverted_box", "boxes whose Min is not below their Max: they can hit nothing", int(inverted.sum()))
    findings.notice("outside_image", "boxes that reach outside 0 to 1; used as they are", int(outside.sum()))
    beyond = (confidences < 0) | (confidences > 1)
    findings.notice("confidence_range", "confidences outside 0 to 1; used as they are", int(beyond.sum()))


def checked(faults: Faults, truth: Truth) -> Truth:
    """Return the truth, or raise InvalidTruth with everything that was found on the way."""
    faults.check()
    return truth
