"""Compiles a ground truth folder of a detection track."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog.open_images import ATTRIBUTES
from evaluator.files.folder import TruthFolder, coded
from evaluator.files.tables import TruthTable
from evaluator.kernels.text.lookup import stored_index
from evaluator.tracks.checking import check_boxes, checked, distinct_keys, group_flags, usage_of, warn_duplicates
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth, class_ranges
from evaluator.tracks.shared.label_truth import count_objects
from evaluator.tracks.shared.labels import Labelling, expanded

BOX_COLUMNS = ("XMin", "XMax", "YMin", "YMax")
ATTRIBUTE_VALUES = {"0": 0, "0.0": 0, "1": 1, "1.0": 1}


def compile_truth(folder: TruthFolder, parameters: DetectionParameters) -> DetectionTruth:
    """Check a ground truth folder and compile it.

    Raises
    ------
    InvalidTruth
        If there are faults. The exception contains the faults of all files.
    """
    tables = {name: folder.table(name) for name in ("boxes.csv", "image_labels.csv")}
    labelling = Labelling.of(folder, tables, expand=parameters.expand_hierarchy)
    images, labels = labelling.images, labelling.labels
    box_images, box_labels, boxes, groups = _boxes(tables["boxes.csv"], images, labels)
    usage = usage_of(folder, images)
    folder.faults.check()

    rows, expanded_labels = expanded(box_labels, labelling.above)
    boxes, groups = boxes[rows], groups[rows]
    keys = box_images[rows] * len(labels) + expanded_labels
    labelled = labelling.labelled
    verified = np.union1d(labelled, keys)
    order = np.lexsort((rows, keys))
    ordinary, grouped = order[~groups[order]], order[groups[order]]
    arrays: dict[str, NDArray[Any]] = {
        "verified": verified,
        **class_ranges(verified, keys[ordinary], keys[grouped], images=len(images), labels=len(labels)),
        "boxes": boxes[ordinary],
        "box_keys": keys[ordinary],
        "group_boxes": boxes[grouped],
        "group_keys": keys[grouped],
        **_rows(tables["boxes.csv"], box_labels, boxes=rows[ordinary], groups=rows[grouped]),
        "labelled": labelled,
        "labelled_unexpanded": distinct_keys(labelling.label_images, labelling.label_codes, len(labels)),
        **labelling.ancestor_arrays,
        **labelling.listed_arrays,
        "usage": usage,
        "objects": count_objects(keys[ordinary], keys[grouped], usage, len(labels)),
        **stored_index("images", images),
        **stored_index("labels", labels, as_unknown=not labelling.closed),
    }
    texts = labelling.texts | {"attributes": _attribute_names(tables["boxes.csv"])}
    flags, shaped = labelling.flags(folder), {"expand_hierarchy": parameters.expand_hierarchy}
    return checked(folder.faults, DetectionTruth(folder.track.name, folder.sha256, shaped, flags, texts, arrays))


def _boxes(
    table: TruthTable, images: Mapping[str, int], labels: Mapping[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return the image, label and coordinates of each box in boxes.csv, and whether it is a group-of box."""
    boxes = table.numbers(*BOX_COLUMNS)
    check_boxes(table, boxes)
    warn_duplicates(table, ("ImageID", "LabelName", *BOX_COLUMNS), "box")
    return coded(table.texts("ImageID"), images), coded(table.texts("LabelName"), labels), boxes, group_flags(table)


def _attribute_names(table: TruthTable) -> list[str]:
    """Return the names of the attribute columns in boxes.csv, such as IsOccluded."""
    return [name for name in ATTRIBUTES if name in table.frame]


def _rows(
    table: TruthTable, labels: NDArray[np.int64], *, boxes: NDArray[np.int64], groups: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Return the arrays that describe the rows of boxes.csv. An attribute is -1 if it is neither 0 nor 1."""
    columns = [
        coded([text.strip() for text in table.frame[name]], ATTRIBUTE_VALUES) for name in _attribute_names(table)
    ]
    return {
        "box_rows": boxes.astype(np.int32),
        "group_rows": groups.astype(np.int32),
        "row_labels": labels.astype(np.int32),
        "attributes": np.array(columns, np.int8).reshape(len(columns), len(table)).T,
    }
