"""A detection truth with a part of it left out: another protocol's, or what an ablation asks for."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.tracks.detection.summary import count_objects
from evaluator.tracks.interface import contains
from evaluator.truth import Truth


def labelled(truth: Truth) -> Truth:
    """Leave out boxes of classes that the label file does not name in their image; only the label file verifies."""
    keys = truth.arrays["labelled"]
    return _restricted(
        truth, contains(keys, truth.arrays["box_keys"]), contains(keys, truth.arrays["group_keys"]), verified=keys
    )


def as_annotated(truth: Truth) -> Truth:
    """Leave out what the hierarchy has added: boxes count for the class of their row, labels for themselves."""
    boxes, groups = is_row(truth, "box"), is_row(truth, "group")
    keys = [truth.arrays["box_keys"][boxes], truth.arrays["group_keys"][groups], truth.arrays["labelled_unexpanded"]]
    return _restricted(truth, boxes, groups, verified=np.unique(np.concatenate(keys)))


def annotated_boxes(truth: Truth) -> Truth:
    """Leave out the copies of boxes that the hierarchy has added, and no label."""
    return _restricted(truth, is_row(truth, "box"), is_row(truth, "group"), verified=truth.arrays["verified"])


def is_row(truth: Truth, kind: str) -> NDArray[np.bool_]:
    """Tell which boxes of a kind (``box`` or ``group``) stand in boxes.csv and are no copy for an ancestor."""
    labels = truth.arrays[f"{kind}_keys"] % max(len(truth.texts["labels"]), 1)
    return np.asarray(labels == truth.arrays["row_labels"][truth.arrays[f"{kind}_rows"]])


def _restricted(
    truth: Truth, boxes: NDArray[np.bool_], groups: NDArray[np.bool_], *, verified: NDArray[np.int64]
) -> Truth:
    """Return the truth with some boxes; for the readable way, the kernels' places are left as they are."""
    arrays: dict[str, NDArray[Any]] = {**truth.arrays, "verified": verified}
    for chosen, names in (
        (boxes, ("boxes", "box_keys", "box_rows")),
        (groups, ("group_boxes", "group_keys", "group_rows")),
    ):
        arrays |= {name: arrays[name][chosen] for name in names}
    labels = len(truth.texts["labels"])
    arrays["objects"] = count_objects(arrays["box_keys"], arrays["group_keys"], arrays["usage"], labels)
    return replace(truth, arrays=arrays)
