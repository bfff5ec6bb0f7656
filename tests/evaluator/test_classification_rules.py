"""Tests each rule of image-level classification on an example that is small enough to be computed by hand."""

from pathlib import Path

import pytest

from evaluator.problems import InvalidTruth
from evaluator.report import SplitReport
from evaluator.request import ReportOptions, ScoringRequest
from evaluator.scoring import check, prepare, score

TRACK = "openimages-classification"
TREE = '{"LabelName": "root", "Subcategory": [{"LabelName": "animal", "Subcategory": [{"LabelName": "cat"}]}]}'


def truth(tmp_path: Path, labels: list[str], hierarchy: str = "", **files: str) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir()
    (folder / "image_labels.csv").write_text("\n".join(["ImageID,LabelName,Confidence", *labels]) + "\n")
    if hierarchy:
        (folder / "hierarchy.json").write_text(hierarchy)
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def submission(tmp_path: Path, rows: list[str]) -> Path:
    path = tmp_path / "submission.csv"
    path.write_text("\n".join(["ImageID,LabelName,Score", *rows]) + "\n")
    return path


def scored(
    tmp_path: Path, labels: list[str], rows: list[str], hierarchy: str = "", **files: str
) -> dict[str, SplitReport]:
    return dict(
        score(ScoringRequest(TRACK, truth(tmp_path, labels, hierarchy, **files), submission(tmp_path, rows))).splits
    )


def ap(splits: dict[str, SplitReport], label: str = "cat") -> object:
    return next(row["ap"] for row in splits["all"].classes if row["label"] == label)


CATS = ["a,cat,1", "b,cat,0", "c,cat,1", "d,cat,0"]
RULES = [
    pytest.param(["a,cat,0.9", "c,cat,0.8"], 1.0, id="correct order"),
    pytest.param(["a,cat,0.9", "b,cat,0.8", "c,cat,0.7"], (1 + 2 / 3) / 2, id="a step at each threshold"),
    pytest.param(["b,cat,0.9", "a,cat,0.8", "c,cat,0.7"], (1 / 2 + 2 / 3) / 2, id="no envelope"),
    pytest.param(["a,cat,0.9", "b,cat,0.9"], (1 / 2 + 2 / 4) / 2, id="equal confidences are one threshold"),
    pytest.param([], 2 / 4, id="no predictions are one threshold"),
    pytest.param(["a,cat,0.9", "c,cat,0"], (1 + 2 / 4) / 2, id="a missing prediction is a confidence of 0"),
    pytest.param(["a,cat,0.9", "c,cat,-0.1"], (1 + 2 / 4) / 2, id="a negative confidence is below a missing one"),
    pytest.param(["a,cat,0.9", "c,cat,0.8", "e,cat,1"], 1.0, id="an unverified image is ignored"),
    pytest.param(["a,cat,0.9", "c,cat,0.8", "a,dog,1"], 1.0, id="an unverified class is ignored"),
    pytest.param(["a,cat,0.1", "b,cat,0.5", "a,cat,0.9", "c,cat,0.8"], 1.0, id="the higher of two confidences counts"),
]


@pytest.mark.parametrize(("rows", "expected"), RULES)
def test_a_class_has_the_average_precision_computed_by_hand(tmp_path: Path, rows: list[str], expected: float) -> None:
    assert ap(scored(tmp_path, CATS, rows)) == pytest.approx(expected, abs=1e-15)


def test_the_area_under_a_curve_is_the_average_precision_and_is_not_interpolated(tmp_path: Path) -> None:
    images = ["a,cat,0", "b,cat,1", "c,cat,1"]
    path = submission(tmp_path, ["a,cat,0.9", "b,cat,0.8", "c,cat,0.7"])
    report = score(ScoringRequest(TRACK, truth(tmp_path, images), path, report=ReportOptions(curves=True)))
    (curve,) = report.curves["all"]
    assert (curve["recall"], curve["precision"]) == ([0.0, 0.5, 1.0], [0.0, 0.5, 2 / 3])
    assert curve["area"] == report.splits["all"].classes[0]["ap"] == 0.5 * 0.5 + 0.5 * 2 / 3


def test_a_class_without_positive_images_is_undefined_and_not_in_the_mean(tmp_path: Path) -> None:
    splits = scored(tmp_path, [*CATS, "a,dog,0"], ["a,cat,1", "c,cat,1", "a,dog,1"])
    assert (ap(splits, "dog"), splits["all"].metrics["mAP"]) == (None, 1.0)


def test_a_present_class_makes_ancestors_present_and_an_absent_class_makes_descendants_absent(tmp_path: Path) -> None:
    splits = scored(tmp_path, ["a,cat,1", "b,animal,0"], ["a,animal,0.9", "b,cat,0.5"], TREE)
    assert {row["label"]: (row["ap"], row["truths"], row["images"]) for row in splits["all"].classes} == {
        "animal": (1.0, 1, 2),
        "cat": (0.5, 1, 2),
    }


def test_a_class_verified_as_present_and_as_absent_is_present(tmp_path: Path) -> None:
    splits = scored(tmp_path, ["a,cat,1", "a,animal,0"], ["a,animal,0.9"], TREE)
    assert [(row["label"], row["truths"], row["images"]) for row in splits["all"].classes] == [
        ("animal", 1, 1),
        ("cat", 1, 1),
    ]


def test_a_split_has_only_its_own_classes(tmp_path: Path) -> None:
    usage = "ImageID,Usage\na,Public\nb,Public\nc,Private\nd,Private\n"
    splits = scored(tmp_path, CATS, ["b,cat,0.9", "a,cat,0.8", "c,cat,0.7"], usage=usage)
    assert [splits[name].metrics["mAP"] for name in ("public", "private")] == [0.5, 1.0]


def test_both_file_layouts_have_equal_scores(tmp_path: Path) -> None:
    folder = truth(tmp_path, CATS)
    path = tmp_path / "strings.csv"
    path.write_text("ImageId,PredictionString\na,cat 0.8 dog 1\nb,cat 0.9\nc,\n")
    long = submission(tmp_path, ["b,cat,0.9", "a,cat,0.8", "a,dog,1"])
    assert (
        score(ScoringRequest(TRACK, folder, path)).as_dict()["splits"]
        == score(ScoringRequest(TRACK, folder, long)).as_dict()["splits"]
    )


def test_a_string_of_an_odd_number_of_tokens_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "strings.csv"
    path.write_text("ImageId,PredictionString\na,cat 0.8 dog\n")
    assert [(p.code, p.line) for p in check(TRACK, path).errors] == [("bad_tokens", 2)]


def test_a_label_outside_the_class_list_is_a_defect(tmp_path: Path) -> None:
    folder = truth(tmp_path, CATS, classes="cat,Cat\n")
    assert [p.code for p in check(TRACK, submission(tmp_path, ["a,dog,1"]), truth=folder).errors] == ["unknown_label"]


def test_a_truth_label_outside_the_hierarchy_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(InvalidTruth) as caught:
        prepare(TRACK, truth(tmp_path, ["a,dog,1"], TREE), tmp_path / "t.podium")
    assert [(p.code, p.line) for p in caught.value.problems] == [("truth_not_in_hierarchy", 2)]
