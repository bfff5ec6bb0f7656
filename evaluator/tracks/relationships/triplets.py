"""Two boxes and how they are related: what truth and submission share."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

LABELS = ("LabelName1", "LabelName2")
FIRST = ("XMin1", "XMax1", "YMin1", "YMax1")
SECOND = ("XMin2", "XMax2", "YMin2", "YMax2")


def triplet_keys(
    texts: Mapping[str, Sequence[str]],
    images: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    relations: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return one number for image, label, label and relation, shape (N,)."""
    labels = len(texts["labels"])
    return ((images * labels + first) * labels + second) * (len(texts["relations"]) + 1) + relations


def classes_of(
    texts: Mapping[str, Sequence[str]], keys: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the two labels and the relation of triplet keys, each of shape (N,)."""
    labels = max(len(texts["labels"]), 1)
    rest, relations = np.divmod(keys, len(texts["relations"]) + 1)
    rest, second = np.divmod(rest, labels)
    return rest % labels, second, relations
