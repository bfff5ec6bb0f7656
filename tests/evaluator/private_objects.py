"""Provides pairs of ground truths that differ in the class of one object in a private image, and submissions."""

import base64
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

LABELS = ("cat", "dog")
SIDE = 8
BOX = "0,0.5,0,0.5"
# A mask in which the pixels in the lower half of each column are set.
MASK = base64.b64encode(zlib.compress(b"444" + b"0" * (2 * SIDE - 3))).decode()
Tables = dict[str, list[str]]
IMAGES: Tables = {
    "images.csv": ["ImageID,Width,Height", f"one,{SIDE},{SIDE}", f"two,{SIDE},{SIDE}"],
    "usage.csv": ["ImageID,Usage", "one,Public", "two,Private"],
    "classes.csv": ["cat,Cat", "dog,Dog"],
    "image_labels.csv": ["ImageID,LabelName,Confidence"],
}


def detection(label: str) -> Tables:
    labels = ["ImageID,LabelName,Confidence", "one,cat,1", f"two,{label},1"]
    boxes = ["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf", f"one,cat,{BOX},0", f"two,{label},{BOX},0"]
    return IMAGES | {"image_labels.csv": labels, "boxes.csv": boxes}


def segmentation(label: str) -> Tables:
    header = "ImageID,LabelName,ImageWidth,ImageHeight,XMin,XMax,YMin,YMax,IsGroupOf,Mask"
    rows = [f"{image},{SIDE},{SIDE},{BOX},0,{MASK}" for image in ("one,cat", f"two,{label}")]
    return detection(label) | {"masks.csv": [header, *rows]}


def relationships(label: str) -> Tables:
    header = "ImageID,LabelName1,LabelName2,RelationshipLabel,XMin1,XMax1,YMin1,YMax1,XMin2,XMax2,YMin2,YMax2"
    rows = [f"one,cat,dog,on,{BOX},{BOX}", f"two,{label},dog,on,{BOX},{BOX}"]
    return IMAGES | {"relationships.csv": [header, *rows], "relations.csv": ["on,on"]}


# The reference implementation scores these submissions. The fast path supports neither quotes nor, for relationships,
# negative confidences, and there is no fast path for masks.
BOXES = ("ImageID,LabelName,Score,XMin,XMax,YMin,YMax", f'"two",cat,0.%d,{BOX}')
MASKS = ("ImageID,ImageWidth,ImageHeight,LabelName,Score,Mask", f"two,{SIDE},{SIDE},cat,0.%d,{MASK}")
PAIRS = (
    "ImageID,LabelName1,LabelName2,RelationshipLabel,Score,XMin1,XMax1,YMin1,YMax1,XMin2,XMax2,YMin2,YMax2",
    f"two,cat,dog,on,-0.%d,{BOX},{BOX}",
)


class Case(NamedTuple):
    """Two ground truths that differ only in the class of an object in a private image, and a submission to score.

    ``tables`` is a function that takes the class of the private object and returns the tables of a ground truth.
    ``file`` contains the header of the submission and a template for its rows.
    """

    track: str
    tables: Callable[[str], Tables]
    file: tuple[str, str]
    parameters: dict[str, Any]

    def truths(self, folder: Path) -> list[Path]:
        """Write the two ground truths, one for each class in ``LABELS``, and return the paths of their folders."""
        found = [folder / label for label in LABELS]
        for path in found:
            path.mkdir(parents=True, exist_ok=True)
            for name, lines in self.tables(path.name).items():
                (path / name).write_text("\n".join(lines) + "\n")
        return found

    def submission(self, path: Path, predictions: int) -> Path:
        """Write a submission with the given number of predictions, all of which are of cats in the private image."""
        header, row = self.file
        path.write_text("\n".join([header, *(row % (place % 9 + 1) for place in range(predictions))]) + "\n")
        return path


CASES = {
    "FiftyOne": Case("openimages-detection", detection, BOXES, {"protocol": "fiftyone"}),
    "FiftyOne across classes": Case(
        "openimages-detection", detection, BOXES, {"protocol": "fiftyone", "classwise": False}
    ),
    "boxes": Case("openimages-detection", detection, BOXES, {"group_of_weight": 0.5}),
    "masks": Case("openimages-segmentation", segmentation, MASKS, {}),
    "pairs": Case("openimages-relationships", relationships, PAIRS, {}),
}
"""Test cases, keyed by name. All of them are scored by the reference implementation."""
