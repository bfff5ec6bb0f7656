"""Checks ground truth folders for the compilers of all tracks, and warns about data that is probably wrong."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluator.files.cells import shortened
from evaluator.files.faults import Faults
from evaluator.files.folder import TruthFolder, coded
from evaluator.texts import counted
from evaluator.truth import IGNORED, PUBLIC, USAGES, Truth

if TYPE_CHECKING:
    from evaluator.files.tables import TruthTable

SHOWN_LABELS = 5
AnyTruth = TypeVar("AnyTruth", bound=Truth)


class Position(NamedTuple):
    """The position at which an image first occurs in a ground truth whose annotations are not in CSV tables.

    ``column`` may be a path in a JSON file.
    """

    file: str
    line: int | None = None
    column: str | None = None


def image_names(folder: TruthFolder, tables: Mapping[str, "TruthTable"]) -> list[str]:
    """Return the sorted image ids of a ground truth: those in ``images.csv`` or, without that file, in any table."""
    if "images.csv" not in folder:
        return sorted({image for table in tables.values() for image in table.texts("ImageID")})
    images = _listing(folder)
    for table in tables.values():
        outside = np.array([image not in images for image in table.frame["ImageID"].tolist()], bool)
        table.mark("ImageID", outside, "truth_bad_value", "is not in images.csv")
    return sorted(images)


def listed_images(folder: TruthFolder, named: Mapping[str, Position]) -> list[str]:
    """Return the sorted image ids of a ground truth whose annotations are not in CSV tables.

    These are the ids in ``images.csv`` or, without that file, in ``named``, which contains the annotated images. An id
    in ``named`` that is empty or that ``images.csv`` does not list is reported as a fault.
    """
    images = _listing(folder) if "images.csv" in folder else set(named)
    for image, (file, line, column) in named.items():
        if not image or image not in images:
            what = f"image {shortened(image)} is not in images.csv" if image else "the id of an image is empty"
            folder.faults.add("truth_bad_value", file, what, line=line, column=column)
    return sorted(images)


def _listing(folder: TruthFolder) -> set[str]:
    """Return the image ids in ``images.csv``. Record a warning for every repeated id."""
    table = folder.table("images.csv")
    repeated = table.frame.duplicated(["ImageID"]).to_numpy(bool)
    table.warn("ImageID", repeated, "truth_duplicate", "is already listed in an earlier row")
    return set(table.texts("ImageID"))


def check_labels(table: "TruthTable", column: str, known: Mapping[str, Any], listing: str) -> None:
    """Check a column of labels. Record a fault for every label that is not in the list of known labels."""
    outside = coded(table.texts(column), dict.fromkeys(known, 0)) < 0
    table.mark(column, outside, "truth_unknown_label", f"is not in {listing}")


def check_boxes(table: "TruthTable", boxes: NDArray[np.float64], suffix: str = "") -> None:
    """Record a fault for every box whose minimum exceeds its maximum, and warnings as in :func:`warn_boxes`."""
    warn_boxes(table, boxes, suffix)
    for axis, low, high in (("X", 0, 1), ("Y", 2, 3)):
        inverted = boxes[:, low] > boxes[:, high]
        table.mark(f"{axis}Min{suffix}", inverted, "truth_inverted_box", f"is larger than {axis}Max{suffix}")


def group_flags(table: "TruthTable") -> NDArray[np.bool_]:
    """Return whether each row of a table describes a group of objects.

    Warn about values of ``IsGroupOf`` that are neither 0 nor 1.
    """
    is_group: NDArray[np.bool_] = table.integers("IsGroupOf") != 0
    values = table.numbers("IsGroupOf")[:, 0]
    for value, chosen in (("0", ~is_group), ("1", is_group)):
        suspect = chosen & (values != float(value)) & ~np.isnan(values)
        table.warn("IsGroupOf", suspect, "truth_group_of", f"is neither 0 nor 1, so it counts as {value}")
    return is_group


def distinct_keys(images: NDArray[np.int64], labels: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the sorted distinct (image, label) pairs, each encoded as ``image * count + label``.

    ``count`` is the number of labels.
    """
    return np.unique(images * count + labels)


def checked(faults: Faults, truth: AnyTruth) -> AnyTruth:
    """Return the ground truth with the warnings about its folder. Raise InvalidTruth if the folder has faults."""
    faults.check()
    return replace(truth, warnings=faults.warned)


def usage_of(folder: TruthFolder, images: Mapping[str, int]) -> NDArray[np.int8]:
    """Return the usage of each image (public, private or ignored), shape (images,).

    Without ``usage.csv``, all images are public.
    """
    if "usage.csv" not in folder:
        return np.full(len(images), PUBLIC, np.int8)
    table = folder.table("usage.csv")
    words = [word.strip().lower() for word in table.texts("Usage")]
    kinds = coded(words, USAGES)
    table.mark("Usage", kinds < 0, "truth_bad_value", "is not Public, Private or Ignored")
    codes = coded(table.texts("ImageID"), images)
    usage = np.full(len(images), IGNORED, np.int8)
    usage[codes[codes >= 0]] = kinds[codes >= 0]
    what = "is not an image of this ground truth, so the row is ignored"
    table.warn("ImageID", codes < 0, "truth_unknown_image", what)
    listed = np.bincount(codes[codes >= 0], minlength=len(images))
    table.mark("ImageID", np.isin(codes, np.flatnonzero(listed > 1)), "truth_bad_value", "is listed more than once")
    names = list(images)
    for code in np.flatnonzero(listed == 0).tolist():
        folder.faults.add("truth_usage_incomplete", "usage.csv", f"image {names[code]} has no row", column="ImageID")
    return usage


def warn_unlisted_images(folder: TruthFolder) -> None:
    """Warn if the ground truth folder of a challenge has no ``images.csv``, which lists all images.

    Without this file, only the annotated images are known. The template submission, which lists all known images, would
    then show participants which images have annotations.
    """
    if folder.hidden and "images.csv" not in folder:
        message = "is missing, so the template submission lists only the annotated images; list every image"
        folder.faults.warn("truth_images_unlisted", "images.csv", message)


def warn_unused(folder: TruthFolder, listing: str, listed: Iterable[str], used: Container[str]) -> None:
    """Record a single warning about all listed labels that no object in the ground truth has."""
    unused = [label for label in listed if label not in used]
    if unused:
        have, they = ("has", "it has") if len(unused) == 1 else ("have", "they have")
        message = f"{counted(len(unused), 'label')} {have} no objects, so {they} no score: {_some(unused)}"
        folder.faults.warn("truth_class_without_objects", listing, message)


def warn_nameless(folder: TruthFolder, listing: str, labels: Sequence[str]) -> None:
    """Record a single warning about the given labels, which have no display name in the file ``listing``."""
    if labels:
        message = f"there is no name for {counted(len(labels), 'label')} of the ground truth: {_some(labels)}"
        folder.faults.warn("truth_class_without_name", listing, message)


def warn_labels_with_spaces(
    folder: TruthFolder, listing: str, labels: Iterable[str], tables: Mapping[str, "TruthTable"]
) -> None:
    """Record a single warning about the labels that a prediction string cannot contain, if the track has such strings.

    Spaces and tabs separate the tokens of a prediction string. The warning names the file ``listing`` or, without this
    file, the first of the ``tables`` that has such a label.
    """
    spaced = [label for label in labels if " " in label or "\t" in label]
    if spaced and folder.track.form.tokens:
        have = "label has spaces" if len(spaced) == 1 else "labels have spaces"
        use = "so participants must use the layout with one row for each prediction"
        message = f"{len(spaced):,} {have}, which separate the tokens of a prediction string, {use}: {_some(spaced)}"
        using = (name for name, table in tables.items() if table.frame.isin(spaced).to_numpy().any())
        file = listing if listing in folder else next(using, "hierarchy.json")
        folder.faults.warn("truth_label_with_space", file, message)


def _some(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - SHOWN_LABELS:,} more" if len(labels) > SHOWN_LABELS else ""
    return ", ".join(shortened(label) for label in labels[:SHOWN_LABELS]) + more


def warn_boxes(table: "TruthTable", boxes: NDArray[np.float64], suffix: str = "") -> None:
    """Warn about boxes that have no area or are outside the image, for example because their coordinates are in pixels.

    Parameters
    ----------
    boxes : float64 array of shape (N, 4)
        XMin, XMax, YMin, YMax.
    suffix : str
        Last part of the column names, such as ``1``.
    """
    for axis, low, high in (("X", 0, 1), ("Y", 2, 3)):
        empty = boxes[:, low] == boxes[:, high]
        table.warn(f"{axis}Min{suffix}", empty, "truth_empty_box", f"equals {axis}Max{suffix}: no box can overlap it")
        for end, column in (("Min", low), ("Max", high)):
            outside = (boxes[:, column] < 0) | (boxes[:, column] > 1)
            what = "is outside the image; coordinates are fractions from 0 to 1, not pixels"
            table.warn(f"{axis}{end}{suffix}", outside, "truth_outside_image", what)


def warn_duplicates(table: "TruthTable", columns: Sequence[str], what: str) -> None:
    """Warn about rows that equal an earlier row in all given columns.

    ``what`` is the noun that the warning uses for the object in a row, such as "box".
    """
    repeated = table.frame.duplicated(list(columns)).to_numpy(bool)
    table.warn(
        "ImageID",
        repeated,
        "truth_duplicate",
        f"already has this {what} in an earlier row; a prediction can match only one of them",
    )


def warn_contradictions(labels: "TruthTable") -> None:
    """Warn about verified labels that are repeated or contradictory, or whose Confidence is neither 0 nor 1.

    A verified label states whether an image shows a class.
    """
    frame = labels.frame[["ImageID", "LabelName"]].assign(present=labels.integers("Confidence") == 1)
    repeated = frame.duplicated().to_numpy(bool)
    labels.warn("LabelName", repeated, "truth_duplicate", "is already verified for this image in an earlier row")
    both = frame.groupby(["ImageID", "LabelName"])["present"].transform("nunique") > 1
    labels.warn("LabelName", both.to_numpy(bool), "truth_contradiction", "is verified as both 0 and 1 for this image")
    confidences = labels.numbers("Confidence")[:, 0]
    is_other = ~np.isin(confidences, (0.0, 1.0)) & ~np.isnan(confidences)
    labels.warn("Confidence", is_other, "truth_confidence", "is neither 0 nor 1, so it counts as 0")


def warn_absent_labels(objects: "TruthTable", labels: "TruthTable") -> None:
    """Warn about objects whose class is verified as absent from their image, and not also as present."""
    verified = list(zip(labels.texts("ImageID"), labels.texts("LabelName"), strict=True))
    are_present = (labels.integers("Confidence") == 1).tolist()
    present = {pair for pair, is_present in zip(verified, are_present, strict=True) if is_present}
    absent = set(verified) - present
    pairs = zip(objects.texts("ImageID"), objects.texts("LabelName"), strict=True)
    denied = np.array([pair in absent for pair in pairs], bool)
    objects.warn("LabelName", denied, "truth_contradiction", f"is verified as absent from this image in {labels.file}")
