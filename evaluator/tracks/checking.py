"""Checks that the truth compilers of all tracks share."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluator.files.faults import Faults
from evaluator.files.folder import TruthFolder, coded
from evaluator.tracks.shared.truth_warnings import warn_boxes
from evaluator.truth import IGNORED, PUBLIC, USAGES, Truth

if TYPE_CHECKING:
    from evaluator.files.tables import TruthTable

AnyTruth = TypeVar("AnyTruth", bound=Truth)


def image_names(folder: TruthFolder, tables: Mapping[str, "TruthTable"]) -> list[str]:
    """Return all images of a truth, sorted: those of ``images.csv`` if it exists, else those of all tables."""
    if "images.csv" not in folder:
        return sorted({image for table in tables.values() for image in table.texts("ImageID")})
    listing = folder.table("images.csv")
    images = set(listing.texts("ImageID"))
    for table in tables.values():
        outside = np.array([image not in images for image in table.frame["ImageID"].tolist()], bool)
        table.mark("ImageID", outside, "truth_bad_value", "is not in images.csv")
    return sorted(images)


def listed_images(folder: TruthFolder, named: Sequence[str], file: str) -> list[str]:
    """Return all images of a truth without tables, sorted: those of ``images.csv`` if it exists, else ``named``.

    An image of ``named`` that ``images.csv`` does not list is a fault.
    """
    if "images.csv" not in folder:
        return sorted(set(named))
    images = set(folder.table("images.csv").texts("ImageID"))
    for image in named:
        if image not in images:
            folder.faults.add("truth_bad_value", file, f"image {image} is not in images.csv")
    return sorted(images)


def check_labels(table: "TruthTable", column: str, known: Mapping[str, Any], listing: str) -> None:
    """Add a fault for every label that is not in the class list."""
    outside = coded(table.texts(column), dict.fromkeys(known, 0)) < 0
    table.mark(column, outside, "truth_unknown_label", f"is not in {listing}")


def check_boxes(table: "TruthTable", boxes: NDArray[np.float64], suffix: str = "") -> None:
    """Add a fault for every inverted box, and a warning for every box that is probably wrong."""
    warn_boxes(table, boxes, suffix)
    for axis, low, high in (("X", 0, 1), ("Y", 2, 3)):
        inverted = boxes[:, low] > boxes[:, high]
        table.mark(f"{axis}Min{suffix}", inverted, "truth_inverted_box", f"is larger than {axis}Max{suffix}")


def distinct_keys(images: NDArray[np.int64], labels: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the sorted distinct (image, label) pairs as ``image * count + label``."""
    return np.unique(images * count + labels)


def checked(faults: Faults, truth: AnyTruth) -> AnyTruth:
    """Return the truth with the folder's warnings, or raise InvalidTruth with all faults."""
    faults.check()
    return replace(truth, warnings=faults.warned)


def usage_of(folder: TruthFolder, images: Mapping[str, int]) -> NDArray[np.int8]:
    """Return the usage of each image, shape (images,); without ``usage.csv`` all images are public."""
    if "usage.csv" not in folder:
        return np.full(len(images), PUBLIC, np.int8)
    table = folder.table("usage.csv")
    words = [word.strip().lower() for word in table.texts("Usage")]
    kinds = coded(words, USAGES)
    table.mark("Usage", kinds < 0, "truth_bad_value", "is none of Public, Private, Ignored")
    codes = coded(table.texts("ImageID"), images)
    usage = np.full(len(images), IGNORED, np.int8)
    usage[codes[codes >= 0]] = kinds[codes >= 0]
    listed = np.bincount(codes[codes >= 0], minlength=len(images))
    table.mark("ImageID", np.isin(codes, np.flatnonzero(listed > 1)), "truth_bad_value", "is listed more than once")
    names = list(images)
    for code in np.flatnonzero(listed == 0).tolist():
        folder.faults.add("truth_usage_incomplete", "usage.csv", f"image {names[code]} has no row", column="ImageID")
    return usage
