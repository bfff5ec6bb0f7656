"""The explanation of a score is right in images with more boxes than a word has bits."""

import json
import random
from pathlib import Path

import pytest

from evaluator.request import ReportOptions
from tests.evaluator.kernels import cases

CLASSES = ["animal", "cat", "dog", "car"]
ANIMAL = {"LabelName": "animal", "Subcategory": [{"LabelName": "cat"}, {"LabelName": "dog"}]}
HIERARCHY = {"LabelName": "root", "Subcategory": [ANIMAL, {"LabelName": "car"}]}


def box(chance: random.Random) -> tuple[float, float, float, float]:
    x_min, y_min = (round(chance.uniform(0, 0.7), 2) for _ in range(2))
    return x_min, y_min, round(x_min + chance.uniform(0.1, 0.3), 2), round(y_min + chance.uniform(0.1, 0.3), 2)


@pytest.mark.parametrize("boxes", [63, 64, 65, 128, 200])
def test_boxes_of_other_classes_are_found_among_any_number_of_boxes(boxes: int, tmp_path: Path) -> None:
    chance = random.Random(boxes)
    (folder := tmp_path / "truth").mkdir()
    rows, predictions = [], []
    for image in ("a", "b"):
        drawn = [(chance.choice(CLASSES), box(chance)) for _ in range(boxes)]
        rows += [f"{image},{label},{x1},{x2},{y1},{y2},0" for label, (x1, y1, x2, y2) in drawn]
        found = [(chance.choice(CLASSES), where) for _, where in drawn] + [(chance.choice(CLASSES), box(chance))]
        tokens = [f"{label} {chance.random():.3f} {' '.join(map(str, where))}" for label, where in found]
        predictions.append(f"{image},{' '.join(tokens)}")
    labels = [f"{image},{label},1" for image in "ab" for label in CLASSES]
    (folder / "hierarchy.json").write_text(json.dumps(HIERARCHY))
    (folder / "boxes.csv").write_text("\n".join(["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf", *rows, ""]))
    (folder / "image_labels.csv").write_text("\n".join(["ImageID,LabelName,Confidence", *labels, ""]))
    submission = tmp_path / "submission.csv"
    submission.write_text("\n".join(["ImageId,PredictionString", *predictions, ""]))
    report = ReportOptions(curves=True, explanation=True)
    way, fast, reference = cases.both("openimages-detection", folder, submission, report=report)
    assert way == "fast path"
    assert fast == reference
