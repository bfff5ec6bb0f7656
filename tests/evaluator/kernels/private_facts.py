"""Generates ground truths that differ in one line, and adversarial submissions that must not reveal the difference."""

import gzip
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from evaluator.scoring import prepare
from tests.evaluator.kernels import cases, overfull

IMAGES, LABELS = ["one", "two", "three"], ["cat", "dog", "owl"]
LONG_LABEL, FOREIGN_LABEL = "x" * 300, "Ünïcode!"
UNUSUAL_LABELS = ["yak", "yak", LONG_LABEL, FOREIGN_LABEL]
# The lines of each ground truth file without the header, keyed by file name.
Truth = dict[str, list[str]]
Fact = Callable[[Truth], None]
HEADERS = {
    "boxes.csv": "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf",
    "image_labels.csv": "ImageID,LabelName,Confidence",
    "relationships.csv": ",".join(
        [*cases.PAIR[:4], *(f"{edge}{n}" for n in (1, 2) for edge in ("XMin", "XMax", "YMin", "YMax"))]
    ),
    "images.csv": "ImageID",
    "usage.csv": "ImageID,Usage",
}
SHARED: Truth = {
    "images.csv": IMAGES,
    "usage.csv": ["one,Public", "two,Private", "three,Public"],
    "image_labels.csv": ["one,cat,1", "one,owl,0", "two,dog,1", "three,cat,0"],
}
HIERARCHY = '{"LabelName": "root", "Subcategory": [{"LabelName": "cat", "Subcategory": [{"LabelName": "dog"}]},'
HIERARCHY += ' {"LabelName": "owl"}]}'
LISTS = {
    "open": {},
    "classes": {"classes.csv": "".join(f"{label},name\n" for label in LABELS)},
    "hierarchy": {"hierarchy.json": HIERARCHY},
    "relations": {"classes.csv": "".join(f"{label},name\n" for label in LABELS), "relations.csv": "on,on\nat,at\n"},
}
BOXES = ["one,cat,0,0.5,0,0.5,0", "one,cat,0.5,1,0,1,1", "two,dog,0,1,0,1,0", "three,dog,0,0.5,0,0.5,0"]
PAIRS = ["one,cat,dog,on,0,0.5,0,1,0.5,1,0,1", "two,dog,dog,at,0,1,0,1,0,0.5,0,1", "two,dog,dog,at,0,1,0,1,0,1,0,1"]


def row(file: str, old: str | None, new: str | None) -> Fact:
    """Return a function that removes, adds or replaces one line in a ground truth file."""

    def change(truth: Truth) -> None:
        lines = truth[file] = list(truth[file])
        if old is not None:
            lines.remove(old)
        if new is not None:
            lines.append(new)

    return change


FACTS: dict[str, dict[str, Fact]] = {
    "openimages-detection": {
        "a label verified as present": row("image_labels.csv", None, "one,dog,1"),
        "a label verified as absent": row("image_labels.csv", None, "two,cat,0"),
        "a label no longer verified": row("image_labels.csv", "one,owl,0", None),
        "the only label of a class": row("image_labels.csv", "two,dog,1", None),
        "an opposite label": row("image_labels.csv", "three,cat,0", "three,cat,1"),
        "a box where nothing was verified": row("boxes.csv", None, "three,owl,0,0.5,0,0.5,0"),
        "one more box": row("boxes.csv", None, "one,cat,0,0.5,0,1,0"),
        "one box fewer": row("boxes.csv", "three,dog,0,0.5,0,0.5,0", None),
        "a group": row("boxes.csv", "one,cat,0,0.5,0,0.5,0", "one,cat,0,0.5,0,0.5,1"),
        "an ignored image": row("usage.csv", "one,Public", "one,Ignored"),
        "a public image": row("usage.csv", "two,Private", "two,Public"),
    },
    "openimages-relationships": {
        "one more triplet": row("relationships.csv", None, "three,cat,owl,on,0,0.5,0,1,0,0.5,0,1"),
        "one triplet fewer": row("relationships.csv", PAIRS[0], None),
        "a moved triplet": row("relationships.csv", PAIRS[1], PAIRS[1].replace("0.5", "0.25")),
        "a different relation": row("relationships.csv", PAIRS[0], PAIRS[0].replace(",on,", ",at,")),
        "a label verified as present": row("image_labels.csv", None, "three,dog,1"),
        "a label verified as absent": row("image_labels.csv", None, "two,cat,0"),
        "a label no longer verified": row("image_labels.csv", "one,owl,0", None),
        "an ignored image": row("usage.csv", "one,Public", "one,Ignored"),
        "a public image": row("usage.csv", "two,Private", "two,Public"),
    },
    "openimages-classification": {
        "a label verified as present": row("image_labels.csv", None, "one,dog,1"),
        "a label verified as absent": row("image_labels.csv", None, "two,cat,0"),
        "a label no longer verified": row("image_labels.csv", "one,owl,0", None),
        "an opposite label": row("image_labels.csv", "three,cat,0", "three,cat,1"),
        "an ignored image": row("usage.csv", "one,Public", "one,Ignored"),
        "a public image": row("usage.csv", "two,Private", "two,Public"),
    },
}
OPEN_FACTS = {f"{label[:8]} known": row("image_labels.csv", None, f"three,{label},1") for label in UNUSUAL_LABELS}
OPEN_PAIRS = {
    f"{label[:8]} related": row("relationships.csv", None, f"three,cat,cat,{label},0,1,0,1,0,1,0,1")
    for label in UNUSUAL_LABELS
}
LISTED_BY = {
    "openimages-detection": ["open", "classes", "hierarchy"],
    "openimages-relationships": ["open", "relations"],
    "openimages-classification": ["open", "classes", "hierarchy"],
}
OBJECTS: dict[str, Truth] = {
    "openimages-detection": {"boxes.csv": BOXES},
    "openimages-relationships": {"relationships.csv": PAIRS},
    "openimages-classification": {},
}
# Number of columns of a row in the long layout.
COLUMNS = {"openimages-detection": 7, "openimages-classification": 3}


def written(track: str, listed_by: str, folder: Path, fact: Fact | None = None) -> Path:
    """Write a ground truth folder and return its path.

    ``fact`` is a function that changes one line of the ground truth. If it is given, it is called before the files are
    written.
    """
    truth: Truth = {**SHARED, **OBJECTS[track]}
    if fact:
        fact(truth)
    folder.mkdir()
    for name, lines in truth.items():
        (folder / name).write_text("\n".join([HEADERS[name], *lines]) + "\n")
    for name, text in LISTS[listed_by].items():
        (folder / name).write_text(text)
    return folder


def facts(track: str, listed_by: str) -> Mapping[str, Fact]:
    """Return functions, keyed by name, each of which changes one secret line of a ground truth.

    ``listed_by`` is a key of ``LISTS``, which contains the public files that list the labels. For "open", there are no
    such files, so more lines of the ground truth are secret.
    """
    if listed_by != "open":
        return FACTS[track]
    return FACTS[track] | OPEN_FACTS | (OPEN_PAIRS if track == "openimages-relationships" else {})


def labels(chance: random.Random) -> list[str]:
    unusual = [chance.choice(UNUSUAL_LABELS)]
    return chance.choice([LABELS, LABELS, LABELS, LABELS[:1], LABELS[:2], [*LABELS, "yak"], unusual])


def detections(chance: random.Random) -> list[list[str]]:
    """Return random predictions, each with an image, a label, a confidence, XMin, YMin, XMax and YMax."""
    names = [*IMAGES, "elsewhere"] if chance.random() < 0.1 else IMAGES
    if chance.random() < 0.3:
        return overfull.rows(chance, names, labels(chance))
    known = labels(chance)
    return [
        [chance.choice(names), chance.choice(known), chance.choice(["0.5", "0.9", "1"]), *overfull.valid_box(chance)]
        for _ in range(chance.choice([0, 5, 60]))
    ]


def pairs(chance: random.Random) -> list[list[str]]:
    """Return random predictions for relationships, with the columns of :data:`cases.PAIR`.

    One image sometimes has more than 10,000 of these predictions.
    """
    known, relations = (
        labels(chance),
        chance.choice([["on"], ["at"], ["on", "at"], ["on", "at"], ["on", chance.choice(UNUSUAL_LABELS)]]),
    )
    names = chance.choice([IMAGES, IMAGES[:1]])
    drawn = []
    for _ in range(chance.choice([5, 60, 60, 60, 60, 60, 60, 60, 60, 10_500])):
        named = [chance.choice(names), chance.choice(known), chance.choice(known), chance.choice(relations)]
        drawn.append([*named, "0.5", *overfull.valid_box(chance), *overfull.valid_box(chance)])
    return drawn


def add_unusual_values(chance: random.Random, found: list[list[str]], confidence: int) -> None:
    """Put unusual values into a few cells of random rows, even in rows whose class is not scored."""
    for _ in range(chance.choice([0, 0, 1, 1, 2]) if found else 0):
        one, kind = chance.choice(found), chance.random()
        if len(one) == confidence + 1 and 0.3 <= kind < 0.7:  # The prediction has no coordinates.
            kind = (kind + 0.45) % 1
        if kind < 0.3:
            one[confidence] = chance.choice(["-0.5", "-20", "1.5", "nan", "-0.0", "0,5", "1e400", "1e-320"])
        elif kind < 0.5:
            # Swap two opposite edges. An inverted box cannot match any object.
            one[confidence + 1], one[confidence + 3] = one[confidence + 3], one[confidence + 1]
        elif kind < 0.7:
            one[confidence + 1] = chance.choice(["-3", "7", "inf", "x", "", "9" * 70, "0x1", " 0.25"])
        elif kind < 0.8:
            one[1] = chance.choice(["", "a b", '"cat"', FOREIGN_LABEL, LONG_LABEL])
        elif kind < 0.9:
            one[0] = chance.choice(["elsewhere", '"one"', "", "ü"])
        else:
            found.extend([list(one), list(one)])


def file(track: str, chance: random.Random) -> bytes:
    """Return a random submission to the given track, in one of the track's two file layouts."""
    found = [one[: COLUMNS[track]] for one in detections(chance)] if track in COLUMNS else pairs(chance)
    add_unusual_values(chance, found, 2 if track in COLUMNS else 4)
    if track in COLUMNS:
        lines = overfull.file(chance, found, chance.choice(["kaggle", "long"]), COLUMNS[track]).splitlines()
    elif chance.random() < 0.5:
        chance.shuffle(found)
        lines = [",".join(one) for one in [cases.PAIR, *found]]
    else:
        strings: dict[str, list[str]] = {}
        for one in found:
            strings.setdefault(one[0], []).extend(one[column] for column in cases.TOKENS)
        lines = ["ImageId,PredictionString", *(f"{image},{' '.join(tokens)}" for image, tokens in strings.items())]
    if chance.random() < 0.1:
        # Add an unusual last line to the submission: an empty or invalid one, or a copy of the previous line, so that
        # its image occurs twice.
        lines.append(chance.choice([lines[-1], "", "a,b,c", 'one,"', "one,"]))
    if chance.random() < 0.05:
        # Put the image of the last line in quotes, which only the reference implementation reads.
        image, comma, rest = lines[-1].partition(",")
        lines[-1] = f'"{image}"{comma}{rest}'
    content = (chance.choice(["\n", "\n", "\n", "\r\n"]).join(lines) + "\n").encode()
    return gzip.compress(content) if chance.random() < 0.05 else content


def neighbours(track: str, listed_by: str, folder: Path) -> Iterator[Path]:
    """Prepare and yield a ground truth, and then variants of it, each of which differs in a single line."""
    folder.mkdir()
    for name, fact in [("as it is", None), *facts(track, listed_by).items()]:
        prepare(track, written(track, listed_by, folder / f"folder of {name}", fact), folder / name)
        yield folder / name
