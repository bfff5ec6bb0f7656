"""Compiles a ground truth folder of the relationships track."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.folder import TruthFolder, coded
from evaluator.files.tables import TruthTable
from evaluator.kernels.text.lookup import stored_index
from evaluator.tracks.checking import (
    check_boxes,
    check_labels,
    checked,
    distinct_keys,
    image_names,
    usage_of,
    warn_duplicates,
    warn_labels_with_spaces,
    warn_unlisted_images,
    warn_unused,
)
from evaluator.tracks.relationships.triplets import FIRST, LABELS, SECOND, TripletKeys
from evaluator.tracks.relationships.truth import RelationshipsParameters, RelationshipsTruth

Index = Mapping[str, int]


def compile_truth(folder: TruthFolder, parameters: RelationshipsParameters) -> RelationshipsTruth:
    """Check a ground truth folder and compile it.

    Raises
    ------
    InvalidTruth
        If there are faults. The exception contains the faults of all files.
    """
    tables = {name: folder.table(name) for name in ("relationships.csv", "image_labels.csv") if name in folder}
    related, verified = tables["relationships.csv"], tables.get("image_labels.csv")
    warn_unlisted_images(folder)
    images = _codes(image_names(folder, tables))
    listings = ("classes.csv", "relations.csv")
    listed_labels, listed_relations = (folder.names(name) if name in folder else None for name in listings)
    labels = _codes(_labels(folder, related, verified, listed_labels))
    relation_names = _relation_names(related, listed_relations)
    relations = _codes(relation_names)
    for listing, names in zip(listings, (labels, relations), strict=True):
        warn_labels_with_spaces(folder, listing, names, tables)
    texts = {
        "images": list(images),
        "labels": list(labels),
        "names": list((listed_labels or {}).values()),
        "relations": list(relations),
        "relation_names": list(relation_names.values()),
    }
    arrays = _triplets(related, images, labels, relations) | _verified_labels(related, verified, images, labels)
    arrays |= _by_image(arrays, images=len(images), labels=len(labels)) | {"usage": usage_of(folder, images)}
    is_open = {"images": False, "labels": listed_labels is None, "relations": listed_relations is None}
    for name, as_unknown in is_open.items():
        arrays |= stored_index(name, texts[name], as_unknown=as_unknown)
    flags = {
        "images_listed": "images.csv" in folder,
        "labels_listed": listed_labels is not None,
        "relations_listed": listed_relations is not None,
    }
    return checked(folder.faults, RelationshipsTruth(folder.track.name, folder.sha256, {}, flags, texts, arrays))


def _codes(texts: Iterable[str]) -> Index:
    return {text: code for code, text in enumerate(texts)}


def _labels(
    folder: TruthFolder, related: TruthTable, verified: TruthTable | None, listed: Mapping[str, str] | None
) -> list[str]:
    """Return the labels in classes.csv or, if there is no such file, in all tables.

    A label that classes.csv does not list is reported as a fault.
    """
    if listed is None:
        labels = {label for column in LABELS for label in related.texts(column)}
        return sorted(labels | set(verified.texts("LabelName") if verified else ()))
    for column in LABELS:
        check_labels(related, column, listed, "classes.csv")
    if verified is not None:
        check_labels(verified, "LabelName", listed, "classes.csv")
    warn_unused(folder, "classes.csv", listed, {label for column in LABELS for label in related.texts(column)})
    return list(listed)


def _relation_names(related: TruthTable, listed: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return the display name of each relation. Without relations.csv, the name is the relation itself."""
    if listed is None:
        return {relation: relation for relation in sorted(set(related.texts("RelationshipLabel")))}
    check_labels(related, "RelationshipLabel", listed, "relations.csv")
    return listed


def _triplets(table: TruthTable, images: Index, labels: Index, relations: Index) -> dict[str, NDArray[Any]]:
    """Return the arrays that describe the triplets of the ground truth, with one element for each triplet."""
    boxes = []
    for number, columns in enumerate((FIRST, SECOND), 1):
        boxes.append(table.numbers(*columns))
        check_boxes(table, boxes[-1], str(number))
    warn_duplicates(table, ("ImageID", *LABELS, "RelationshipLabel", *FIRST, *SECOND), "triplet")
    image_codes = coded(table.texts("ImageID"), images)
    relation_codes = coded(table.texts("RelationshipLabel"), relations)
    first, second = (coded(table.texts(column), labels) for column in LABELS)
    keys = TripletKeys(len(labels), len(relations)).encode(image_codes, first, second, relation_codes)
    order = np.argsort(keys, kind="stable")
    return {
        "triplets": keys[order],
        "images": image_codes[order],
        "relations": relation_codes[order],
        "rows": order.astype(np.int32),
        "first": boxes[0][order].astype(np.float32),
        "second": boxes[1][order].astype(np.float32),
    }


def _verified_labels(
    related: TruthTable, verified: TruthTable | None, images: Index, labels: Index
) -> dict[str, NDArray[Any]]:
    """Return the keys of the verified labels, and those of the negative labels.

    A key encodes an image and a label. A label is verified in an image if image_labels.csv has a row for it, or if a
    triplet of the image has it. As in the official Open Images code, a label is negative in an image if
    image_labels.csv has a row for it, with any Confidence, and no triplet of the image has the label.
    """
    codes = coded(related.texts("ImageID"), images)
    in_triplets = distinct_keys(
        np.concatenate([codes, codes]),
        np.concatenate([coded(related.texts(column), labels) for column in LABELS]),
        len(labels),
    )
    in_file = np.zeros(0, np.int64)
    if verified is not None:
        verified.integers("Confidence")
        in_file = distinct_keys(
            coded(verified.texts("ImageID"), images), coded(verified.texts("LabelName"), labels), len(labels)
        )
    return {"known": np.union1d(in_file, in_triplets), "negative": np.setdiff1d(in_file, in_triplets)}


def _by_image(arrays: Mapping[str, NDArray[Any]], *, images: int, labels: int) -> dict[str, NDArray[Any]]:
    """Return the verified labels of each image, and the indices of the image's first label and first triplet.

    A label is verified in an image if image_labels.csv has a row for it, or if a triplet of the image has it.
    """
    keys, bounds = arrays["known"], np.arange(images + 1)
    negative = np.isin(keys, arrays["negative"])
    return {
        "told_from": np.searchsorted(keys, bounds * labels).astype(np.int32),
        "told": (keys % max(labels, 1) * 2 + negative).astype(np.int32),
        "triplets_from": np.searchsorted(arrays["images"], bounds).astype(np.int32),
    }
