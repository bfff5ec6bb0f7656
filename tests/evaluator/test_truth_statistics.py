"""For each split, the statistics of a ground truth agree with the content of the ground truth files."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import TRACKS
from evaluator.request import TruthOptions
from evaluator.scoring import prepare, statistics
from evaluator.synthesis import synthesize

BOXES = """\
ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf,IsOccluded
a,/m/cat,0,0.1,0,0.1,0,1
a,/m/cat,0,1,0,1,1,0
b,/m/dog,0,0.5,0,0.5,0,-1
"""
LABELS = "ImageID,LabelName,Confidence\na,/m/cat,1\na,/m/dog,0\nb,/m/dog,1\n"
USAGE = "ImageID,Usage\na,Public\nb,Private\nc,Private\n"
HIERARCHY = {"LabelName": "/m/0", "Subcategory": [{"LabelName": "/m/cat"}, {"LabelName": "/m/dog"}]}


@pytest.fixture
def small(tmp_path: Path) -> dict[str, Any]:
    """Return the statistics of a ground truth with three images and three boxes."""
    files = {"boxes.csv": BOXES, "image_labels.csv": LABELS, "images.csv": "ImageID\na\nb\nc\n", "usage.csv": USAGE}
    for name, text in {**files, "hierarchy.json": json.dumps(HIERARCHY)}.items():
        (tmp_path / name).write_text(text)
    prepare("openimages-detection", tmp_path, tmp_path / "t.podium")
    return statistics("openimages-detection", tmp_path / "t.podium")


def test_copies_for_ancestors_are_not_counted(small: dict[str, Any]) -> None:
    counts = {one["title"]: one["values"] for one in small["counts"]}
    assert counts["Images"] == {"all": 3, "public": 1, "private": 2}
    assert counts["Boxes"] == {"all": 3, "public": 2, "private": 1}
    assert counts["Images with boxes"] == {"all": 2, "public": 1, "private": 1}
    assert counts["Verified labels with a box"] == {"all": 2, "public": 1, "private": 1}
    assert counts["Verified labels without a box"] == {"all": 1, "public": 1, "private": 0}


def test_a_share_without_items_is_undefined(small: dict[str, Any]) -> None:
    counts = {one["title"]: one["values"] for one in small["counts"]}
    assert counts["Share of group-of boxes"] == {"all": 1 / 3, "public": 0.5, "private": 0.0}
    assert counts["Share of boxes with IsOccluded"] == {"all": 0.5, "public": 0.5, "private": None}


def test_an_image_without_boxes_is_in_the_first_bin(small: dict[str, Any]) -> None:
    boxes, sizes = small["histograms"]
    assert boxes["bins"][:3] == ["0", "1", "2"]
    assert boxes["values"]["all"][:3] == [1, 1, 1]
    assert boxes["values"]["private"][:3] == [1, 1, 0]
    assert dict(zip(sizes["bins"], sizes["values"]["all"], strict=True))["≥ 30%"] == 1


def test_a_class_that_is_missing_in_one_half_is_listed(small: dict[str, Any]) -> None:
    ranking = small["rankings"][0]
    assert ranking["missing"] == {"public": 1, "private": 1}
    assert ranking["rows"][0] == {"label": "/m/cat", "name": "/m/cat", "all": 2, "public": 2, "private": 0}
    assert [row["label"] for row in ranking["unbalanced"]] == ["/m/cat", "/m/dog"]
    assert ranking["curves"]["all"] == [(1, 2), (2, 1)]


@pytest.mark.parametrize("name", TRACKS)
def test_every_track_has_statistics_of_bounded_size(name: str, tmp_path: Path) -> None:
    synthesize(name, tmp_path, images=12, qualities=(0.6,))
    prepare(name, tmp_path / "truth", tmp_path / "t.podium", opening=TruthOptions())
    found = statistics(name, tmp_path / "t.podium")
    assert found["counts"][0]["title"] == "Images"
    assert len(found["counts"]) > 1
    assert len(json.dumps(found)) < 100_000
