"""Each box beside a group-of box has its own row for its best candidate. Kernels do not check this index."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.kernels.detection.state import KernelTruth, candidate_of, offsets_of
from evaluator.scoring import prepare
from evaluator.tracks.detection.fast.truth import kernel_truth
from evaluator.tracks.detection.truth import DetectionTruth
from evaluator.truth import Truth

CLASSES = ("cat", "dog", "owl")


@pytest.fixture(params=range(10))
def truth(request: pytest.FixtureRequest, tmp_path: Path) -> KernelTruth:
    """Generate a ground truth, and return its arrays."""
    chance = random.Random(request.param)
    images = [f"image {number}" for number in range(chance.randint(1, 8))]
    rows = [
        f"{chance.choice(images)},{chance.choice(CLASSES)},0,1,0,1,{chance.randint(0, 1)}"
        for _ in range(chance.randint(0, 60))
    ]
    (folder := tmp_path / "truth").mkdir()
    (folder / "boxes.csv").write_text("\n".join(["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf", *rows]) + "\n")
    labels = [f"{image},cat,1" for image in images]
    (folder / "image_labels.csv").write_text("\n".join(["ImageID,LabelName,Confidence", *labels]) + "\n")
    prepare("openimages-detection", folder, tmp_path / "truth.podium")
    loaded: Any = Truth.load(tmp_path / "truth.podium")
    return kernel_truth(DetectionTruth.of(loaded), expand_predictions=False)


def rows_of(truth: KernelTruth, image: int, offsets: tuple[int, int]) -> list[int]:
    """Return the rows of all boxes of an image that are beside group-of boxes."""
    return [
        int(candidate_of.py_func(truth, offsets, position, box))
        for position in range(truth.verified_from[image], truth.verified_from[image + 1])
        if truth.groups_from[position] < truth.groups_from[position + 1]
        for box in range(truth.boxes_from[position], truth.boxes_from[position + 1])
    ]


def test_the_rows_of_one_image_begin_at_0_and_there_are_at_most_as_many_as_boxes(truth: KernelTruth) -> None:
    for image in range(len(truth.usage)):
        rows = rows_of(truth, image, offsets_of.py_func(truth, image))
        assert rows == list(range(len(rows)))
        assert len(rows) <= truth.most_boxes


def test_the_rows_of_all_images_follow_each_other(truth: KernelTruth) -> None:
    rows = [row for image in range(len(truth.usage)) for row in rows_of(truth, image, (0, 0))]
    assert rows == list(range(truth.candidates_from[-1]))


def test_the_largest_numbers_of_objects_are_those_of_an_image(truth: KernelTruth) -> None:
    boxes, groups = (np.diff(starts[truth.verified_from]) for starts in (truth.boxes_from, truth.groups_from))
    assert (truth.most_boxes, truth.most_groups) == (boxes.max(), groups.max())
