"""Tests each matching rule of FiftyOne on an example with three images, and compares it with the Open Images rule."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import DETECTION
from evaluator.problems import InvalidParameters
from evaluator.report import SplitReport
from evaluator.request import ScoringRequest
from evaluator.scoring import score
from evaluator.signature import compose
from tests.evaluator.test_golden import CASES, SHARED, assert_equal, found

WHOLE, LEFT, RIGHT, TOP = "0,1,0,1", "0,0.5,0,1", "0.5,1,0,1", "0,1,0,0.5"
# Each test case defines only image a. In every case, image b has a cat that is detected with confidence 0.5, and image
# c has no cat but a false positive with confidence 0.6.
BOXES = [f"b,cat,{WHOLE},0"]
LABELS = ["b,cat,1", "c,cat,0"]
PREDICTIONS = [f"b,cat,0.5,{WHOLE}", f"c,cat,0.6,{WHOLE}"]


def scored(
    tmp_path: Path, boxes: list[str], labels: list[str], predictions: list[str], **parameters: Any
) -> SplitReport:
    truth, submission = tmp_path / "truth", tmp_path / "submission.csv"
    truth.mkdir(exist_ok=True)
    lines = {
        truth / "boxes.csv": ["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf", *boxes],
        truth / "image_labels.csv": ["ImageID,LabelName,Confidence", *labels],
        submission: ["ImageID,LabelName,Score,XMin,XMax,YMin,YMax", *predictions],
    }
    for path, text in lines.items():
        path.write_text("\n".join(text) + "\n")
    return score(ScoringRequest("openimages-detection", truth, submission, parameters=parameters)).splits["all"]


def row_of(report: SplitReport, label: str) -> dict[str, Any]:
    return next(row for row in report.classes if row["label"] == label)


# The expected average precision is written as a sum over the hits. The comments list the outcomes of the predictions in
# order of descending confidence, and the number of objects that are counted. The outcome "group" means that a
# prediction matches a group-of box.
RULES = [
    pytest.param(
        [f"a,cat,{LEFT},0", f"a,cat,{LEFT},0"],
        ["a,cat,1"],
        [f"a,cat,0.9,{LEFT}", f"a,cat,0.8,{LEFT}"],
        2 / 3 + 1 / 3 * 3 / 4,  # Outcomes for three objects by FiftyOne's rules: hit, hit, false positive, hit.
        1 / 3 + 1 / 3 * 2 / 4,  # Outcomes by the Open Images rules: hit, false positive, false positive, hit.
        id="each of two equal objects can be matched",
    ),
    pytest.param(
        [f"a,cat,{WHOLE},0"],
        [],
        [f"a,cat,0.9,{WHOLE}"],
        1 / 2,  # FiftyOne counts a false positive first, then a hit, so the precision at the hit is 1/2.
        1 / 2 + 1 / 2 * 2 / 3,  # Outcomes for two objects by the Open Images rules: hit, false positive, hit.
        id="a box whose class is not verified in its image is ignored",
    ),
    pytest.param(
        ["a,cat,0,1,0,0.9,0", "a,cat,0,1,0.4,1,0", f"a,cat,{WHOLE},1"],
        ["a,cat,1"],
        ["a,cat,0.9,0,1,0,0.9", f"a,cat,0.8,{WHOLE}"],
        # Outcomes for four objects by FiftyOne's rules: hit, false positive, false positive, hit.
        1 / 4 + 1 / 4 * 2 / 4,
        2 / 4 + 1 / 4 * 3 / 4,  # Outcomes by the Open Images rules: hit, group, false positive, hit.
        id="a detection that overlaps an unmatched object is not absorbed by a group",
    ),
    pytest.param(
        [f"a,cat,{WHOLE},0"],
        ["a,cat,1"],
        ["a,cat,0.9,0,1,0,0.49999999996"],
        1 / 2 + 1 / 2 * 2 / 3,  # Outcomes for two objects by FiftyOne's rules: hit, false positive, hit.
        1 / 2 * 1 / 3,  # Outcomes by the Open Images rules: false positive, false positive, hit.
        id="overlaps are rounded to ten decimals",
    ),
    pytest.param(
        [f"a,cat,{WHOLE},1"],
        ["a,cat,1"],
        [f"a,cat,0,{LEFT}"],
        2 / 3,  # Outcomes for two objects by FiftyOne's rules: false positive, hit, group.
        1 / 2 * 1 / 2,  # Outcomes by the Open Images rules: false positive, hit; the group is not matched.
        id="confidence zero can match a group",
    ),
    pytest.param(
        ["a,cat,0,0.8,0,0.5,1", "a,cat,0.2,1,0,0.5,1"],
        ["a,cat,1"],
        [f"a,cat,0.9,{TOP}", "a,cat,0.8,0.85,1,0,0.5"],
        # Outcomes for three objects by FiftyOne's rules: two predictions that both match the second group, false
        # positive, hit.
        1 / 3 + 1 / 3 * 2 / 3,
        2 / 3 + 1 / 3 * 3 / 4,  # Outcomes by the Open Images rules: first group, second group, false positive, hit.
        id="the last of groups with equal overlap is matched",
    ),
]


@pytest.mark.parametrize(("boxes", "labels", "predictions", "fiftyone", "tfod"), RULES)
def test_fiftyones_rules_and_the_official_rules_give_the_expected_scores(
    tmp_path: Path, boxes: list[str], labels: list[str], predictions: list[str], fiftyone: float, tfod: float
) -> None:
    case = boxes + BOXES, labels + LABELS, predictions + PREDICTIONS
    for protocol, expected in (("fiftyone", fiftyone), ("tfod", tfod)):
        report = scored(tmp_path, *case, protocol=protocol)
        assert row_of(report, "cat")["ap"] == pytest.approx(expected, abs=1e-12), protocol


def test_fiftyone_does_not_limit_the_detections_of_an_image(tmp_path: Path) -> None:
    predictions = ["a,cat,0.9,0,0.1,0,0.1"] * 10_000 + [f"a,cat,0.1,{WHOLE}"]
    for protocol, expected in (("fiftyone", 1 / 10_001), ("tfod", 0.0)):
        report = scored(tmp_path, [f"a,cat,{WHOLE},0"], ["a,cat,1"], predictions, protocol=protocol)
        assert row_of(report, "cat")["ap"] == pytest.approx(expected, abs=1e-12)


def test_precision_recall_f1_and_support_are_reported(tmp_path: Path) -> None:
    """One of two predictions of cats hits one of two objects. Dogs have no predictions. Cars have no objects."""
    report = scored(
        tmp_path,
        [f"a,cat,{LEFT},0", f"a,cat,{RIGHT},0", f"b,dog,{WHOLE},0"],
        ["a,cat,1", "b,dog,1", "c,car,0"],
        [f"a,cat,0.9,{LEFT}", f"a,cat,0.8,{TOP}", f"c,car,0.7,{TOP}"],
        protocol="fiftyone",
    )
    names = ("precision", "recall", "f1", "support")
    assert [row_of(report, "cat")[name] for name in names] == pytest.approx([1 / 2, 1 / 2, 1 / 2, 2])
    assert [row_of(report, "dog")[name] for name in names] == [None, 0.0, 0.0, 1.0]
    assert [row_of(report, "car")[name] for name in names] == [0.0, None, 0.0, 0.0]
    averages = {row["average"]: [row[name] for name in names] for row in report.tables["averages"]}
    assert averages["micro"] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 3])
    assert averages["macro"] == pytest.approx([1 / 4, 1 / 4, 1 / 4, 3])
    assert averages["weighted"] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 3])


CLASSES = [
    [f"a,cat,{LEFT},0", f"a,dog,{RIGHT},0", f"b,dog,{WHOLE},0", f"c,cat,{WHOLE},1"],
    [f"{image},{label},1" for image in "abc" for label in ("cat", "dog")],
    [
        f"a,dog,0.9,{LEFT}",  # This prediction of a dog is at the position of a cat.
        f"a,dog,0.8,{RIGHT}",
        # Image b has no cat, and the IoU of this box with the dog is too low.
        "b,cat,0.7,0,0.1,0,0.1",
        f"c,dog,0.6,{LEFT}",  # A group matches only predictions of the same class.
        f"c,cat,0.5,{RIGHT}",
    ],
]


def test_with_matches_across_classes_the_confusion_matrix_has_all_objects_and_predictions(tmp_path: Path) -> None:
    report = scored(tmp_path, *CLASSES, protocol="fiftyone", classwise=False)
    cells = {(row["truth"], row["prediction"]): row["count"] for row in report.tables["confusion"]}
    assert cells == {
        ("cat", "dog"): 1,
        ("dog", "dog"): 1,
        (None, "cat"): 1,
        (None, "dog"): 1,
        ("dog", None): 1,
        ("cat", "cat"): 1,
    }
    assert sum(count for (there, _), count in cells.items() if there) == 4
    assert sum(count for (_, said), count in cells.items() if said) == 5


def test_a_match_across_classes_is_a_false_positive_of_the_objects_class(tmp_path: Path) -> None:
    report = scored(tmp_path, *CLASSES, protocol="fiftyone", classwise=False)
    cat, dog = row_of(report, "cat"), row_of(report, "dog")
    # Only one of the two cat boxes is matched: the group box, by a prediction with a confidence of 0.5. Two false
    # positives of the class "cat" have confidences of 0.9 and 0.7.
    assert cat["ap"] == pytest.approx(1 / 2 * 1 / 3)
    # One of the two dogs is found, with confidence 0.8. A false positive has a confidence of 0.6.
    assert dog["ap"] == pytest.approx(1 / 2)
    assert [dog["precision"], dog["recall"]] == pytest.approx([1 / 3, 1 / 2])
    # A dog that matches a cat is a false positive of the cat here, and of the dog in precision.
    assert (cat["false_positives"], dog["false_positives"]) == (2, 1)


@pytest.mark.parametrize("classes", [["dog", "cat"], ["cat", "dog"]])
def test_with_matches_across_classes_no_order_of_rows_matters(classes: list[str], tmp_path: Path) -> None:
    """A cat and a dog are predicted with the same box and confidence. The label that is first in sorted order matches
    the dog, whatever the order of the predictions and of classes.csv.
    """
    (tmp_path / "truth").mkdir()
    (tmp_path / "truth/classes.csv").write_text("".join(f"{name},{name}\n" for name in classes))
    predictions = [f"a,dog,0.9,{WHOLE}", f"a,cat,0.9,{WHOLE}"]
    for rows in (predictions, predictions[::-1]):
        report = scored(
            tmp_path, [f"a,dog,{WHOLE},0"], ["a,dog,1", "a,cat,0"], rows, protocol="fiftyone", classwise=False
        )
        assert row_of(report, "dog")["ap"] == 0.0
        assert {"truth": "dog", "prediction": "cat", "count": 1} in report.tables["confusion"]


def test_with_matches_across_classes_an_object_is_not_copied_to_its_ancestors(tmp_path: Path) -> None:
    (tmp_path / "truth").mkdir()
    (tmp_path / "truth/hierarchy.json").write_text(
        '{"LabelName": "root", "Subcategory": [{"LabelName": "animal", "Subcategory": [{"LabelName": "cat"}]}]}'
    )
    report = scored(
        tmp_path, [f"a,cat,{WHOLE},0"], ["a,cat,1"], [f"a,animal,0.9,{WHOLE}"], protocol="fiftyone", classwise=False
    )
    assert report.tables["confusion"] == [{"truth": "cat", "prediction": "animal", "count": 1}]


def test_only_the_fiftyone_protocol_matches_across_classes() -> None:
    with pytest.raises(InvalidParameters, match="only with protocol=fiftyone"):
        DETECTION.resolve({"classwise": False})


def test_fiftyone_accepts_no_group_of_weight() -> None:
    with pytest.raises(InvalidParameters, match="only with protocol=tfod"):
        DETECTION.resolve({"protocol": "fiftyone", "group_of_weight": 0.5})


def test_the_signature_contains_the_protocol_and_classwise() -> None:
    def written(**given: Any) -> str:
        return compose(DETECTION, DETECTION.resolve(given), "0" * 64)

    assert "|protocol:fiftyone|truth:" in written(protocol="fiftyone")
    assert "|protocol:fiftyone|classwise:off|truth:" in written(protocol="fiftyone", classwise=False)


@pytest.mark.shared
@pytest.mark.parametrize(
    "case", [case for case in CASES if (SHARED / "golden" / case / "expected_fiftyone.json").exists()]
)
def test_scores_agree_with_fiftyone(case: str) -> None:
    folder = SHARED / "golden" / case
    predictions = found(folder, "predictions.csv")
    assert predictions is not None
    assert_equal(json.loads((folder / "expected_fiftyone.json").read_text()), predictions, folder / "truth")
