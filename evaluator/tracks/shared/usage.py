"""Which images of a truth are public, private or ignored."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from evaluator.files.folder import TruthFolder, coded
from evaluator.truth import IGNORED, PUBLIC, USAGES


def usage_of(folder: TruthFolder, images: Mapping[str, int]) -> NDArray[np.int8]:
    """Return each image's usage, int8 of shape (images,); everything is public without ``usage.csv``."""
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
