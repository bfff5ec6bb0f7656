"""Tests that the best possible submission reaches the best possible score under every rule about ancestors."""

from pathlib import Path
from typing import Any

import pytest

from evaluator.ceiling import score_ceiling
from evaluator.report import SplitReport
from tests.evaluator import test_segmentation_rules as masks
from tests.evaluator.test_detection_rules import LEFT, RIGHT, TREE

# An animal, a cat, which is also an animal and a pet, and a group of cats.
BOXES = [f"i,animal,{LEFT},0", f"i,cat,{RIGHT},0", f"j,cat,{LEFT},1"]


def ceiling_of(track: str, truth: Path, **parameters: Any) -> SplitReport:
    (truth / "hierarchy.json").write_text(TREE)
    return score_ceiling(track, truth, truth.parent / "ceiling.csv", parameters).splits["all"]


@pytest.mark.parametrize("expand_predictions", [False, True])
@pytest.mark.parametrize("protocol", ["tfod", "fiftyone"])
def test_the_ceiling_of_boxes_is_1(protocol: str, expand_predictions: bool, tmp_path: Path) -> None:
    found = ceiling_of(
        "openimages-detection", boxes(tmp_path), protocol=protocol, expand_predictions=expand_predictions
    )
    assert {row["label"]: row["false_positives"] for row in found.classes} == {"animal": 0, "cat": 0, "pet": 0}
    assert found.metrics["mAP"] == 1.0


def test_the_ceiling_is_1_if_predictions_can_match_boxes_of_other_classes(tmp_path: Path) -> None:
    found = ceiling_of("openimages-detection", boxes(tmp_path), protocol="fiftyone", classwise=False)
    assert found.metrics["mAP"] == 1.0


@pytest.mark.parametrize("expand_predictions", [False, True])
def test_the_ceiling_of_masks_is_1(expand_predictions: bool, tmp_path: Path) -> None:
    truth = masks.truth(tmp_path, [(masks.LEFT, 0, True), ((2, 4, 0, 4), 1, True)])
    found = ceiling_of(masks.TRACK, truth, expand_predictions=expand_predictions)
    assert {row["label"]: row["false_positives"] for row in found.classes} == {"animal": 0, "cat": 0, "pet": 0}
    assert found.metrics["mAP"] == 1.0


def boxes(tmp_path: Path) -> Path:
    """Write a ground truth with the rows of `BOXES`, and return its folder."""
    truth = tmp_path / "truth"
    truth.mkdir()
    (truth / "boxes.csv").write_text("\n".join(["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf", *BOXES, ""]))
    labels = ["i,animal,1", "i,cat,1", "j,cat,1"]
    (truth / "image_labels.csv").write_text("\n".join(["ImageID,LabelName,Confidence", *labels, ""]))
    return truth
