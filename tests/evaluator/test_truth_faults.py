"""Every fault of a ground truth folder is reported with its code, file, line and column."""

import gzip
from pathlib import Path

import pytest

from evaluator.problems import InvalidParameters, InvalidTruth
from evaluator.request import ScoringRequest, TruthOptions
from evaluator.scoring import prepare, score
from evaluator.truth import Truth

DETECTION, RELATIONSHIPS = "openimages-detection", "openimages-relationships"
BOXES = "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\n"
LABELS = "ImageID,LabelName,Confidence\n"
GOOD = {
    "boxes.csv": BOXES + "i1,cat,0.1,0.5,0.1,0.5,0\ni2,dog,0.1,0.5,0.1,0.5,1\n",
    "image_labels.csv": LABELS + "i1,cat,1\ni1,dog,0\ni3,dog,0.0\n",
    "classes.csv": 'animal,Animal\ncat,Cat\ndog,"Dog, the"\n',
    "hierarchy.json": '{"LabelName": "root", "Subcategory": [{"LabelName": "animal", "Subcategory": '
    '[{"LabelName": "cat"}, {"LabelName": "dog"}]}]}',
}


def folder(tmp_path: Path, **changed: str | None) -> Path:
    """Write a ground truth folder. For example, ``boxes_csv=…`` sets the content of `boxes.csv`, and None omits it."""
    truth = tmp_path / "truth"
    truth.mkdir()
    for name, content in (
        GOOD | {key.replace("_csv", ".csv").replace("_json", ".json"): v for key, v in changed.items()}
    ).items():
        if content is not None:
            (truth / name).write_text(content)
    return truth


def test_a_good_folder_is_prepared(tmp_path: Path) -> None:
    made = prepare(DETECTION, folder(tmp_path), tmp_path / "t.podium")
    assert made["images"] == 3
    assert Truth.load(tmp_path / "t.podium").texts["names"][2] == "Dog, the"


@pytest.mark.parametrize(
    ("changed", "code", "file", "line", "column"),
    [
        ({"boxes_csv": None}, "truth_missing_file", "boxes.csv", None, None),
        ({"image_labels_csv": None}, "truth_missing_file", "image_labels.csv", None, None),
        ({"boxes_csv": ""}, "truth_bad_header", "boxes.csv", None, None),
        ({"boxes_csv": BOXES.replace("XMax", "Xmaximum")}, "truth_bad_header", "boxes.csv", 1, "XMax"),
        ({"boxes_csv": "imageid," + BOXES}, "truth_bad_header", "boxes.csv", 1, "ImageID"),
        ({"boxes_csv": BOXES + "i1,cat,0.1,x,0.1,0.5,0\n"}, "truth_bad_value", "boxes.csv", 2, "XMax"),
        ({"boxes_csv": BOXES + "i1,cat,0.1,nan,0.1,0.5,0\n"}, "truth_bad_value", "boxes.csv", 2, "XMax"),
        ({"boxes_csv": BOXES + "i1,cat,0.1,0.5,0.1,0.5,\n"}, "truth_bad_value", "boxes.csv", 2, "IsGroupOf"),
        ({"boxes_csv": BOXES + "i1,cat,0.1,0.5,0.1,0.5\n"}, "truth_bad_value", "boxes.csv", 2, "IsGroupOf"),
        ({"boxes_csv": BOXES + "i1,cat,0.1,0.5,0.1,0.5,0,9\n"}, "truth_bad_value", "boxes.csv", 2, None),
        ({"boxes_csv": BOXES + ",cat,0.1,0.5,0.1,0.5,0\n"}, "truth_bad_value", "boxes.csv", 2, "ImageID"),
        ({"boxes_csv": BOXES + "i1,cat,0.6,0.5,0.1,0.5,0\n"}, "truth_inverted_box", "boxes.csv", 2, "XMin"),
        ({"boxes_csv": BOXES + "i1,cat,0.1,0.5,0.6,0.5,0\n"}, "truth_inverted_box", "boxes.csv", 2, "YMin"),
        ({"boxes_csv": BOXES + "i1,cow,0.1,0.5,0.1,0.5,0\n"}, "truth_unknown_label", "boxes.csv", 2, "LabelName"),
        (
            {"image_labels_csv": LABELS + "i1,cat,1\ni1,cow,1\n"},
            "truth_unknown_label",
            "image_labels.csv",
            3,
            "LabelName",
        ),
        (
            {"boxes_csv": BOXES + "i1,cow,0.1,0.5,0.1,0.5,0\n", "classes_csv": None},
            "truth_not_in_hierarchy",
            "boxes.csv",
            2,
            "LabelName",
        ),
        (
            {"boxes_csv": BOXES + "i1,root,0.1,0.5,0.1,0.5,0\n", "classes_csv": None},
            "truth_not_in_hierarchy",
            "boxes.csv",
            2,
            "LabelName",
        ),
        ({"hierarchy_json": "{"}, "truth_bad_value", "hierarchy.json", 1, None),
        ({"hierarchy_json": '{"Subcategory": []}'}, "truth_bad_value", "hierarchy.json", None, "$"),
        (
            {"usage_csv": "ImageID,Usage\ni1,Public\ni2,private\n"},
            "truth_usage_incomplete",
            "usage.csv",
            None,
            "ImageID",
        ),
        ({"usage_csv": "ImageID,Usage\ni1,maybe\n"}, "truth_bad_value", "usage.csv", 2, "Usage"),
        (
            {"usage_csv": "ImageID,Usage\ni1,Public\ni2,Public\ni3,Public\ni1,Private\n"},
            "truth_bad_value",
            "usage.csv",
            2,
            "ImageID",
        ),
        ({"images_csv": "ImageID\ni1\ni2\n"}, "truth_bad_value", "image_labels.csv", 4, "ImageID"),
        ({"classes_csv": "cat,Cat\ncat,Cat\ndog,Dog\n"}, "truth_bad_value", "classes.csv", 2, None),
    ],
)
def test_a_faulty_folder_is_reported_with_locations(
    tmp_path: Path, changed: dict[str, str | None], code: str, file: str, line: int | None, column: str | None
) -> None:
    with pytest.raises(InvalidTruth) as caught:
        prepare(DETECTION, folder(tmp_path, **changed), tmp_path / "t.podium")
    problem = next(problem for problem in caught.value.problems if problem.code == code)
    assert (problem.file, problem.line, problem.column) == (file, line, column)
    assert not (tmp_path / "t.podium").exists()


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    truth = folder(
        tmp_path,
        boxes_csv=BOXES + "i1,cow,0.1,0.5,0.1,0.5,0\ni1,cat,0.9,0.5,0.1,0.5,0\n",
        usage_csv="ImageID,Usage\ni1,Public\n",
    )
    with pytest.raises(InvalidTruth) as caught:
        prepare(DETECTION, truth, tmp_path / "t.podium")
    codes = {problem.code for problem in caught.value.problems}
    assert {"truth_unknown_label", "truth_inverted_box", "truth_usage_incomplete"} <= codes


def test_all_faults_are_counted_and_the_first_twenty_of_each_code_are_listed(tmp_path: Path) -> None:
    rows = "".join(f"i{n},cow,0.1,x,0.1,0.5,0\n" for n in range(50))
    with pytest.raises(InvalidTruth) as caught:
        prepare(DETECTION, folder(tmp_path, boxes_csv=BOXES + rows), tmp_path / "t.podium")
    findings = caught.value.findings
    assert findings.counts == {"truth_unknown_label": 50, "truth_not_in_hierarchy": 50, "truth_bad_value": 50}
    assert (findings.total, len(findings.errors)) == (150, 60)


def test_one_bad_number_hides_no_other_fault(tmp_path: Path) -> None:
    rows = "i1,cat,x,0.5,0.1,0.5,0\ni1,cat,0.9,0.5,0.1,0.5,0\n"
    with pytest.raises(InvalidTruth) as caught:
        prepare(DETECTION, folder(tmp_path, boxes_csv=BOXES + rows), tmp_path / "t.podium")
    told = [(problem.code, problem.line) for problem in caught.value.problems]
    assert told == [("truth_bad_value", 2), ("truth_inverted_box", 3)]


def test_a_misspelt_usage_is_not_reported_as_a_missing_row(tmp_path: Path) -> None:
    usage = "ImageID,Usage\ni1,Publik\ni2,Public\ni3,Public\n"
    with pytest.raises(InvalidTruth) as caught:
        prepare(DETECTION, folder(tmp_path, usage_csv=usage), tmp_path / "t.podium")
    assert [problem.code for problem in caught.value.problems] == ["truth_bad_value"]


def test_a_label_outside_the_hierarchy_is_allowed_without_expansion(tmp_path: Path) -> None:
    truth = folder(tmp_path, boxes_csv=BOXES + "i1,cow,0.1,0.5,0.1,0.5,0\n", classes_csv=None)
    assert prepare(DETECTION, truth, tmp_path / "t.podium", parameters={"expand_hierarchy": False})["images"] == 2


def test_a_folder_its_gzipped_copy_and_its_prepared_file_have_the_same_sha256(tmp_path: Path) -> None:
    plain = folder(tmp_path)
    zipped = tmp_path / "zipped"
    zipped.mkdir()
    for path in plain.iterdir():
        (zipped / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    (zipped / "README.txt").write_text("not a truth file")
    names = {prepare(DETECTION, truth, tmp_path / "t.podium")["sha256"] for truth in (plain, zipped)}
    assert names == {Truth.load(tmp_path / "t.podium").sha256}


def test_private_images_change_the_sha256_but_a_public_share_of_1_does_not(tmp_path: Path) -> None:
    truth, out = folder(tmp_path), tmp_path / "t.podium"
    bare = prepare(DETECTION, truth, out)["sha256"]
    assert prepare(DETECTION, truth, out, opening=TruthOptions(split=(1.0, 7)))["sha256"] == bare
    halves = prepare(DETECTION, truth, out, opening=TruthOptions(split=(0.5, 0)))
    assert halves["sha256"] != bare
    assert halves["splits"]["public"] + halves["splits"]["private"] == halves["splits"]["all"] == 3


def test_a_prepared_truth_refuses_different_parameters_and_tracks(tmp_path: Path) -> None:
    out, submission = tmp_path / "t.podium", tmp_path / "s.csv"
    prepare(DETECTION, folder(tmp_path), out)
    submission.write_text("ImageID,LabelName,Score,XMin,XMax,YMin,YMax\n")
    assert score(ScoringRequest(DETECTION, out, submission, parameters={"group_of_weight": 0})).splits[
        "all"
    ].metrics == {"mAP": 0.0}
    with pytest.raises(InvalidParameters):
        score(ScoringRequest(DETECTION, out, submission, parameters={"expand_hierarchy": False}))
    with pytest.raises(InvalidParameters):
        score(ScoringRequest(RELATIONSHIPS, out, submission))
