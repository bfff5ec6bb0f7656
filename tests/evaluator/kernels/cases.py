"""Generates small adversarial challenges from a seed, to compare compiled kernels with the reference implementation."""

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from evaluator import scoring
from evaluator.catalog import TRACKS
from evaluator.problems import InvalidSubmission
from evaluator.report import ReferenceNeeded
from evaluator.request import ScoringRequest
from evaluator.scoring import load_kernels, score

load_kernels()

LABELS = ["/m/a", "/m/01yrx", "/m/0bt9lr_long_label", "Ünïcode!"]
IMAGES = ["a!", "00ff", "exactly16letters", "an-image-with-a-rather-long-name"]
TREE = {"LabelName": "root", "Subcategory": [{"LabelName": LABELS[0], "Subcategory": [{"LabelName": LABELS[1]}]}]}
TREE["Subcategory"] += [{"LabelName": label} for label in LABELS[2:]]  # type: ignore[operator]
# In the hierarchy NET, the label of LAST has two parents and three ancestors.
LAST = {"LabelName": LABELS[1]}
NET = {"LabelName": LABELS[3], "Subcategory": [{"LabelName": label, "Subcategory": [LAST]} for label in LABELS[::2]]}
NET = {"LabelName": "root", "Subcategory": [NET, {"LabelName": LABELS[0]}]}
# The grid of coordinates is coarse, so that equal overlaps, touching boxes and identical boxes are frequent.
EDGES = ["0", "0.25", "0.5", "0.75", "1"]
CONFIDENCES = ["0", "-0.0", "0.5", ".5", "5e-1", "+0.9", "0.90000000000000002220446", "1", "1.0", "0.123456", "0.1"]
ODD_NUMBERS = ["1e-999", "1e-320", "7.5", "0.49999999999999994", "123456789012345678901234567890e-30", "00.5", "1e22"]
NEGATIVE = ["-0.5", "-5e-1", "-1", "-1.0", "-2.5", "-1e-320", "-9.999999999999998", "-10", "-11", "-1e300"]
PIECES = b'|,|"| |\n|\r|\0|\t|-|+|.|e|E5|nan|inf|1e400|\xff|0x1|1_0|\n\n| 0.5|,0.5|0|1e'.split(b"|")
PIECES += ["ü".encode(), b"9" * 70, b"x" * 300]
BLANKS = [" ", " ", " ", "  ", "\t", " \t "]


def truth(chance: random.Random, folder: Path) -> Path:
    """Write a random ground truth folder for detection and return its path.

    The ground truth may contain group boxes (each around several objects), ignored images and optional files, or no
    boxes at all.
    """
    folder.mkdir()
    images = chance.sample(IMAGES, chance.randint(1, 4))
    groups = chance.choice([0.0, 0.3, 1.0])
    boxes = ["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf"]
    few = LABELS[: chance.randint(1, len(LABELS))]
    for _ in range(chance.choice([0, 1, 6, 20])):
        drawn = box(chance)
        x, y = sorted(drawn[::2], key=float), sorted(drawn[1::2], key=float)
        group = int(chance.random() < groups)
        boxes.append(",".join([chance.choice(images), chance.choice(few), *x, *y, str(group)]))
    labels = {(chance.choice(images), chance.choice(LABELS)) for _ in range(chance.randint(0, 8))}
    verified = [f"{image},{label},{chance.randint(0, 1)}" for image, label in sorted(labels)]
    (folder / "boxes.csv").write_text("\n".join(boxes) + "\n")
    (folder / "image_labels.csv").write_text("\n".join(["ImageID,LabelName,Confidence", *verified]) + "\n")
    if chance.random() < 0.5:
        (folder / "hierarchy.json").write_text(json.dumps(chance.choice([TREE, NET])))
    if chance.random() < 0.5:
        (folder / "classes.csv").write_text("".join(f"{label},name\n" for label in LABELS))
    if chance.random() < 0.5:
        (folder / "images.csv").write_text("\n".join(["ImageID", *images]) + "\n")
    if chance.random() < 0.5:
        usage = [f"{image},{chance.choice(['Public', 'Private', 'Ignored'])}" for image in IMAGES]
        (folder / "usage.csv").write_text("\n".join(["ImageID,Usage", *usage]) + "\n")
    return folder


def number(chance: random.Random, common: list[str]) -> str:
    """Return a random number as a string: usually one of ``common``, and rarely a number in an unusual notation."""
    kind = chance.random()
    if kind < 0.02:
        return chance.choice(ODD_NUMBERS)
    if kind < 0.1:
        return repr(chance.random())
    if kind < 0.2:
        return f"{chance.random():.{chance.randint(1, 25)}f}"
    return chance.choice(common)


def detections(chance: random.Random) -> dict[str, list[list[str]]]:
    """Return random predictions by image. Each prediction has a label, a confidence, XMin, YMin, XMax and YMax."""
    names = [*IMAGES, "unknown"] if chance.random() < 0.3 else IMAGES
    labels = [*LABELS, "/m/unknown"] if chance.random() < 0.3 else LABELS[: chance.randint(1, len(LABELS))]
    confidences = [*CONFIDENCES, *NEGATIVE] if chance.random() < 0.3 else CONFIDENCES
    drawn: dict[str, list[list[str]]] = {}
    for image in chance.sample(names, chance.randint(0, len(names))):
        found = drawn.setdefault(image, [])
        for _ in range(chance.choice([0, 1, 5, 40])):
            if found and chance.random() < 0.1:
                found.append(found[0])
                continue
            found.append([chance.choice(labels), number(chance, confidences), *box(chance)])
    return drawn


def detection_file(chance: random.Random) -> bytes:
    """Return a random object detection submission in one of the two file layouts, with random formatting."""
    return written(chance, detections(chance), ["ImageID", "LabelName", "Score", "XMin", "YMin", "XMax", "YMax"])


def written(chance: random.Random, drawn: dict[str, list[list[str]]], header: list[str]) -> bytes:
    """Return predictions as a file in one of the two file layouts, with random formatting.

    ``header`` contains the column names of the long layout. The columns of a prediction string have the same order.
    """
    if chance.random() < 0.5:
        rows = ["ImageId,PredictionString"]
        for image, found in drawn.items():
            tokens = [token for prediction in found for token in prediction]
            text = "".join(chance.choice(BLANKS) + token for token in tokens)
            rows.append(f"{image},{text.lstrip() if chance.random() < 0.8 else text + chance.choice(BLANKS)}")
    else:
        order = list(range(len(header)))
        if chance.random() < 0.5:
            chance.shuffle(order)
        lines = [[image, *prediction] for image, found in drawn.items() for prediction in found]
        if chance.random() < 0.7:
            chance.shuffle(lines)
        rows = [",".join(row[column] for column in order) for row in [header, *lines]]
    return encoded(chance, rows)


RELATIONS = ["on", "is", "holds_with_a_long_name!"]
PAIR = ["ImageID", "LabelName1", "LabelName2", "RelationshipLabel", "Score"]
PAIR += [f"{edge}{box}" for box in (1, 2) for edge in ("XMin", "YMin", "XMax", "YMax")]
# The order of the columns in a prediction string, as indices into the list of column names PAIR.
TOKENS = [4, 1, 5, 6, 7, 8, 2, 9, 10, 11, 12, 3]


FEW_BOXES = [("0", "0", "0.5", "1"), ("0.5", "0", "1", "1"), ("0", "0", "1", "1"), ("0.25", "0", "0.5", "1")]


def box(chance: random.Random) -> list[str]:
    """Return XMin, YMin, XMax and YMax of a random box.

    Most boxes are one of four fixed boxes, so that some predictions match an object.
    """
    if chance.random() < 0.7:
        return list(chance.choice(FEW_BOXES))
    x, y = (chance.choices(EDGES, k=2) for _ in range(2))
    if chance.random() < 0.9:
        x, y = sorted(x, key=float), sorted(y, key=float)
    return [text if chance.random() < 0.95 else number(chance, EDGES) for text in (x[0], y[0], x[1], y[1])]


def pair_truth(chance: random.Random, folder: Path) -> Path:
    """Write a random ground truth folder with relationships. Some of them are equal. Optional files may be missing."""
    folder.mkdir()
    images, few = chance.sample(IMAGES, chance.randint(1, 4)), LABELS[: chance.randint(1, 2)]
    rows = [",".join([*PAIR[:4], *(f"{edge}{n}" for n in (1, 2) for edge in ("XMin", "XMax", "YMin", "YMax"))])]
    for _ in range(chance.choice([0, 1, 6, 30])):
        edges = [sorted(pair, key=float) for one in (box(chance), box(chance)) for pair in (one[::2], one[1::2])]
        named = [chance.choice(images), chance.choice(few), chance.choice(few), chance.choice(RELATIONS)]
        rows.append(",".join([*named, *edges[0], *edges[1], *edges[2], *edges[3]]))
    (folder / "relationships.csv").write_text("\n".join(rows) + "\n")
    verified = {(chance.choice(images), chance.choice(LABELS)) for _ in range(chance.randint(0, 8))}
    lines = [f"{image},{label},{chance.randint(0, 1)}" for image, label in sorted(verified)]
    files = {
        "image_labels.csv": ["ImageID,LabelName,Confidence", *lines],
        "classes.csv": [f"{label},name" for label in LABELS],
        "relations.csv": [f"{relation},name" for relation in RELATIONS],
        "images.csv": ["ImageID", *IMAGES],
        "usage.csv": ["ImageID,Usage", *(f"{i},{chance.choice(['Public', 'Private', 'Ignored'])}" for i in IMAGES)],
    }
    for name, content in files.items():
        if chance.random() < 0.5:
            (folder / name).write_text("\n".join(content) + "\n")
    return folder


def pair_file(chance: random.Random) -> bytes:
    """Return a random submission to the relationships track in one of the two file layouts."""
    names = [*IMAGES, "unknown"] if chance.random() < 0.1 else IMAGES
    labels = [*LABELS, "/m/unknown"] if chance.random() < 0.1 else LABELS[: chance.randint(1, 2)]
    relations = [*RELATIONS, "unknown"] if chance.random() < 0.1 else RELATIONS[: chance.randint(1, 3)]
    drawn: dict[str, list[list[str]]] = {}
    for image in chance.sample(names, chance.randint(0, len(names))):
        found = drawn.setdefault(image, [])
        for _ in range(chance.choice([0, 1, 20, 120])):
            named = [image, chance.choice(labels), chance.choice(labels), chance.choice(relations)]
            again = chance.choice(found)[5:] if found and chance.random() < 0.3 else [*box(chance), *box(chance)]
            found.append([*named, number(chance, CONFIDENCES), *again])
    if chance.random() < 0.5:
        rows = ["ImageId,PredictionString"]
        for image, found in drawn.items():
            text = "".join(chance.choice(BLANKS) + row[column] for row in found for column in TOKENS)
            rows.append(f"{image},{text.lstrip() if chance.random() < 0.8 else text + chance.choice(BLANKS)}")
    else:
        order = chance.sample(range(13), 13) if chance.random() < 0.5 else list(range(13))
        pairs = [row for found in drawn.values() for row in found]
        chance.shuffle(pairs)
        rows = [",".join(row[column] for column in order) for row in [PAIR, *pairs]]
    return encoded(chance, rows)


def label_file(chance: random.Random) -> bytes:
    """Return a random submission to the classification track, in one of the two file layouts."""
    drawn = {image: [one[:2] for one in found] for image, found in detections(chance).items()}
    return written(chance, drawn, ["ImageID", "LabelName", "Score"])


def plain(row: str, decimals: int) -> str:
    """Return a line with single blanks, and with the given number of decimals in most of its numbers."""
    row = re.sub(r"[ \t]+", " ", row)
    return re.sub(r"(?<=[ ,])[01]?(\.\d{1,6})?(?=[ ,]|$)", lambda text: fixed(text[0], decimals), row)


def fixed(text: str, decimals: int) -> str:
    return f"{float(text):.{decimals}f}" if text else text


def encoded(chance: random.Random, rows: list[str]) -> bytes:
    """Join lines into a file, with random line endings, and sometimes with a byte order mark or compression.

    In half of the files, most numbers have the same number of decimals, as in most submissions.
    """
    if chance.random() < 0.5:
        decimals = chance.choice([1, 6, 8, 12])
        rows = [rows[0], *(plain(row, decimals) for row in rows[1:])]
    end = chance.choice(["\n", "\n", "\r\n"])
    text = end.join(rows) + chance.choice(["", end, end + end, end + "  " + end])
    content = (chance.choice(["", "", "\ufeff"]) + text).encode()
    return gzip.compress(content) if chance.random() < 0.1 else content


def mutated(chance: random.Random, content: bytes) -> bytes:
    """Damage a file at one to three random positions, by replacing or inserting bytes."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        at = chance.randint(0, len(data))
        piece = chance.choice(PIECES)
        data[at : at + chance.choice([0, 0, 1, 2, 10])] = piece
    return bytes(data)


Answer = dict[str, Any]


@contextmanager
def reference_implementation() -> Iterator[None]:
    """Return a context manager that makes the reference implementation score every file."""
    with patch.object(scoring, "score_by_fast_path", return_value=ReferenceNeeded.OTHER_LIMITS):
        yield


def answer(track: str, truth: Path, submission: Path, **options: Any) -> tuple[str, Answer]:
    """Score a file and return the name of the implementation used and the report, with its curves and matches.

    The matches are the lines of a CSV file, so that numbers are compared to the last bit and with their sign. If the
    file is rejected, return "rejected" and the defects.
    """
    try:
        report = score(ScoringRequest(track, truth, submission, **options))
    except InvalidSubmission as error:
        return "rejected", error.findings.as_dict()
    matches = [",".join(map(str, row)) for row in report.matches.rows()]
    return report.way, {**report.for_organizer().as_dict(), "curves": report.curves, "matches": matches}


def both(track: str, truth: Path, submission: Path, **options: Any) -> tuple[str, Answer, Answer]:
    """Score a file with the default implementation and with the reference implementation.

    Return the name of the default implementation for this file, and both results.
    """
    way, fast = answer(track, truth, submission, **options)
    with reference_implementation():
        _, reference = answer(track, truth, submission, **options)
    return way, fast, reference


FILES: dict[str, Callable[[random.Random], bytes]] = {
    "openimages-detection": detection_file,
    "openimages-relationships": pair_file,
    "openimages-classification": label_file,
}
TRUTHS: dict[str, Callable[[random.Random, Path], Path]] = {
    "openimages-detection": truth,
    "openimages-relationships": pair_truth,
    "openimages-classification": truth,
}
assert set(FILES) <= set(TRACKS)
__all__ = ["FILES", "TRUTHS", "answer", "both", "mutated", "reference_implementation"]
