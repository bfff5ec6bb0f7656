"""Compile the truth of the relationships track: which labels are known where, and the triplets."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.folder import TruthFolder, coded
from evaluator.files.tables import TruthTable
from evaluator.kernels.text.lookup import kept_index
from evaluator.tracks.checking import check_boxes, check_labels, checked, distinct_keys, image_names
from evaluator.tracks.relationships.triplets import FIRST, LABELS, SECOND, triplet_keys
from evaluator.tracks.shared.truth_warnings import warn_duplicates, warn_unlisted_images
from evaluator.tracks.shared.usage import usage_of
from evaluator.truth import Truth


def compile_truth(folder: TruthFolder, parameters: Mapping[str, Any]) -> Truth:
    """Return the prepared truth of a folder.

    Its arrays: ``known`` and ``negative`` (sorted image × label keys); the triplets, sorted by key and then in file
    order: ``triplets`` (keys), ``images``, ``relations``, ``rows`` of relationships.csv, ``first`` and ``second``
    (float32, (M, 4)); ``usage``; for the kernels ``told`` (2 × label + 1 where it is negative) and where those and the
    triplets of each image begin.

    Raises
    ------
    InvalidTruth
        With every fault of every file.
    """
    tables = {name: folder.table(name) for name in ("relationships.csv", "image_labels.csv") if name in folder}
    related, verified = tables["relationships.csv"], tables.get("image_labels.csv")
    warn_unlisted_images(folder)
    images = {image: code for code, image in enumerate(image_names(folder, tables))}
    listed = folder.names("classes.csv") if "classes.csv" in folder else None
    listed_relations = folder.names("relations.csv") if "relations.csv" in folder else None
    named = {label for column in LABELS for label in related.texts(column)}
    named |= set(verified.texts("LabelName")) if verified else set()
    relation_texts = related.texts("RelationshipLabel")
    if listed is not None:
        for column in LABELS:
            check_labels(related, column, listed, "classes.csv")
        if verified is not None:
            check_labels(verified, "LabelName", listed, "classes.csv")
    if listed_relations is not None:
        check_labels(related, "RelationshipLabel", listed_relations, "relations.csv")
    labels = {label: code for code, label in enumerate(listed if listed is not None else sorted(named))}
    relations = listed_relations if listed_relations is not None else {r: r for r in sorted(set(relation_texts))}
    texts = {
        "images": list(images),
        "labels": list(labels),
        "relations": list(relations),
        "relation_names": list(relations.values()),
    }
    arrays = _triplets(related, texts, images, labels) | _labels(related, verified, images, labels)
    arrays |= _places(arrays, images=len(images), labels=len(labels)) | {"usage": usage_of(folder, images)}
    is_open = {"images": False, "labels": listed is None, "relations": listed_relations is None}
    for name, as_unknown in is_open.items():
        arrays |= kept_index(name, texts[name], as_unknown=as_unknown)
    flags = {
        "images_listed": "images.csv" in folder,
        "labels_listed": listed is not None,
        "relations_listed": listed_relations is not None,
    }
    return checked(folder.faults, Truth(folder.track.name, folder.sha256, {}, flags, texts, arrays))


def _triplets(
    table: TruthTable, texts: Mapping[str, Sequence[str]], images: Mapping[str, int], labels: Mapping[str, int]
) -> dict[str, NDArray[Any]]:
    boxes = []
    for number, columns in enumerate((FIRST, SECOND), 1):
        boxes.append(table.numbers(*columns))
        check_boxes(table, boxes[-1], str(number))
    warn_duplicates(table, ("ImageID", *LABELS, "RelationshipLabel", *FIRST, *SECOND), "triplet")
    codes = coded(table.texts("ImageID"), images)
    relations = coded(
        table.texts("RelationshipLabel"), {relation: code for code, relation in enumerate(texts["relations"])}
    )
    one, two = (coded(table.texts(column), labels) for column in LABELS)
    keys = triplet_keys(texts, codes, one, two, relations)
    order = np.argsort(keys, kind="stable")
    return {
        "triplets": keys[order],
        "images": codes[order],
        "relations": relations[order],
        "rows": order.astype(np.int32),
        "first": boxes[0][order].astype(np.float32),
        "second": boxes[1][order].astype(np.float32),
    }


def _labels(
    related: TruthTable, verified: TruthTable | None, images: Mapping[str, int], labels: Mapping[str, int]
) -> dict[str, NDArray[Any]]:
    """Return which labels an image is known to have or not to have.

    Negative are the labels of the label file that no triplet of the image uses, whatever their Confidence: so does the
    official code.
    """
    codes = coded(related.texts("ImageID"), images)
    used = distinct_keys(
        np.concatenate([codes, codes]),
        np.concatenate([coded(related.texts(column), labels) for column in LABELS]),
        len(labels),
    )
    told = np.zeros(0, np.int64)
    if verified is not None:
        verified.integers("Confidence")
        told = distinct_keys(
            coded(verified.texts("ImageID"), images), coded(verified.texts("LabelName"), labels), len(labels)
        )
    return {"known": np.union1d(told, used), "negative": np.setdiff1d(told, used)}


def _places(arrays: Mapping[str, NDArray[Any]], *, images: int, labels: int) -> dict[str, NDArray[Any]]:
    """Return the sorted keys as places: what is told of each image, and its triplets."""
    known, bounds = arrays["known"], np.arange(images + 1)
    negative = np.isin(known, arrays["negative"])
    return {
        "told_from": np.searchsorted(known, bounds * labels).astype(np.int32),
        "told": (known % max(labels, 1) * 2 + negative).astype(np.int32),
        "triplets_from": np.searchsorted(arrays["images"], bounds).astype(np.int32),
    }
