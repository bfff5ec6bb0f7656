"""Writes test data as large as a real challenge: 99,999 images, 500 classes in a hierarchy, 50 detections per image."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluator.synthesis.text_columns import csv_lines, decimals, encoded, prediction_strings

CLASSES = 500
IMAGES_PER_BLOCK = 3_000
TOPICS, DENIED, OBJECTS = 3, 6, 7
LABELS = [f"/m/0{number:04x}{'abc'[: number % 4]}" for number in range(CLASSES)]
# The class hierarchy as the parent of each class. The first 60 classes have no parent (-1). The next 240 are their
# children, and the last 200 are their grandchildren.
PARENTS = [-1 if number < 60 else number % 60 if number < 300 else 60 + number % 240 for number in range(CLASSES)]

Ints = NDArray[np.int64]


def lineage() -> NDArray[np.bool_]:
    """Return a bool array of shape (CLASSES, CLASSES). Row c is True at the indices of class c and its ancestors."""
    table = np.eye(CLASSES, dtype=bool)
    for number in range(CLASSES):
        above = PARENTS[number]
        while above >= 0:
            table[number, above] = True
            above = PARENTS[above]
    return table


def tree() -> dict[str, object]:
    def node(number: int) -> dict[str, object]:
        children = [node(child) for child in range(CLASSES) if PARENTS[child] == number]
        return {"LabelName": LABELS[number], "Subcategory": children}

    return {"LabelName": "/m/root", "Subcategory": [node(child) for child in range(CLASSES) if PARENTS[child] < 0]}


def boxes(rng: np.random.Generator, count: int) -> Ints:
    """Return random boxes of shape (count, 4), in millionths of the image size: XMin, XMax, YMin, YMax."""
    size = (rng.beta(1.2, 3.0, (count, 2)) * 900_000).astype(np.int64) + 20_000
    low = (rng.random((count, 2)) * (1_000_000 - size)).astype(np.int64)
    return np.stack([low[:, 0], low[:, 0] + size[:, 0], low[:, 1], low[:, 1] + size[:, 1]], axis=1)


def shaken(rng: np.random.Generator, box: Ints, by: float) -> Ints:
    width, height = box[:, 1] - box[:, 0], box[:, 3] - box[:, 2]
    spread = np.stack([width, width, height, height], axis=1) * by
    moved = np.clip(box + (rng.standard_normal(box.shape) * spread).astype(np.int64), 0, 1_000_000)
    return np.stack([moved[:, :2].min(1), moved[:, :2].max(1), moved[:, 2:].min(1), moved[:, 2:].max(1)], axis=1)


def blocks(images: int, per_image: int, seed: int) -> Iterator[tuple[dict[str, bytes], tuple[bytes, bytes]]]:
    """Yield, for each block of images, the lines of the ground truth files and of the submission in two layouts."""
    cells, family = encoded(LABELS), lineage()
    popular = 1.0 / np.arange(1, CLASSES + 1) ** 0.7
    popular = np.random.default_rng(0).permutation(popular / popular.sum())
    for first in range(0, images, IMAGES_PER_BLOCK):
        rng = np.random.default_rng([seed, first])
        count = min(IMAGES_PER_BLOCK, images - first)
        ids = encoded([f"{(first + place) * 184_467_440_737:016x}" for place in range(count)])
        topics = rng.choice(CLASSES, (count, TOPICS), p=popular)
        denied = rng.choice(CLASSES, (count, DENIED))
        image = np.repeat(np.arange(count), rng.integers(0, 2 * OBJECTS + 1, count))
        label = topics[image, rng.integers(0, TOPICS, len(image))]
        box, group = boxes(rng, len(image)), rng.random(len(image)) < 0.06
        flags = encoded(["0", "1"])
        present = np.unique(image * CLASSES + label)
        absent = np.setdiff1d((np.arange(count)[:, None] * CLASSES + denied).ravel(), present)
        truth = {
            "boxes.csv": csv_lines(
                ids[image], cells[label], *(decimals(box[:, e]) for e in range(4)), flags[group * 1]
            ),
            "image_labels.csv": b"".join(
                csv_lines(ids[keys // CLASSES], cells[keys % CLASSES], np.repeat(flags[sure], len(keys)))
                for keys, sure in ((present, 1), (absent, 0))
            ),
            "images.csv": csv_lines(ids),
        }
        yield truth, predictions(rng, per_image, ids, (topics, denied), (image, label, box), family)


def predictions(rng, per_image, ids, classes, objects, family):  # type: ignore[no-untyped-def]
    """Return simulated detections, as prediction strings and in long format.

    Most objects are detected, some of them twice. Each detection is repeated for the ancestors of its class, and false
    positives are added.
    """
    (topics, denied), (image, label, box) = classes, objects
    seen = np.flatnonzero(rng.random(len(image)) < 0.75)
    seen = np.concatenate([seen, seen[rng.random(len(seen)) < 0.3]])
    right_image, right_label, right_box = image[seen], label[seen], shaken(rng, box[seen], 0.07)
    row, named = np.nonzero(family[right_label])
    wanted = max(per_image * len(ids) - len(row), 0)
    false_image = rng.integers(0, len(ids), wanted)
    attention = np.concatenate([topics, denied], axis=1)[false_image, rng.integers(0, TOPICS + DENIED, wanted)]
    false_label = np.where(rng.random(wanted) < 0.5, attention, rng.integers(0, CLASSES, wanted))
    sure = np.concatenate([rng.beta(3, 1.5, len(right_image))[row], rng.beta(1, 6, wanted)])
    all_images = np.concatenate([right_image[row], false_image])
    order = np.argsort(all_images, kind="stable")
    edges = np.concatenate([right_box[row], boxes(rng, wanted)])[order]
    cells = encoded(LABELS)[np.concatenate([named, false_label])[order]]
    score = decimals((sure[order] * 1_000_000).astype(np.int64))
    x_min, x_max, y_min, y_max = (decimals(edges[:, edge]) for edge in range(4))
    place = all_images[order]
    return (
        prediction_strings(ids, place, cells, score, x_min, y_min, x_max, y_max),
        csv_lines(ids[place], cells, score, x_min, x_max, y_min, y_max),
    )


def write(folder: Path, *, images: int, per_image: int = 50, seed: int = 1, long: bool = True) -> None:
    """Write a ground truth to ``folder/truth``, and a submission in two layouts: ``kaggle.csv`` and ``long.csv``."""
    (folder / "truth").mkdir(parents=True, exist_ok=True)
    (folder / "truth" / "hierarchy.json").write_text(json.dumps(tree()))
    (folder / "truth" / "classes.csv").write_text("".join(f"{label},class {n}\n" for n, label in enumerate(LABELS)))
    heads = {
        "truth/boxes.csv": "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\n",
        "truth/image_labels.csv": "ImageID,LabelName,Confidence\n",
        "truth/images.csv": "ImageID\n",
        "kaggle.csv": "ImageId,PredictionString\n",
        "long.csv": "ImageID,LabelName,Score,XMin,XMax,YMin,YMax\n",
    }
    files = {name: (folder / name).open("wb") for name in heads}
    for name, head in heads.items():
        files[name].write(head.encode())
    for truth, (strings, rows) in blocks(images, per_image, seed):
        for name, text in truth.items():
            files[f"truth/{name}"].write(text)
        files["kaggle.csv"].write(strings)
        if long:
            files["long.csv"].write(rows)
    for file in files.values():
        file.close()
