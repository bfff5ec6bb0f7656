"""Compile the truth of a detection track: check it, expand it by the hierarchy, sort it by image and class."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog.open_images import ATTRIBUTES
from evaluator.files.folder import TruthFolder, coded
from evaluator.files.tables import TruthTable
from evaluator.kernels.text.lookup import kept_index
from evaluator.tracks.checking import check_boxes, checked, distinct_keys
from evaluator.tracks.detection.summary import count_objects
from evaluator.tracks.shared.labels import Labelling, expanded
from evaluator.tracks.shared.truth_warnings import warn_duplicates
from evaluator.tracks.shared.usage import usage_of
from evaluator.truth import Truth

CORNERS = ("XMin", "XMax", "YMin", "YMax")
SAID = {"0": 0, "0.0": 0, "1": 1, "1.0": 1}


def compile_truth(folder: TruthFolder, parameters: Mapping[str, Any]) -> Truth:
    """Return the prepared truth of a folder.

    Its arrays: ``verified`` (sorted image × class keys), ``boxes`` (M, 4) with their sorted ``box_keys`` and
    ``group_boxes`` (G, 4) with ``group_keys``, equal keys in file order; ``ancestors`` of each class with
    ``ancestor_ends``; ``usage``; ``objects``, boxes by usage, kind
    (ordinary, group-of) and class; for the kernels :func:`_places`. For reports ``box_rows`` and ``group_rows``, the
    row of boxes.csv that each box comes from, with ``row_labels`` and ``attributes`` of the rows; ``labelled``, the
    keys that the label file alone verifies, and the same ``labelled_unexpanded``. A key is image code × number of
    labels + label.

    Raises
    ------
    InvalidTruth
        With every fault of every file.
    """
    tables = {name: folder.table(name) for name in ("boxes.csv", "image_labels.csv")}
    labelling = Labelling.of(folder, tables, expand=parameters["expand_hierarchy"])
    images, labels = labelling.images, labelling.labels
    box_images, box_labels, boxes, groups = _boxes(tables["boxes.csv"], images, labels)
    usage = usage_of(folder, images)
    folder.faults.check()

    origin, expanded_labels = expanded(box_labels, labelling.above)
    boxes, groups = boxes[origin], groups[origin]
    keys = box_images[origin] * len(labels) + expanded_labels
    labelled = labelling.labelled
    verified = np.union1d(labelled, keys)
    order = np.lexsort((origin, keys))
    ordinary, grouped = order[~groups[order]], order[groups[order]]
    arrays: dict[str, NDArray[Any]] = {
        "verified": verified,
        **_places(verified, keys[ordinary], keys[grouped], images=len(images), labels=len(labels)),
        "boxes": boxes[ordinary],
        "box_keys": keys[ordinary],
        "group_boxes": boxes[grouped],
        "group_keys": keys[grouped],
        **_rows(tables["boxes.csv"], box_labels, boxes=origin[ordinary], groups=origin[grouped]),
        "labelled": labelled,
        "labelled_unexpanded": distinct_keys(labelling.label_images, labelling.label_codes, len(labels)),
        **labelling.ancestor_arrays,
        **labelling.listed_arrays,
        "usage": usage,
        "objects": count_objects(keys[ordinary], keys[grouped], usage, len(labels)),
        **kept_index("images", images),
        **kept_index("labels", labels, as_unknown=not labelling.closed),
    }
    texts = labelling.texts | {"attributes": _attribute_names(tables["boxes.csv"])}
    flags, shaped = labelling.flags(folder), {"expand_hierarchy": parameters["expand_hierarchy"]}
    return checked(folder.faults, Truth(folder.track.name, folder.sha256, shaped, flags, texts, arrays))


def _places(
    verified: NDArray[np.int64],
    boxes: NDArray[np.int64],
    groups: NDArray[np.int64],
    *,
    images: int,
    labels: int,
) -> dict[str, NDArray[Any]]:
    """Return the sorted keys as places: where each image's verified classes, and each of those's boxes, begin."""
    after = np.append(verified, np.iinfo(np.int64).max)
    return {
        "verified_from": np.searchsorted(verified, np.arange(images + 1) * labels).astype(np.int32),
        "verified_labels": (verified % max(labels, 1)).astype(np.int32),
        "boxes_from": np.searchsorted(boxes, after).astype(np.int32),
        "groups_from": np.searchsorted(groups, after).astype(np.int32),
    }


def _boxes(
    table: TruthTable, images: Mapping[str, int], labels: Mapping[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    boxes = table.numbers(*CORNERS)
    check_boxes(table, boxes)
    warn_duplicates(table, ("ImageID", "LabelName", *CORNERS), "box")
    groups = table.integers("IsGroupOf") != 0
    return coded(table.texts("ImageID"), images), coded(table.texts("LabelName"), labels), boxes, groups


def _attribute_names(table: TruthTable) -> list[str]:
    """Return the columns that boxes.csv has beyond those that a score needs."""
    return [name for name in ATTRIBUTES if name in table.frame]


def _rows(
    table: TruthTable, labels: NDArray[np.int64], *, boxes: NDArray[np.int64], groups: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Return which row of boxes.csv each box comes from, and what is said of the rows.

    ``attributes`` has shape (rows, attributes): 1 yes, 0 no, -1 unknown, as anything else is.
    """
    columns = [coded([text.strip() for text in table.frame[name]], SAID) for name in _attribute_names(table)]
    return {
        "box_rows": boxes.astype(np.int32),
        "group_rows": groups.astype(np.int32),
        "row_labels": labels.astype(np.int32),
        "attributes": np.array(columns, np.int8).reshape(len(columns), len(table)).T,
    }
