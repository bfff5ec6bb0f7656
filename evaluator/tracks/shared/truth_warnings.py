"""Warnings about content of a truth that is valid but was probably not intended."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from evaluator.files.folder import TruthFolder
    from evaluator.files.tables import TruthTable


def warn_unlisted_images(folder: "TruthFolder") -> None:
    """Warn if the truth of a challenge lists only the annotated images.

    The template submission lists the same images, so participants would see which images have an annotation.
    """
    if folder.hidden and "images.csv" not in folder:
        message = "is missing, so the template submission lists only the annotated images; list every image"
        folder.faults.warn("truth_images_unlisted", "images.csv", message)


def warn_boxes(table: "TruthTable", boxes: NDArray[np.float64], suffix: str = "") -> None:
    """Warn about boxes that have no area or are outside the image, for example because they are in pixels.

    Parameters
    ----------
    boxes : float64 array of shape (N, 4)
        XMin, XMax, YMin, YMax.
    suffix : str
        Last part of the names of the columns.
    """
    for axis, low, high in (("X", 0, 1), ("Y", 2, 3)):
        empty = boxes[:, low] == boxes[:, high]
        table.warn(f"{axis}Min{suffix}", empty, "truth_empty_box", f"equals {axis}Max{suffix}: no box can overlap it")
        for end, column in (("Min", low), ("Max", high)):
            outside = (boxes[:, column] < 0) | (boxes[:, column] > 1)
            what = "is outside the image; coordinates are fractions from 0 to 1, not pixels"
            table.warn(f"{axis}{end}{suffix}", outside, "truth_outside_image", what)


def warn_duplicates(table: "TruthTable", columns: Sequence[str], what: str) -> None:
    """Warn about rows that are equal to an earlier row in all of these columns.

    ``what`` names what a row describes, such as a box.
    """
    repeated = table.frame.duplicated(list(columns)).to_numpy(bool)
    table.warn(
        "ImageID",
        repeated,
        "truth_duplicate",
        f"already has this {what} in an earlier row; a prediction can match only one of them",
    )


def warn_contradictions(labels: "TruthTable") -> None:
    """Warn about classes verified as present and as absent in one image, and about confidences other than 0 and 1."""
    frame = labels.frame[["ImageID", "LabelName"]].assign(present=labels.integers("Confidence") == 1)
    both = frame.groupby(["ImageID", "LabelName"])["present"].transform("nunique") > 1
    labels.warn("LabelName", both.to_numpy(bool), "truth_contradiction", "is verified as both 0 and 1 for this image")
    confidences = labels.numbers("Confidence")[:, 0]
    is_other = ~np.isin(confidences, (0.0, 1.0)) & ~np.isnan(confidences)
    labels.warn("Confidence", is_other, "truth_confidence", "is neither 0 nor 1; it counts as 0")


def warn_absent_labels(objects: "TruthTable", labels: "TruthTable") -> None:
    """Warn about objects whose class is verified as absent from their image, and not as present."""
    verified = list(zip(labels.texts("ImageID"), labels.texts("LabelName"), strict=True))
    are_present = (labels.integers("Confidence") == 1).tolist()
    present = {pair for pair, is_present in zip(verified, are_present, strict=True) if is_present}
    absent = set(verified) - present
    pairs = zip(objects.texts("ImageID"), objects.texts("LabelName"), strict=True)
    denied = np.array([pair in absent for pair in pairs], bool)
    objects.warn("LabelName", denied, "truth_contradiction", f"is verified as absent from this image in {labels.file}")
