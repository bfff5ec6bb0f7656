"""The gain from fixing all errors of one kind is computed as in TIDE, except that every class remains in the mean.

TIDE is a toolbox for analysing detection errors. The numbers named TIDE are from tidecv 1.0.1 (`TIDE().evaluate`, mode
`bbox`), which approximates areas with 101 points. Its gains differ from exact gains by up to 0.01. In 300 random cases
with predictions of every class, all counts were equal, and no gain differed by more than 0.0081.
"""

from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import TRACKS
from evaluator.report import Report
from evaluator.request import ReportOptions, ScoringRequest
from evaluator.scoring import score
from tests.evaluator import test_relationship_explanations as relationships
from tests.evaluator.test_explanations import LEFT, RIGHT, WHOLE, class_row, explained, table, written

BARS = 0.011
TIDE_COUNTS = {"class": 1, "localization": 1, "both": 1, "duplicate": 1, "background": 1, "missed": 3}

# The ground truth has five cats and two dogs. Two predictions of cats are hits and four are false positives. The only
# prediction of a dog is a false positive. The predictions, in this order, are two hits, a duplicate, a class error, a
# localization error, an error in both class and localization, and a background error.
BOXES = [
    *(f"i,cat,{LEFT},0", f"i,dog,{RIGHT},0", f"j,cat,{WHOLE},0", f"k,cat,{WHOLE},0"),
    *(f"l,cat,{WHOLE},0", f"m,cat,{WHOLE},0", f"m,dog,{LEFT},0"),
]
LABELS = [f"{image},{label},1" for image in "ijklm" for label in ("cat", "dog")]
PREDICTIONS = [
    f"k,cat,0.95,{WHOLE}",
    f"i,cat,0.9,{LEFT}",
    f"i,cat,0.8,{LEFT}",
    f"i,cat,0.7,{RIGHT}",
    "j,cat,0.6,0,1,0,0.3",
    "j,dog,0.55,0,1,0,0.3",
    "l,cat,0.45,0.95,1,0.95,1",
]
TIDE_GAINS = {
    "class": 0.2525,
    "localization": 0.0594,
    "both": 0.0,
    "duplicate": 0.0,
    "background": 0.0,
    "missed": 0.1287,
    "all_false_positives": 0.0,
    "all_misses": 0.2970,
}


def gains(report: Report, metric: str = "mAP") -> dict[str, Any]:
    rows = [*report.splits["all"].tables["errors"], *report.splits["all"].tables["error_sums"]]
    return {str(row["kind"]): row[f"delta_{metric}"] for row in rows}


@pytest.fixture
def two_classes(tmp_path: Path) -> Report:
    return explained(written(tmp_path, BOXES, LABELS, PREDICTIONS))


def test_a_class_without_remaining_objects_keeps_its_precision_as_in_tide(tmp_path: Path) -> None:
    """The only cat is found. The only dog is missed, and the only prediction of a dog is a false positive.

    The gain would be 0.5 if a class whose objects have all been removed were left out of the mean.
    """
    predictions = [f"i,cat,0.9,{WHOLE}", f"j,dog,0.8,{RIGHT}"]
    labels = ["i,dog,1", "j,dog,1"]
    report = explained(written(tmp_path, [f"i,cat,{WHOLE},0", f"k,dog,{LEFT},0"], labels, predictions))
    assert report.splits["all"].metrics["mAP"] == 0.5
    assert gains(report)["missed"] == 0.0
    assert gains(report)["all_misses"] == 0.0


def test_a_class_without_predictions_keeps_its_precision(tmp_path: Path) -> None:
    """The class remains in the mean. tidecv leaves it out, so tidecv's mean rises although there are no new hits."""
    report = explained(written(tmp_path, [f"i,cat,{WHOLE},0", f"k,dog,{LEFT},0"], [], [f"i,cat,0.9,{WHOLE}"]))
    assert (gains(report)["missed"], gains(report)["all_misses"]) == (0.0, 0.0)


def test_a_class_of_missed_groups_keeps_its_precision(tmp_path: Path) -> None:
    boxes = [f"i,cat,{WHOLE},0", f"k,dog,{LEFT},1", f"l,dog,{LEFT},1", f"m,dog,{LEFT},1"]
    files = written(tmp_path, boxes, [], [f"i,cat,0.9,{WHOLE}"])
    for weight in (1.0, 0.3, 0.1):
        assert gains(explained(files, group_of_weight=weight))["group_of"] == 0.0


def test_a_relation_without_remaining_triplets_keeps_its_precision(tmp_path: Path) -> None:
    truth, submission = tmp_path / "truth", tmp_path / "submission.csv"
    truth.mkdir()
    header, boxes = relationships.HEADER, relationships.BOXES
    triplets = [f"i,man,guitar,holds,{LEFT},{RIGHT}", f"j,man,horse,on,{LEFT},{RIGHT}"]
    (truth / "relationships.csv").write_text("\n".join([f"{header},{boxes}", *triplets]) + "\n")
    submission.write_text(f"{header},Score,{boxes}\ni,man,guitar,holds,0.9,{LEFT},{RIGHT}\n")
    report = score(
        ScoringRequest("openimages-relationships", truth, submission, report=ReportOptions(explanation=True))
    )
    assert report.splits["all"].metrics["mAP_relationships"] == 0.5
    found = gains(report, "mAP_relationships")
    assert (found["missed"], found["all_misses"], found["all_false_positives"]) == (0.0, 0.0, 0.0)


def test_counts_and_gains_are_those_of_tide(two_classes: Report) -> None:
    errors = table(two_classes, "errors", "kind")
    counts = {kind: errors[kind]["misses" if kind == "missed" else "false_positives"] for kind in TIDE_COUNTS}
    assert counts == TIDE_COUNTS
    ours = gains(two_classes)
    assert {kind: ours[kind] for kind in TIDE_GAINS} == pytest.approx(TIDE_GAINS, abs=BARS)


def test_the_sums_contain_every_false_positive_and_every_miss(two_classes: Report) -> None:
    sums = table(two_classes, "error_sums", "kind")
    classes = two_classes.splits["all"].classes
    assert sums["all_false_positives"]["false_positives"] == sum(row["false_positives"] for row in classes) == 5
    assert sums["all_misses"]["misses"] == sum(row["missed"] for row in classes) == 5


def test_gains_without_false_positives_and_without_misses_are_those_computed_by_hand(tmp_path: Path) -> None:
    """There are two objects, and a false positive has a higher confidence than the only hit, so AP is 1/4.

    If either the false positive or the missed object is removed, AP is 1/2.
    """
    predictions = [f"j,cat,0.9,{LEFT}", f"i,cat,0.8,{WHOLE}"]
    labels = ["j,cat,1"]
    report = explained(written(tmp_path, [f"i,cat,{WHOLE},0", f"k,cat,{WHOLE},0"], labels, predictions))
    assert report.splits["all"].metrics["mAP"] == 1 / 4
    assert (gains(report)["all_false_positives"], gains(report)["all_misses"]) == (1 / 4, 1 / 4)


@pytest.mark.parametrize("weight", [1.0, 0.3, 0.0])
def test_a_missed_group_counts_as_its_weight_in_all_tables(weight: float, tmp_path: Path) -> None:
    """One cat and one group box (around several cats) are found. One cat and two group boxes are missed."""
    boxes = [f"{image},cat,{WHOLE},{group}" for image, group in zip("ijklm", (0, 1, 0, 1, 1), strict=True)]
    report = explained(
        written(tmp_path, boxes, [], [f"i,cat,0.9,{WHOLE}", f"j,cat,0.8,{WHOLE}"]), group_of_weight=weight
    )
    cat, errors = class_row(report, "cat"), table(report, "errors", "kind")
    assert cat["truths"] == pytest.approx(2 + 3 * weight)
    assert cat["missed"] == pytest.approx(cat["truths"] - cat["true_positives"]) == pytest.approx(1 + 2 * weight)
    assert errors["group_of"]["misses"] == pytest.approx(2 * weight)
    assert sum(row["misses"] for row in errors.values()) == pytest.approx(cat["missed"])


@pytest.mark.parametrize(("weight", "found"), [(1.0, 1), (0.3, 1), (0.0, 0)])
def test_the_detection_that_matches_a_group_is_not_counted_as_absorbed(
    weight: float, found: int, tmp_path: Path
) -> None:
    predictions = [f"i,cat,0.{sure},{LEFT}" for sure in (4, 6, 5)]
    report = explained(written(tmp_path, [f"i,cat,{WHOLE},1"], [], predictions), group_of_weight=weight)
    cat = class_row(report, "cat")
    assert (cat["group_found"], cat["absorbed"]) == (found, 3 - found)


@pytest.mark.parametrize("track", ["openimages-detection", "openimages-segmentation", "openimages-relationships"])
def test_the_gain_is_described_as_that_of_the_metric_that_rises(track: str) -> None:
    (sums,) = (declared for declared in TRACKS[track].explained_tables if declared.name == "error_sums")
    gained = sums.columns[-1].title.removeprefix("Gain in ")
    assert all(meaning.startswith(f"gain in {gained} if ") for meaning in sums.meanings.values())
