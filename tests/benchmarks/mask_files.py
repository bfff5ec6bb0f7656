"""Writes segmentation data as large as a real challenge, with masks that are a few hundred pixels wide.

The images have less than one megapixel. The classes and their hierarchy are those of :mod:`tests.benchmarks.challenge`.
"""

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluator.synthesis.text_columns import TextColumn, csv_lines, decimals, encoded, prediction_strings
from tests.benchmarks.challenge import CLASSES, DENIED, LABELS, TOPICS, Ints, boxes, lineage, shaken, tree

IMAGES_PER_BLOCK = 500
OBJECTS = 2
SIDES = np.array([[1024, 768], [1024, 683], [768, 1024], [640, 480]])
"""Possible widths and heights of the images in pixels."""
MOST_CHARACTERS = 6
HEADS = {
    "truth/boxes.csv": "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\n",
    "truth/masks.csv": "ImageID,LabelName,ImageWidth,ImageHeight,XMin,XMax,YMin,YMax,IsGroupOf,Mask\n",
    "truth/image_labels.csv": "ImageID,LabelName,Confidence\n",
    "truth/images.csv": "ImageID,Width,Height\n",
    "kaggle.csv": "ImageID,ImageWidth,ImageHeight,PredictionString\n",
}


def packed(rng: np.random.Generator, box: Ints, sides: Ints) -> TextColumn:
    """Return the encoded mask of an object in each box. Each mask is an ellipse with an irregular outline.

    Parameters
    ----------
    box : int64 array of shape (N, 4)
        In millionths of the image size: XMin, XMax, YMin, YMax.
    sides : int64 array of shape (N, 2)
        Width and height of each image in pixels.
    """
    lengths, ends = run_lengths(rng, box, sides)
    text, sizes = compressed(lengths, ends)
    stops = np.cumsum(sizes)
    parts = zip((stops - sizes).tolist(), stops.tolist(), strict=True)
    return np.array([base64.b64encode(zlib.compress(text[start:stop])) for start, stop in parts], np.bytes_)


def run_lengths(rng: np.random.Generator, box: Ints, sides: Ints) -> tuple[Ints, Ints]:
    """Return the run lengths of all masks, one mask after another, and the index at which each mask ends."""
    wide, tall = sides.T
    left, right = box[:, 0] * wide // 1_000_000, box[:, 1] * wide // 1_000_000
    columns = np.maximum(np.minimum(right, wide - 1) - left, 1)
    mask = np.repeat(np.arange(len(box)), columns)
    stops = np.cumsum(columns)
    across = np.arange(len(mask)) - np.repeat(stops - columns, columns)
    middle, radius = (box[:, 2] + box[:, 3]) / 2e6 * tall, (box[:, 3] - box[:, 2]) / 2e6 * tall
    position = (2 * across + 1) / columns[mask] - 1
    waves, phases = rng.integers(2, 9, (2, len(box))), rng.random((2, len(box))) * 6.3
    wobble = [1 + 0.12 * np.sin(w[mask] * position + p[mask]) for w, p in zip(waves, phases, strict=True)]
    half = radius[mask] * np.sqrt(1 - position**2)
    height = tall[mask]
    top = np.clip((middle[mask] - half * wobble[0]).astype(np.int64), 1, height - 3)
    bottom = np.clip((middle[mask] + half * wobble[1]).astype(np.int64), top + 1, height - 2)
    column = left[mask] + across
    runs = np.stack([column * height + top, column * height + bottom], axis=1)
    # Each column of a mask adds two runs: the pixels before the object, and those of the object. The last run of a
    # mask covers the rest of the image.
    where = np.repeat(2 * stops, 1)
    edges = np.insert(runs.ravel(), where, wide * tall)
    ends = where + np.arange(1, len(box) + 1)
    lengths = np.diff(edges, prepend=0)
    begins = np.append(0, ends[:-1])
    lengths[begins] = edges[begins]
    return lengths, ends


def compressed(lengths: Ints, ends: Ints) -> tuple[bytes, Ints]:
    """Return run lengths as compressed text, one mask after another, and the number of characters of each mask.

    The format is that of COCO. From the fourth run of a mask on, it stores the difference from the run two positions
    earlier.
    """
    begins = np.append(0, ends[:-1])
    index = np.arange(len(lengths)) - np.repeat(begins, ends - begins)
    values = lengths.copy()
    later = np.flatnonzero(index > 2)
    values[later] -= lengths[later - 2]
    codes: list[NDArray[np.uint8]] = []
    used: list[NDArray[np.bool_]] = []
    active = np.ones(len(values), bool)
    for _ in range(MOST_CHARACTERS):
        low, values = values & 31, values >> 5
        more = np.where(low & 16, values != -1, values != 0)
        codes.append((low + 32 * more + 48).astype(np.uint8))
        used.append(active)
        active = active & more
    chosen = np.stack(used, axis=1)
    sizes = np.add.reduceat(chosen.sum(axis=1), begins)
    return np.stack(codes, axis=1)[chosen].tobytes(), sizes


def blocks(images: int, per_image: int, seed: int) -> Iterator[dict[str, bytes]]:
    """Yield, for each block of images, the lines of all ground truth files and of the submission."""
    cells, family, flags = encoded(LABELS), lineage(), encoded(["0", "1"])
    popular = 1.0 / np.arange(1, CLASSES + 1) ** 0.7
    popular = np.random.default_rng(0).permutation(popular / popular.sum())
    numbers = encoded([str(side) for side in range(SIDES.max() + 1)])
    for first in range(0, images, IMAGES_PER_BLOCK):
        rng = np.random.default_rng([seed, first])
        count = min(IMAGES_PER_BLOCK, images - first)
        ids = encoded([f"{(first + place) * 184_467_440_737:016x}" for place in range(count)])
        sides = SIDES[rng.integers(0, len(SIDES), count)]
        width, height = numbers[sides[:, 0]], numbers[sides[:, 1]]
        topics = rng.choice(CLASSES, (count, TOPICS), p=popular)
        denied = rng.choice(CLASSES, (count, DENIED))
        image = np.repeat(np.arange(count), rng.integers(0, 2 * OBJECTS + 1, count))
        label = topics[image, rng.integers(0, TOPICS, len(image))]
        box = boxes(rng, len(image))
        group, masked = rng.random(len(image)) < 0.06, np.flatnonzero(rng.random(len(image)) < 0.9)
        edges = [decimals(box[:, edge]) for edge in range(4)]
        present = np.unique(image * CLASSES + label)
        absent = np.setdiff1d((np.arange(count)[:, None] * CLASSES + denied).ravel(), present)
        objects = (ids[image], cells[label], width[image], height[image], *edges, flags[group * 1])
        yield {
            "truth/boxes.csv": csv_lines(ids[image], cells[label], *edges, flags[group * 1]),
            "truth/masks.csv": csv_lines(
                *(column[masked] for column in objects), packed(rng, box[masked], sides[image[masked]])
            ),
            "truth/image_labels.csv": b"".join(
                csv_lines(ids[keys // CLASSES], cells[keys % CLASSES], np.repeat(flags[sure], len(keys)))
                for keys, sure in ((present, 1), (absent, 0))
            ),
            "truth/images.csv": csv_lines(ids, width, height),
            "kaggle.csv": predictions(
                rng,
                per_image,
                encoded([b",".join(row).decode() for row in zip(ids, width, height, strict=True)]),
                sides,
                np.concatenate([topics, denied], axis=1),
                (image, label, box),
                family,
            ),
        }


def predictions(rng, per_image, heads, sides, classes, objects, family):  # type: ignore[no-untyped-def]
    """Return simulated detections as prediction strings.

    Most objects are detected, some of them twice. Each detection is repeated for the ancestors of its class, and false
    positives are added.
    """
    image, label, box = objects
    seen = np.flatnonzero(rng.random(len(image)) < 0.75)
    seen = np.concatenate([seen, seen[rng.random(len(seen)) < 0.3]])
    right_image, right_box = image[seen], shaken(rng, box[seen], 0.05)
    row, named = np.nonzero(family[label[seen]])
    wanted = max(per_image * len(heads) - len(row), 0)
    false_image, false_box = rng.integers(0, len(heads), wanted), boxes(rng, wanted)
    attention = classes[false_image, rng.integers(0, TOPICS + DENIED, wanted)]
    false_label = np.where(rng.random(wanted) < 0.5, attention, rng.integers(0, CLASSES, wanted))
    sure = np.concatenate([rng.beta(3, 1.5, len(seen))[row], rng.beta(1, 6, wanted)])
    texts = packed(rng, np.concatenate([right_box, false_box]), sides[np.concatenate([right_image, false_image])])
    place = np.concatenate([right_image[row], false_image])
    order = np.argsort(place, kind="stable")
    source = np.concatenate([row, len(seen) + np.arange(wanted)])[order]
    cells = encoded(LABELS)[np.concatenate([named, false_label])[order]]
    score = decimals((sure[order] * 1_000_000).astype(np.int64))
    return prediction_strings(heads, place[order], cells, score, texts[source])


def write(folder: Path, *, images: int, per_image: int = 10, seed: int = 1) -> None:
    """Write a ground truth to ``folder/truth``, and a submission with prediction strings to ``folder/kaggle.csv``."""
    (folder / "truth").mkdir(parents=True, exist_ok=True)
    (folder / "truth" / "hierarchy.json").write_text(json.dumps(tree()))
    (folder / "truth" / "classes.csv").write_text("".join(f"{label},class {n}\n" for n, label in enumerate(LABELS)))
    files = {name: (folder / name).open("wb") for name in HEADS}
    for name, head in HEADS.items():
        files[name].write(head.encode())
    for texts in blocks(images, per_image, seed):
        for name, text in texts.items():
            files[name].write(text)
    for file in files.values():
        file.close()
