"""On the reference path, too, a file needs the same memory whether or not one private object is of its class."""

import base64
import tracemalloc
import zlib
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from evaluator.files.source import Source
from evaluator.files.submission import Table
from evaluator.metrics import matching
from evaluator.scoring import load_kernels, silent
from evaluator.tracks import contest_of
from evaluator.tracks.contest import Contest
from evaluator.tracks.folders import open_truth
from evaluator.truth import Truth

PREDICTIONS = 30_000
MOST = 1.05
SIDE = 8
BOX = "0,0.5,0,0.5"
MASK = base64.b64encode(zlib.compress(b"444" + b"0" * (2 * SIDE - 3))).decode()  # the lower half of each column
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


BOXES = ("ImageID,LabelName,Score,XMin,XMax,YMin,YMax", f"two,cat,0.%d,{BOX}")
MASKS = ("ImageID,ImageWidth,ImageHeight,LabelName,Score,Mask", f"two,{SIDE},{SIDE},cat,0.%d,{MASK}")
PAIRS = (
    "ImageID,LabelName1,LabelName2,RelationshipLabel,Score,XMin1,XMax1,YMin1,YMax1,XMin2,XMax2,YMin2,YMax2",
    f"two,cat,dog,on,-0.%d,{BOX},{BOX}",
)
CASES = [
    pytest.param("openimages-detection", detection, BOXES, {"protocol": "fiftyone"}, id="FiftyOne"),
    pytest.param(
        "openimages-detection", detection, BOXES, {"protocol": "fiftyone", "classwise": False}, id="across classes"
    ),
    pytest.param("openimages-detection", detection, BOXES, {"group_of_weight": 0.5}, id="reference path"),
    pytest.param("openimages-segmentation", segmentation, MASKS, {}, id="masks"),
    pytest.param("openimages-relationships", relationships, PAIRS, {}, id="pairs"),
]


@pytest.mark.parametrize(("track", "tables", "file", "parameters"), CASES)
def test_an_object_of_another_class_changes_no_peak_memory(
    track: str, tables: Any, file: tuple[str, str], parameters: dict[str, Any], tmp_path: Path, monkeypatch: Any
) -> None:
    """The memory of matching and scoring alone, as reading sees no object; portions are made small, as the file is."""
    monkeypatch.setattr(matching, "PAIRS_AT_ONCE", matching.PAIRS_AT_ONCE // 64)
    load_kernels()
    submission, peaks = tmp_path / "submission.csv", []
    submission.write_text("\n".join([file[0], *(file[1] % (place % 9 + 1) for place in range(PREDICTIONS))]) + "\n")
    contest = contest_of(track)
    resolved = contest.track.resolve(parameters)
    for label in ("cat", "dog"):
        folder = tmp_path / label
        folder.mkdir()
        for name, lines in tables(label).items():
            (folder / name).write_text("\n".join(lines) + "\n")
        truth = open_truth(contest, folder, resolved)
        table = contest.read(Source(submission), truth, resolved)
        peaks.append(min(peak(contest, truth, deepcopy(table), resolved) for _ in range(2)))
    assert max(peaks) < MOST * min(peaks)


def peak(contest: Contest, truth: Truth, table: Table, parameters: Mapping[str, Any]) -> int:
    """Return the bytes that are added at most. Measured twice: the first time modules may be loaded, too."""
    tracemalloc.start()
    try:
        contest.evaluate(truth, table, parameters, silent)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
