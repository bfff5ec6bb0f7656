"""Tests explanations of detection scores (error kinds, slices) on examples that can be computed by hand."""

from pathlib import Path
from typing import Any

import pytest

from evaluator.problems import InvalidParameters
from evaluator.report import Report
from evaluator.request import ReportOptions, ScoringRequest
from evaluator.scoring import score

TRACK = "openimages-detection"
WHOLE, LEFT, RIGHT, TOP = "0,1,0,1", "0,0.5,0,1", "0.5,1,0,1", "0,1,0,0.5"
TREE = (
    '{"LabelName": "root", "Subcategory": [{"LabelName": "animal", "Subcategory": '
    '[{"LabelName": "cat"}, {"LabelName": "dog"}]}]}'
)


def written(
    folder: Path,
    boxes: list[str],
    labels: list[str],
    predictions: list[str],
    *,
    hierarchy: str | None = None,
    columns: str = "IsGroupOf",
) -> tuple[Path, Path]:
    truth, submission = folder / "truth", folder / "submission.csv"
    truth.mkdir()
    (truth / "boxes.csv").write_text("\n".join([f"ImageID,LabelName,XMin,XMax,YMin,YMax,{columns}", *boxes]) + "\n")
    (truth / "image_labels.csv").write_text("\n".join(["ImageID,LabelName,Confidence", *labels]) + "\n")
    if hierarchy:
        (truth / "hierarchy.json").write_text(hierarchy)
    submission.write_text("\n".join(["ImageID,LabelName,Score,XMin,XMax,YMin,YMax", *predictions]) + "\n")
    return truth, submission


def explained(files: tuple[Path, Path], **parameters: Any) -> Report:
    return score(ScoringRequest(TRACK, *files, parameters=parameters, report=ReportOptions(matches=True)))


def table(report: Report, name: str, key: str) -> dict[Any, dict[str, Any]]:
    return {row[key]: row for row in report.splits["all"].tables[name]}


def class_row(report: Report, label: str) -> dict[str, Any]:
    return next(row for row in report.splits["all"].classes if row["label"] == label)


# This example has one error of each kind. One of four cats is found, with four false positives, so the AP of cats is
# 1/4. The only dog is not found, so the AP of dogs is 0. The predictions, in this order, are a hit; a duplicate; a
# class error, because the object is a dog; a localization error (IoU 0.3); an error in both class and localization; a
# group-of error, because only two sevenths of the box are inside the group; a background error (IoU 0.01); and a
# prediction that is ignored, because the ground truth has no birds.
BOXES = [f"i,cat,{LEFT},0", f"i,dog,{RIGHT},0", f"j,cat,{WHOLE},0", f"k,cat,{TOP},1", f"l,cat,{WHOLE},0"]
LABELS = [f"{image},{label},1" for image in "ijkl" for label in ("cat", "dog")]
PREDICTIONS = [
    f"i,cat,0.9,{LEFT}",
    f"i,cat,0.8,{LEFT}",
    f"i,cat,0.7,{RIGHT}",
    "j,cat,0.6,0,1,0,0.3",
    "j,dog,0.55,0,1,0,0.3",
    "k,cat,0.5,0,1,0.3,1",
    "l,dog,0.45,0.9,1,0.9,1",
    f"l,bird,0.99,{WHOLE}",
]
GAINS = {
    "class": 1 / 2,  # Fixing the class error raises the AP of dogs from 0 to 1.
    "localization": (1 / 4 * 2 / 4) / 2,  # With a correct box, the fourth prediction of a cat becomes the second hit.
    "both": 0.0,
    "duplicate": 0.0,
    "background": 0.0,
    "group_of": (1 / 3 - 1 / 4) / 2,  # Without the missed group, three cats remain, so the AP of cats is 1/3.
    "missed": (1 / 3 - 1 / 4) / 2,
}


@pytest.fixture
def one_of_each(tmp_path: Path) -> Report:
    return explained(written(tmp_path, BOXES, LABELS, PREDICTIONS))


def test_every_false_positive_has_a_kind_of_error(one_of_each: Report) -> None:
    found = table(one_of_each, "errors", "kind")
    assert {kind: row["false_positives"] for kind, row in found.items()} == {**dict.fromkeys(GAINS, 1), "missed": 0}


def test_every_missed_object_has_a_kind_of_error(one_of_each: Report) -> None:
    found = {kind: row["misses"] for kind, row in table(one_of_each, "errors", "kind").items()}
    assert {kind for kind, misses in found.items() if misses == 1} == {"class", "localization", "group_of", "missed"}
    assert sum(found.values()) == 4


def test_the_gain_of_a_kind_is_the_score_gained_by_fixing_it(one_of_each: Report) -> None:
    assert one_of_each.splits["all"].metrics["mAP"] == pytest.approx(1 / 8)
    gains = {kind: row["delta_mAP"] for kind, row in table(one_of_each, "errors", "kind").items()}
    assert gains == pytest.approx(GAINS, abs=1e-15)


def test_a_class_row_counts_the_outcomes_of_its_detections(one_of_each: Report) -> None:
    cat, dog = class_row(one_of_each, "cat"), class_row(one_of_each, "dog")
    assert (cat["false_positives"], cat["missed"], cat["ignored"], cat["absorbed"]) == (4, 3, 0, 0)
    kinds = ("fp_class", "fp_localization", "fp_both", "fp_duplicate", "fp_background", "fp_group_of")
    assert [cat[name] for name in kinds] == [1, 1, 0, 1, 0, 1]
    assert [dog[name] for name in kinds] == [0, 0, 1, 0, 1, 0]
    assert [cat["precision"], cat["recall"], cat["f1"], cat["support"]] == pytest.approx([1 / 5, 1 / 4, 2 / 9, 4])


def test_confused_classes_are_counted(one_of_each: Report) -> None:
    assert one_of_each.splits["all"].tables["class_errors"] == [{"truth": "dog", "prediction": "cat", "count": 1}]


def test_every_match_has_the_line_of_its_object(one_of_each: Report) -> None:
    rows = [dict(zip(one_of_each.matches.columns, row, strict=True)) for row in one_of_each.matches.rows()]
    told = [(row["ImageID"], row["LabelName"], row["Outcome"], row["Reason"], row["TruthLine"]) for row in rows]
    assert told == [
        ("i", "cat", "true_positive", "", 2),
        ("i", "cat", "false_positive", "duplicate", 2),
        ("i", "cat", "false_positive", "class", 3),
        ("j", "cat", "false_positive", "localization", 4),
        ("j", "dog", "false_positive", "both", 4),
        ("k", "cat", "false_positive", "group_of", 5),
        ("l", "dog", "false_positive", "background", 6),
        ("i", "dog", "missed", "class", 3),
        ("j", "cat", "missed", "localization", 4),
        ("l", "cat", "missed", "missed", 6),
        ("k", "cat", "missed", "group_of", 5),
    ]
    assert [row["Overlap"] for row in rows[:6]] == pytest.approx([1, 1, 1, 0.3, 0.3, 2 / 7])


def test_an_ignored_detection_has_a_reason(tmp_path: Path) -> None:
    predictions = ["i,cat,0.9,0.5,0.5,0,1", f"i,cat,-10,{WHOLE}", f"i,dog,0.8,{WHOLE}", f"i,cat,0.7,{WHOLE}"]
    predictions += ["j,cat,0.6,0,0.1,0,0.1"] * 10_001
    report = explained(written(tmp_path, [f"i,cat,{WHOLE},0", f"k,dog,{WHOLE},0"], ["j,cat,0"], predictions))
    reasons = [row[9] for row in report.matches.rows() if row[8] == "ignored"]
    assert reasons == ["no_area_or_confidence", "no_area_or_confidence", "unverified_class", "over_the_cap"]
    assert (class_row(report, "cat")["ignored"], class_row(report, "dog")["ignored"]) == (3, 1)


def test_the_most_confident_detection_in_a_group_finds_it_and_the_others_are_absorbed(tmp_path: Path) -> None:
    predictions = [f"i,cat,0.4,{LEFT}", f"i,cat,0.6,{RIGHT}"]
    files = written(tmp_path, [f"i,cat,{WHOLE},1"], [], predictions)
    for weight, outcomes in ((1.0, ["absorbed", "group_found"]), (0.0, ["absorbed", "absorbed"])):
        report = explained(files, group_of_weight=weight)
        assert [row[8] for row in report.matches.rows()] == outcomes


def test_a_duplicate_on_a_copy_for_an_ancestor_is_not_a_class_error(tmp_path: Path) -> None:
    """A cat is also an animal, so a second detection of the cat as an animal is a duplicate, not a class error."""
    predictions = [f"i,animal,0.9,{WHOLE}", f"i,animal,0.8,{WHOLE}"]
    report = explained(written(tmp_path, [f"i,cat,{WHOLE},0"], [], predictions, hierarchy=TREE))
    assert table(report, "errors", "kind")["duplicate"]["false_positives"] == 1
    assert table(report, "errors", "kind")["class"]["false_positives"] == 0


def test_two_errors_for_one_object_count_as_one_miss(tmp_path: Path) -> None:
    """Two erroneous detections are on the same object.

    If errors were fixed, the more confident detection would match the object, and the other one would be removed.
    """
    predictions = [f"i,dog,0.9,{WHOLE}", "i,cat,0.8,0,1,0,0.4"]
    report = explained(written(tmp_path, [f"i,cat,{WHOLE},0", f"j,dog,{WHOLE},0"], ["i,dog,1"], predictions))
    found = table(report, "errors", "kind")
    assert {kind: row["misses"] for kind, row in found.items() if row["misses"]} == {"class": 1, "missed": 1}
    # Fixing the class error raises the AP of cats from 0 to 1.
    assert found["class"]["delta_mAP"] == pytest.approx(1 / 2)
    assert found["localization"]["delta_mAP"] == 0.0


SIZES = ["i,cat,0,0.05,0,0.05,0", "i,cat,0.1,0.2,0.1,0.2,0", f"j,cat,{WHOLE},0"]


def test_objects_are_sliced_by_size(tmp_path: Path) -> None:
    """The objects cover 0.25%, 1% and 100% of the image area. Only the second object is detected.

    There is also a large false positive.
    """
    predictions = ["i,cat,0.8,0.1,0.2,0.1,0.2", "i,cat,0.9,0,0.9,0,0.9"]
    found = table(explained(written(tmp_path, SIZES, [], predictions)), "slices", "value")
    assert {size: (row["truths"], row["found"], row["recall"]) for size, row in found.items()} == {
        "small": (1, 0, 0.0),
        "medium": (1, 1, 1.0),
        "large": (1, 0, 0.0),
    }
    assert {size: (row["false_positives"], row["mAP"]) for size, row in found.items()} == {
        "small": (0, 0.0),
        "medium": (0, 1.0),
        "large": (1, 0.0),
    }


def test_objects_are_sliced_by_attributes_of_the_truth(tmp_path: Path) -> None:
    boxes = [f"i,cat,{LEFT},1,0,x", f"i,cat,{RIGHT},0,0,-1", f"j,cat,{WHOLE},1.0,0,"]
    files = written(tmp_path, boxes, [], [f"i,cat,0.9,{LEFT}"], columns="isoccluded,IsGroupOf,IsInside")
    rows = {(row["slice"], row["value"]): row for row in explained(files).splits["all"].tables["slices"]}
    assert {key: (row["truths"], row["found"]) for key, row in rows.items() if key[0] != "size"} == {
        ("IsOccluded", "yes"): (2, 1),
        ("IsOccluded", "no"): (1, 0),
        ("IsOccluded", "unknown"): (0, 0),
        ("IsInside", "yes"): (0, 0),
        ("IsInside", "no"): (0, 0),
        ("IsInside", "unknown"): (3, 1),
    }


def test_a_copy_of_a_box_has_the_attributes_of_its_row(tmp_path: Path) -> None:
    files = written(
        tmp_path, [f"i,cat,{WHOLE},0,1"], [], [f"i,cat,0.9,{WHOLE}"], hierarchy=TREE, columns="IsGroupOf,IsTruncated"
    )
    row = table(explained(files), "slices", "value")["yes"]
    # The box of a cat counts as two objects: a cat, which is found, and its copy for the ancestor "animal", which is
    # not.
    assert (row["truths"], row["found"]) == (2, 1)


def test_invalid_attributes_do_not_change_the_score(tmp_path: Path) -> None:
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    odd = written(tmp_path / "with", [f"i,cat,{WHOLE},0,who knows"], [], [], columns="IsGroupOf,IsOccluded")
    plain = written(tmp_path / "without", [f"i,cat,{WHOLE},0"], [], [])
    assert score(ScoringRequest(TRACK, *odd)).splits == score(ScoringRequest(TRACK, *plain)).splits


def test_a_report_without_explanation_has_no_tables(tmp_path: Path) -> None:
    report = score(ScoringRequest(TRACK, *written(tmp_path, [f"i,cat,{WHOLE},0"], [], [f"i,cat,0.9,{WHOLE}"])))
    assert (report.splits["all"].tables, report.curves, list(report.matches.rows())) == ({}, {}, [])


def test_a_track_without_explanations_refuses_them(tmp_path: Path) -> None:
    truth, submission = written(tmp_path, [f"i,cat,{WHOLE},0"], [], [])
    with pytest.raises(InvalidParameters, match="does not support explanations"):
        score(ScoringRequest("flickr30k-retrieval", truth, submission, report=ReportOptions(matches=True)))
