"""Submissions with overfull images, drawn from a seed: around the cap of 10,000 predictions."""

import random

from tests.evaluator.kernels import cases

COUNTS = [9_999, 10_000, 10_001, 10_001, 12_000]
HEADS = {"kaggle": "ImageId,PredictionString", "long": "ImageID,LabelName,Score,XMin,YMin,XMax,YMax"}
Rows = list[list[str]]  # image, label, confidence, XMin, YMin, XMax, YMax


def rows(chance: random.Random, images: list[str], labels: list[str]) -> Rows:
    """Draw an overfull image of one or two classes, in which many predictions have the confidence at the cap."""
    image, few = chance.choice(images), chance.sample(labels, min(len(labels), chance.choice([1, 1, 2])))
    tied, found = chance.choice(["0.5", "0", "1"]), []
    for label in few:
        equal = chance.choice([1.0, 0.5, 0.0])
        for _ in range(chance.choice(COUNTS)):
            confidence = tied if chance.random() < equal else f"{chance.random():.4f}"
            found.append([image, label, confidence, *valid_box(chance)])
    found += [[chance.choice(images), chance.choice(labels), "0.7", *valid_box(chance)] for _ in range(30)]
    return found


def valid_box(chance: random.Random) -> list[str]:
    """Draw XMin, YMin, XMax, YMax: one of a few boxes, or a random one that overlaps them."""
    if chance.random() < 0.3:
        return list(chance.choice(cases.FEW_BOXES))
    x, y = chance.random() * 0.5, chance.random() * 0.5
    return [f"{edge:.3f}" for edge in (x, y, x + 0.4, y + 0.45)]


def file(chance: random.Random, found: Rows, shape: str) -> str:
    """Return predictions as a file of one of the two shapes."""
    if shape == "long":
        chance.shuffle(found)
        return "\n".join([HEADS[shape], *(",".join(row) for row in found)]) + "\n"
    strings: dict[str, list[str]] = {}
    for image, *prediction in found:
        strings.setdefault(image, []).append(" ".join(prediction))
    return "\n".join([HEADS[shape], *(f"{image},{' '.join(texts)}" for image, texts in strings.items())]) + "\n"
