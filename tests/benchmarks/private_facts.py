"""Pairs of detection truths that differ in one fact, and files that would tell them apart by time or memory."""

import json
from pathlib import Path

import numpy as np

from evaluator.scoring import prepare
from evaluator.synthesis.text_columns import csv_lines, decimals, encoded

TRACK = "openimages-detection"
PREDICTIONS, OBJECTS = 600_000, 400
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
}
OBJECT = f"crowd,{REST},0.1,0.9,0.1,0.9,0"
PLAIN: Truth = {
    "images.csv": ["crowd", "other"],
    "usage.csv": ["crowd,Public", "other,Public"],
    "boxes.csv": [f"other,{REST},0,1,0,1,0"],
    "image_labels.csv": [],
}


def edges(count: int, seed: int) -> list[list[bytes]]:
    """XMin, XMax, YMin, YMax of boxes, as text."""
    low, size = np.random.default_rng(seed).integers(1, 500_000, (2, count, 2))
    return [decimals(edge).tolist() for edge in (low[:, 0], (low + size)[:, 0], low[:, 1], (low + size)[:, 1])]


def crowded() -> Truth:
    """Hundreds of objects of one class in the image."""
    boxes = zip(*edges(OBJECTS, seed=1), strict=True)
    return PLAIN | {"boxes.csv": [f"crowd,{REST},{b','.join(box).decode()},0" for box in boxes]}


def pairs() -> dict[str, tuple[Truth, Truth, str]]:
    """Return two truths, and the file that is sent against both, by what they differ in."""
    dense = crowded()
    return {
        "a label": (PLAIN, PLAIN | {"image_labels.csv": [f"crowd,{REST},0"]}, "one class"),
        "an object": (PLAIN, PLAIN | {"boxes.csv": [*PLAIN["boxes.csv"], OBJECT]}, "one class, equally sure"),
        "an object of 401": (dense, dense | {"boxes.csv": [*dense["boxes.csv"], OBJECT]}, "one class, equally sure"),
        "the usage of an image": (dense, dense | {"usage.csv": ["crowd,Ignored", "other,Public"]}, "one class"),
        "a label above others": (PLAIN, PLAIN | {"image_labels.csv": ["crowd,top,0"]}, "all classes"),
    }


def written(folder: Path) -> dict[str, tuple[Path, Path, Path]]:
    """Prepare the truths, write the files; return two truths and a file by what the truths differ in."""
    files, found = {}, {}
    for name in ("one class", "one class, equally sure", "all classes"):
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
        truths = []
        for place, truth in enumerate((one, other)):
            source = folder / f"{name}{place}"
            source.mkdir(exist_ok=True)
            (source / "hierarchy.json").write_text(json.dumps(TREE))
            for table, rows in truth.items():
                (source / table).write_text("\n".join([HEADERS[table], *rows]) + "\n")
            truths.append(folder / f"{name}{place}.podium")
            prepare(TRACK, source, truths[-1])
        found[name] = (truths[0], truths[1], files[file])
    return found
