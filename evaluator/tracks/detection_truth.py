"""Compile the truth of a detection track: check it, expand it by the hierarchy, sort it by image and class."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.tables import TruthFolder, TruthTable, coded
from evaluator.hierarchy import Hierarchy
from evaluator.kernels.texts import kept_index
from evaluator.tracks.checking import check_boxes, check_labels, checked, distinct_keys, image_names
from evaluator.tracks.usage import usage_of
from evaluator.truth import Truth

CORNERS = ("XMin", "XMax", "YMin", "YMax")


def compile_truth(folder: TruthFolder, parameters: Mapping[str, Any]) -> Truth:
    """Return the prepared truth of a folder.

    Its arrays: ``verified`` (sorted image × class keys), ``boxes`` (M, 4) with their sorted ``box_keys`` and
    ``group_boxes`` (G, 4) with ``group_keys``, equal keys in file order; ``ancestors`` of each class with
    ``ancestor_ends``; ``shown``, the classes of a report; ``usage``; ``objects``, boxes by usage, kind
    (ordinary, group-of) and class; for the kernels :func:`_places`. A key is image
    code × number of labels + label.

    Raises
    ------
    InvalidTruth
        With every fault of every file.
    """
    tables = {name: folder.table(name) for name in ("boxes.csv", "image_labels.csv")}
    images = {image: code for code, image in enumerate(image_names(folder, tables))}
    hierarchy = read_hierarchy(folder)
    listed = folder.names("classes.csv") if "classes.csv" in folder else None
    for table in tables.values():
        if listed is not None:
            check_labels(table, "LabelName", listed, "classes.csv")
        if hierarchy is not None and parameters["expand_hierarchy"]:
            check_hierarchy(table, hierarchy)
    labels, shown = label_names(tables, hierarchy, listed)
    ancestors = _ancestors(hierarchy, labels)
    above = ancestors if parameters["expand_hierarchy"] else [[] for _ in labels]
    box_images, box_labels, boxes, groups = _boxes(tables["boxes.csv"], images, labels)
    label_images, image_labels, present = _image_labels(tables["image_labels.csv"], images, labels)
    usage = usage_of(folder, images)
    folder.faults.check()

    below: list[list[int]] = [[] for _ in labels]
    for label, its_ancestors in enumerate(above):
        for ancestor in its_ancestors:
            below[ancestor].append(label)
    origin, box_labels = expanded(box_labels, above)
    box_images, boxes, groups = box_images[origin], boxes[origin], groups[origin]
    up, up_labels = expanded(image_labels[present], above)
    down, down_labels = expanded(image_labels[~present], below)
    verified = distinct_keys(
        np.concatenate([box_images, label_images[present][up], label_images[~present][down]]),
        np.concatenate([box_labels, up_labels, down_labels]),
        len(labels),
    )
    keys = box_images * len(labels) + box_labels
    order = np.lexsort((origin, keys))
    ordinary, grouped = order[~groups[order]], order[groups[order]]
    arrays: dict[str, NDArray[Any]] = {
        "verified": verified,
        **_places(verified, keys[ordinary], keys[grouped], images=len(images), labels=len(labels)),
        "boxes": boxes[ordinary],
        "box_keys": keys[ordinary],
        "group_boxes": boxes[grouped],
        "group_keys": keys[grouped],
        "ancestors": np.array([ancestor for each in ancestors for ancestor in each], np.int64),
        "ancestor_ends": np.cumsum([len(each) for each in ancestors], dtype=np.int64),
        "shown": _shown(shown, verified, len(labels)),
        "usage": usage,
        "objects": np.stack(
            [_objects(keys, ~groups, usage, len(labels)), _objects(keys, groups, usage, len(labels))], 1
        ),
        **kept_index("images", images),
        **kept_index("labels", labels),
    }
    names = listed or {}
    texts = {"images": list(images), "labels": list(labels), "names": [names.get(label, label) for label in labels]}
    flags = {"images_listed": "images.csv" in folder, "labels_listed": listed is not None}
    shaped = {"expand_hierarchy": parameters["expand_hierarchy"]}
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


def _objects(
    keys: NDArray[np.int64], chosen: NDArray[np.bool_], usage: NDArray[np.int8], labels: int
) -> NDArray[np.int64]:
    """Return how many of the chosen boxes each class has in images of each usage, shape (3, labels)."""
    images, codes = np.divmod(keys[chosen], max(labels, 1))
    return np.bincount(usage[images].astype(np.int64) * labels + codes, minlength=3 * labels).reshape(3, labels)


def read_hierarchy(folder: TruthFolder) -> Hierarchy | None:
    """Read ``hierarchy.json`` where it is there."""
    if "hierarchy.json" not in folder:
        return None
    try:
        return Hierarchy.of(folder.json("hierarchy.json"))
    except ValueError as error:
        folder.faults.add("truth_bad_value", "hierarchy.json", str(error))
        return None


def check_hierarchy(table: TruthTable, hierarchy: Hierarchy) -> None:
    """Note every label that has no place below the root."""
    outside = coded(table.texts("LabelName"), dict.fromkeys(hierarchy.ancestors, 0)) < 0
    table.mark("LabelName", outside, "truth_not_in_hierarchy", "is not below the root of hierarchy.json")


def label_names(
    tables: Mapping[str, TruthTable], hierarchy: Hierarchy | None, listed: Mapping[str, str] | None
) -> tuple[dict[str, int], bool]:
    """Return every label with its code, and whether all of them belong into a report.

    With ``classes.csv`` its labels in its order: an ancestor that it does not list is not evaluated. Without it
    whatever the truth and the hierarchy name, sorted; then a report shows those that are verified somewhere.
    """
    if listed is not None:
        return {label: code for code, label in enumerate(listed)}, True
    named = set(hierarchy.ancestors if hierarchy else ())
    named |= {label for table in tables.values() for label in table.frame["LabelName"].tolist()}
    return {label: code for code, label in enumerate(sorted(named))}, False


def _shown(everything: bool, verified: NDArray[np.int64], labels: int) -> NDArray[np.int64]:
    return np.arange(labels) if everything else np.unique(verified % max(labels, 1))


def _ancestors(hierarchy: Hierarchy | None, labels: Mapping[str, int]) -> list[list[int]]:
    above = hierarchy.ancestors if hierarchy else {}
    return [sorted(labels[a] for a in above.get(label, ()) if a in labels) for label in labels]


def _boxes(
    table: TruthTable, images: Mapping[str, int], labels: Mapping[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    boxes = table.numbers(*CORNERS)
    check_boxes(table, boxes)
    groups = table.integers("IsGroupOf") != 0
    return coded(table.texts("ImageID"), images), coded(table.texts("LabelName"), labels), boxes, groups


def _image_labels(
    table: TruthTable, images: Mapping[str, int], labels: Mapping[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    present = table.integers("Confidence") == 1
    return coded(table.texts("ImageID"), images), coded(table.texts("LabelName"), labels), present


def expanded(labels: NDArray[np.int64], relatives: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
