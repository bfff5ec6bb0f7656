"""If an image has more than 10,000 detections of a class, both scoring implementations score the same 10,000."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.metrics.confidence_cap import most_confident
from evaluator.metrics.matching import positions_in_groups, precedence_order
from evaluator.request import ReportOptions, Resources
from tests.evaluator.kernels import cases, overfull
from tests.evaluator.options import with_intervals

TRACK = "openimages-detection"


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", ["kaggle", "long"])
@pytest.mark.parametrize("seed", range(12))
def test_the_fast_path_scores_overfull_images_like_the_reference_implementation(
    seed: int, shape: str, threads: int, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    truth = cases.truth(chance, tmp_path / "truth")
    submission = tmp_path / "submission.csv"
    submission.write_text(overfull.file(chance, overfull.rows(chance, cases.IMAGES[:2], cases.LABELS[:3]), shape))
    parameters = {"group_of_weight": (0.0, 0.3, 1.0)[seed % 3], "expand_predictions": seed % 5 > 2}
    report = ReportOptions(curves=seed % 2 == 0, explanation=seed % 4 > 1)
    way, fast, reference = cases.both(
        TRACK, truth, submission, parameters=parameters, report=report, resources=Resources(threads=threads)
    )
    assert fast == reference
    assert way == "fast path" or "errors" in fast


def made(folder: Path, boxes: list[str]) -> Path:
    folder.mkdir()
    (folder / "boxes.csv").write_text("\n".join(["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf", *boxes]))
    (folder / "image_labels.csv").write_text("ImageID,LabelName,Confidence\na,cat,1\n")
    return folder


@pytest.mark.parametrize("shape", ["kaggle", "long"])
@pytest.mark.parametrize(
    ("better", "found"),
    [
        # In this case, box number 10,001 overlaps the object more than the other boxes do, so it is scored and is a
        # hit.
        (["0.5", "0.02", "0", "1", "1"], 0.5),
        # In this case, box number 10,001 overlaps the object less than the other boxes do, so it is not scored.
        (["0.5", "0", "0", "0.01", "1"], 0.0),
    ],
)
def test_among_equal_confidences_the_cap_keeps_higher_overlaps(
    better: list[str], found: float, shape: str, tmp_path: Path
) -> None:
    """The file has 10,000 boxes with an IoU of 0.3, which are not hits, and one more box with the same confidence.

    At most 10,000 detections of a class in an image are scored, so the overlap decides which box is left out.
    """
    truth = made(tmp_path / "truth", ["a,cat,0,1,0,1,0", "b,cat,0,1,0,1,0"])
    rows = [["a", "cat", "0.5", "0", "0", "0.3", "1"] for _ in range(10_000)] + [["a", "cat", *better]]
    submission = tmp_path / "submission.csv"
    submission.write_text(overfull.file(random.Random(1), rows, shape))
    way, fast, reference = cases.both(TRACK, truth, submission)
    assert (way, fast) == ("fast path", reference)
    row = fast["splits"]["all"]["classes"][0]
    assert (row["scored"], row["true_positives"] > 0) == (10_000, found > 0)


@pytest.mark.parametrize("shape", ["kaggle", "long"])
def test_the_cap_applies_to_each_class_separately(shape: str, tmp_path: Path) -> None:
    truth = made(tmp_path / "truth", ["a,cat,0,1,0,1,0", "a,dog,0,1,0,1,0"])
    labels = ["cat"] * 11_000 + ["dog"] * 9_000 + ["owl"] * 20_000
    rows = [["a", label, f"0.{index % 9 + 1}", "0", "0", "0.2", "1"] for index, label in enumerate(labels)]
    submission = tmp_path / "submission.csv"
    submission.write_text(overfull.file(random.Random(1), rows, shape))
    way, fast, reference = cases.both(TRACK, truth, submission, resources=Resources(threads=2))
    assert (way, fast) == ("fast path", reference)
    assert [row["scored"] for row in fast["splits"]["all"]["classes"]] == [10_000, 9_000]


@pytest.mark.parametrize("seed", range(30))
def test_the_cap_keeps_the_first_predictions_of_the_complete_order(seed: int) -> None:
    """If too many predictions have the same class and image, only those with the highest confidences are kept.

    If only some predictions with the same confidence can be kept, their overlaps decide which ones. Other overlaps are
    not computed.
    """
    numbers = np.random.default_rng(seed)
    keys, confidences = numbers.integers(0, 4, 300), numbers.integers(0, 6, 300) / 5
    overlaps, corners = numbers.integers(0, 3, 300) / 2, [numbers.integers(0, 3, 300) for _ in range(2)]
    asked: list[int] = []

    def tie_breaks(rivals: Any) -> Any:
        asked.extend(rivals.tolist())
        return overlaps[rivals], [corner[rivals] for corner in corners]

    cap = int(numbers.integers(1, 120))
    kept = most_confident(cap, keys, confidences, tie_breaks)
    order = precedence_order(keys, confidences, overlaps, corners)
    expected = order[positions_in_groups(keys[order]) < cap]

    def sorted_rows(chosen: Any) -> list[Any]:
        return sorted(zip(*(each[chosen].tolist() for each in (keys, confidences, overlaps, *corners)), strict=True))

    assert sorted_rows(kept) == sorted_rows(expected)
    for key in range(4):
        assert len(set(confidences[[index for index in asked if keys[index] == key]].tolist())) <= 1


def test_ignored_images_are_not_scored_even_if_they_are_overfull(tmp_path: Path) -> None:
    truth = made(tmp_path / "truth", ["a,cat,0,1,0,1,0", "b,cat,0,1,0,1,0"])
    (truth / "usage.csv").write_text("ImageID,Usage\na,Ignored\nb,Public\n")
    rows = [["a", "cat", "0.9", "0", "0", "1", "1"] for _ in range(10_500)] + [["b", "cat", "0.5", "0", "0", "1", "1"]]
    submission = tmp_path / "submission.csv"
    for shape in ("kaggle", "long"):
        submission.write_text(overfull.file(random.Random(1), rows, shape))
        way, fast, reference = cases.both(TRACK, truth, submission, report=with_intervals(20))
        assert way == "fast path"
        assert json.dumps(fast) == json.dumps(reference)
        assert fast["splits"]["all"]["classes"][0]["scored"] == 1
