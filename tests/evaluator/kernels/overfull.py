"""Generates submissions in which an image has about as many predictions of a class as the cap allows (10,000)."""

import random

from tests.evaluator.kernels import cases

COUNTS = [9_999, 10_000, 10_001, 10_001, 12_000]
HEADS = {"kaggle": "ImageId,PredictionString", "long": "ImageID,LabelName,Score,XMin,YMin,XMax,YMax"}
# Each row of a submission has an image, a label, a confidence, XMin, YMin, XMax and YMax.
Rows = list[list[str]]


def rows(chance: random.Random, images: list[str], labels: list[str]) -> Rows:
    """Return random predictions for several images, one of which has about 10,000 predictions of one or two classes.

    Confidences in this image are often equal, so that predictions at the cap are tied.
    """
    image, few = chance.choice(images), chance.sample(labels, min(len(labels), chance.choice([1, 1, 2])))
    tied, found = chance.choice(["0.5", "0", "1", "-0.5", "-10"]), []
    for label in few:
        equal = chance.choice([1.0, 0.5, 0.0])
        for _ in range(chance.choice(COUNTS)):
            confidence = tied if chance.random() < equal else f"{chance.random():.4f}"
            found.append([image, label, confidence, *valid_box(chance)])
    found += [[chance.choice(images), chance.choice(labels), "0.7", *valid_box(chance)] for _ in range(30)]
    return found


def valid_box(chance: random.Random) -> list[str]:
    """Return XMin, YMin, XMax and YMax: one of four fixed boxes, or a random box that overlaps at least one of them."""
    if chance.random() < 0.3:
        return list(chance.choice(cases.FEW_BOXES))
    x, y = chance.random() * 0.5, chance.random() * 0.5
    return [f"{edge:.3f}" for edge in (x, y, x + 0.4, y + 0.45)]


def file(chance: random.Random, found: Rows, shape: str, columns: int = 7) -> str:
    """Return predictions with the given number of columns as a file in one of the layouts "kaggle" and "long"."""
    if shape == "long":
        chance.shuffle(found)
        rows = [HEADS[shape].split(",")[:columns], *found]
        return "\n".join(",".join(row) for row in rows) + "\n"
    strings: dict[str, list[str]] = {}
    for image, *prediction in found:
        strings.setdefault(image, []).append(" ".join(prediction))
    return "\n".join([HEADS[shape], *(f"{image},{' '.join(texts)}" for image, texts in strings.items())]) + "\n"
