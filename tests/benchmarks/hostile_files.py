"""Pairs of ground truths that differ in a single line, and submissions whose scoring cost could reveal this line."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.scoring import prepare
from evaluator.synthesis.text_columns import csv_lines, decimals, encoded, prediction_strings

TRACK = "openimages-detection"
RELATIONSHIPS = "openimages-relationships"
CLASSIFICATION = "openimages-classification"
PREDICTIONS, OBJECTS, CONFIDENT = 600_000, 400, 300
CLASSES = [f"class{number}" for number in range(60)]
BELOW_TOP, REST = CLASSES[1:], CLASSES[0]
TREE = {
    "LabelName": "root",
    "Subcategory": [
        {"LabelName": "top", "Subcategory": [{"LabelName": label} for label in BELOW_TOP]},
        {"LabelName": REST},
    ],
}
Truth = dict[str, list[str]]
HEADERS = {
    "boxes.csv": "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf",
    "image_labels.csv": "ImageID,LabelName,Confidence",
    "images.csv": "ImageID",
    "usage.csv": "ImageID,Usage",
    "relationships.csv": "ImageID,LabelName1,LabelName2,RelationshipLabel,"
    "XMin1,XMax1,YMin1,YMax1,XMin2,XMax2,YMin2,YMax2",
}
OBJECT = f"crowd,{REST},0.1,0.9,0.1,0.9,0"
PLAIN: Truth = {
    "images.csv": ["crowd", "other"],
    "usage.csv": ["crowd,Public", "other,Public"],
    "boxes.csv": [f"other,{REST},0,1,0,1,0"],
    "image_labels.csv": [],
}


def edges(count: int, seed: int) -> list[list[bytes]]:
    """Return the columns XMin, XMax, YMin and YMax of random boxes as strings."""
    low, size = np.random.default_rng(seed).integers(1, 500_000, (2, count, 2))
    return [decimals(edge).tolist() for edge in (low[:, 0], (low + size)[:, 0], low[:, 1], (low + size)[:, 1])]


def crowded() -> Truth:
    """Return a ground truth with hundreds of objects of one class in one image."""
    boxes = zip(*edges(OBJECTS, seed=1), strict=True)
    return PLAIN | {"boxes.csv": [f"crowd,{REST},{b','.join(box).decode()},0" for box in boxes]}


def pairs() -> dict[str, tuple[Truth, Truth, str]]:
    """Return pairs of ground truths that differ in a single line, keyed by a description of the difference.

    Each value also contains the name of the submission that is scored against the two ground truths.
    """
    dense = crowded()
    return {
        "a label": (PLAIN, PLAIN | {"image_labels.csv": [f"crowd,{REST},0"]}, "one class"),
        "an object": (PLAIN, PLAIN | {"boxes.csv": [*PLAIN["boxes.csv"], OBJECT]}, "one class, equally confident"),
        "one of 401 objects": (
            dense,
            dense | {"boxes.csv": [*dense["boxes.csv"], OBJECT]},
            "one class, equally confident",
        ),
        "the usage of an image": (dense, dense | {"usage.csv": ["crowd,Ignored", "other,Public"]}, "one class"),
        "a label of an ancestor": (PLAIN, PLAIN | {"image_labels.csv": ["crowd,top,0"]}, "all classes"),
    }


def written(folder: Path) -> dict[str, tuple[Path, Path, Path]]:
    """Prepare the pairs of ground truths and write the submissions.

    Return three paths for each pair: the two ground truths and the submission that is scored against both. They are
    keyed by a description of the difference between the two ground truths.
    """
    files, found = {}, {}
    for name in ("one class", "one class, equally confident", "all classes"):
        files[name] = folder / f"{name}.csv"
        labels = encoded(CLASSES if name == "all classes" else [REST])
        rng = np.random.default_rng(2)
        cells = labels[rng.integers(0, len(labels), PREDICTIONS)]
        scores = decimals(
            np.full(PREDICTIONS, 500_000) if "equally" in name else rng.integers(0, 1_000_000, PREDICTIONS)
        )
        low, size = rng.integers(1, 500_000, (2, PREDICTIONS, 2))
        ends = (low[:, 0], (low + size)[:, 0], low[:, 1], (low + size)[:, 1])
        images = encoded(["crowd"])[np.zeros(PREDICTIONS, int)]
        header = b"ImageID,LabelName,Score,XMin,XMax,YMin,YMax\n"
        files[name].write_bytes(header + csv_lines(images, cells, scores, *(decimals(end) for end in ends)))
    for name, (one, other, file) in pairs().items():
        tables = [truth | {"hierarchy.json": [json.dumps(TREE)]} for truth in (one, other)]
        first, second = (prepared(TRACK, folder / f"{name}{place}", truth) for place, truth in enumerate(tables))
        found[name] = first, second, files[file]
    return found


def prepared(track: str, source: Path, truth: Truth) -> Path:
    """Write a ground truth folder and prepare it, and return the path of the prepared ground truth."""
    source.mkdir(exist_ok=True)
    for table, rows in truth.items():
        header = [HEADERS[table]] if table in HEADERS else []
        (source / table).write_text("\n".join([*header, *rows]) + "\n")
    prepare(track, source, source.with_suffix(".podium"))
    return source.with_suffix(".podium")


def of_pairs(folder: Path) -> dict[str, tuple[Path, Path, Path]]:
    """Prepare ground truths for the relationships track and write submissions.

    The result has the same form as that of :func:`written`. The submissions contain many predictions for the same two
    classes in one image. The second ground truth has one more verified label or annotated relationship than the first.
    """
    folder.mkdir(exist_ok=True)
    box = "0.1,0.9,0.1,0.9"
    plain: Truth = {name: PLAIN[name] for name in ("images.csv", "usage.csv", "image_labels.csv")}
    plain["relationships.csv"] = [f"other,{CLASSES[2]},{CLASSES[3]},on,{box},{box}"]
    one = prepared(RELATIONSHIPS, folder / "plain", plain)
    label = plain | {"image_labels.csv": [f"crowd,{REST},0"]}
    triplet = f"crowd,{REST},{CLASSES[1]},on,{box},{box}"
    more = prepared(
        RELATIONSHIPS, folder / "triplet", plain | {"relationships.csv": [*plain["relationships.csv"], triplet]}
    )
    rng = np.random.default_rng(3)
    low, size = rng.integers(1, 500_000, (2, PREDICTIONS, 2))
    ends = [decimals(end) for end in (low[:, 0], (low + size)[:, 0], low[:, 1], (low + size)[:, 1])]
    anywhere = of_one_pair(folder / "one pair.csv", decimals(rng.integers(0, 1_000_000, PREDICTIONS)), ends)
    # The first pairs hit nothing and have the highest confidence. All other pairs are equal.
    confident = np.arange(PREDICTIONS) < CONFIDENT
    scores = decimals(np.where(confident, 999_999, 500_000))
    ends = [decimals(np.where(confident, edge + 1, 100_000 + 800_000 * edge)) for edge in (0, 1, 0, 1)]
    equal = of_one_pair(folder / "one pair, equal.csv", scores, ends)
    return {
        "a label of a pair": (one, prepared(RELATIONSHIPS, folder / "label", label), anywhere),
        "a triplet": (one, more, anywhere),
        "a triplet, equal pairs": (one, more, equal),
    }


def of_one_pair(file: Path, scores: Any, ends: list[Any]) -> Path:
    """Write predictions with the same labels in one image. Both boxes of a prediction are equal."""
    words = [encoded([word])[np.zeros(len(scores), int)] for word in ("crowd", REST, CLASSES[1], "on")]
    header = b"ImageID,LabelName1,LabelName2,RelationshipLabel,Score,"
    header += b"XMin1,XMax1,YMin1,YMax1,XMin2,XMax2,YMin2,YMax2\n"
    file.write_bytes(header + csv_lines(*words, scores, *ends, *ends))
    return file


def of_labels(folder: Path) -> dict[str, tuple[Path, Path, Path]]:
    """Prepare ground truths for the classification track and write submissions in both layouts.

    The result has the same form as that of :func:`written`. The submissions contain many predictions for the same class
    in one image. The second ground truth has one more verified label than the first.
    """
    folder.mkdir(exist_ok=True)
    plain: Truth = {name: PLAIN[name] for name in ("images.csv", "usage.csv")}
    plain["image_labels.csv"] = [f"other,{label},{place % 2}" for place, label in enumerate(CLASSES)]
    more = plain | {"image_labels.csv": [f"crowd,{REST},0", *plain["image_labels.csv"]]}
    truths = prepared(CLASSIFICATION, folder / "plain", plain), prepared(CLASSIFICATION, folder / "more", more)
    scores = decimals(np.random.default_rng(4).integers(0, 1_000_000, PREDICTIONS))
    image, label = (encoded([word])[np.zeros(PREDICTIONS, int)] for word in ("crowd", REST))
    files = {
        "long": b"ImageID,LabelName,Score\n" + csv_lines(image, label, scores),
        "strings": b"ImageId,PredictionString\n"
        + prediction_strings(image[:1], np.zeros(PREDICTIONS, int), label, scores),
    }
    found = {}
    for name, content in files.items():
        path = folder / f"{name}.csv"
        path.write_bytes(content)
        found[f"a verified label, {name}"] = *truths, path
    return found
