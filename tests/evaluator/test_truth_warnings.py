"""Tests the ceiling (the score of a ground truth as its own prediction), and warnings about probable mistakes."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import TRACKS
from evaluator.cli import main
from evaluator.hierarchy import Hierarchy, HierarchyCycle
from evaluator.problems import InvalidTruth
from evaluator.request import TruthOptions
from evaluator.scoring import prepare
from evaluator.synthesis import synthesize
from tests.evaluator.test_hidden_truth import HEADERS, ROWS
from tests.evaluator.test_truth_faults import BOXES, DETECTION, LABELS, folder

UNUSED = "truth_class_without_objects"
Warned = list[tuple[str, str | None, int | None, str | None]]


def warned(track: str, truth: Path, out: Path) -> Warned:
    """Return all warnings except those about classes without objects, which most small ground truths have."""
    made = prepare(track, truth, out)
    kept = [one for one in made["warnings"] if one["code"] != UNUSED]
    return [(one["code"], one["file"], one["line"], one["column"]) for one in kept]


def written(path: Path, **files: str) -> Path:
    path.mkdir()
    for name, text in files.items():
        (path / name.replace("_csv", ".csv").replace("_jsonl", ".jsonl").replace("_json", ".json")).write_text(text)
    return path


@pytest.mark.parametrize("track", TRACKS)
def test_a_valid_truth_has_no_warnings(track: str, tmp_path: Path) -> None:
    synthesize(track, tmp_path, images=40, seed=3, qualities=[0.5])
    assert warned(track, tmp_path / "truth", tmp_path / "t.podium") == []


@pytest.mark.parametrize("track", ["openimages-detection", "openimages-relationships", "openimages-classification"])
def test_a_hidden_truth_without_an_image_list_has_a_warning(track: str, tmp_path: Path) -> None:
    synthesize(track, tmp_path, images=40, seed=3, qualities=[0.5])
    listed = prepare(track, tmp_path / "truth", tmp_path / "t.podium", opening=TruthOptions(hidden=True))
    (tmp_path / "truth/images.csv").unlink()
    unlisted = prepare(track, tmp_path / "truth", tmp_path / "t.podium", opening=TruthOptions(hidden=True))
    found = [(one["code"], one["file"]) for one in unlisted["warnings"] if one["code"] != UNUSED]
    assert [one["code"] for one in listed["warnings"] if one["code"] != UNUSED] == []
    assert found == [("truth_images_unlisted", "images.csv")]


@pytest.mark.parametrize(
    "tree",
    [
        ({"LabelName": "r", "Subcategory": [{"LabelName": "a", "Subcategory": [{"LabelName": "a"}]}]}),
        (
            {
                "LabelName": "r",
                "Subcategory": [
                    {"LabelName": "a", "Subcategory": [{"LabelName": "b"}]},
                    {"LabelName": "b", "Subcategory": [{"LabelName": "a"}]},
                ],
            }
        ),
        (
            {
                "LabelName": "r",
                "Subcategory": [
                    {"LabelName": up, "Subcategory": [{"LabelName": down}]} for up, down in ("ab", "bc", "ca")
                ],
            }
        ),
        ({"LabelName": "r", "Subcategory": [{"LabelName": "a", "Subcategory": [{"LabelName": "r"}]}]}),
    ],
)
def test_a_cycle_in_the_hierarchy_is_detected_anywhere(tree: Any) -> None:
    with pytest.raises(HierarchyCycle, match="its own ancestor") as error:
        Hierarchy.of(tree)
    assert error.value.path.startswith("$.Subcategory[")


def test_a_label_may_be_in_two_places_of_the_hierarchy() -> None:
    twice = {"LabelName": "r", "Subcategory": [{"LabelName": up, "Subcategory": [{"LabelName": "c"}]} for up in "ab"]}
    assert Hierarchy.of(twice).ancestors["c"] == {"a", "b"}


def test_a_cycle_in_the_hierarchy_is_a_fault_with_its_path(tmp_path: Path) -> None:
    tree = {
        "LabelName": "root",
        "Subcategory": [
            {"LabelName": "cat", "Subcategory": [{"LabelName": "dog", "Subcategory": [{"LabelName": "cat"}]}]}
        ],
    }
    truth = folder(tmp_path, hierarchy_json=json.dumps(tree))
    with pytest.raises(InvalidTruth) as error:
        prepare(DETECTION, truth, tmp_path / "t.podium")
    (problem,) = error.value.problems
    assert (problem.code, problem.file) == ("truth_hierarchy_cycle", "hierarchy.json")
    assert str(problem.column).startswith("$.Subcategory[0]")


ROW = "i1,cat,0.1,0.5,0.1,0.5,0\n"
CASES = [
    ({"boxes_csv": BOXES + ROW + ROW}, ("truth_duplicate", "boxes.csv", 3, "ImageID")),
    ({"boxes_csv": BOXES + "i1,cat,0.1,120,0.1,0.5,0\n"}, ("truth_outside_image", "boxes.csv", 2, "XMax")),
    ({"boxes_csv": BOXES + "i1,cat,-0.1,0.5,0.1,0.5,0\n"}, ("truth_outside_image", "boxes.csv", 2, "XMin")),
    ({"boxes_csv": BOXES + "i1,cat,0.1,0.1,0.1,0.5,0\n"}, ("truth_empty_box", "boxes.csv", 2, "XMin")),
    ({"boxes_csv": BOXES + "i1,cat,0.1,0.5,0.5,0.5,0\n"}, ("truth_empty_box", "boxes.csv", 2, "YMin")),
    (
        {"boxes_csv": BOXES + ROW, "image_labels_csv": LABELS + "i1,cat,1\ni1,cat,0\n"},
        ("truth_contradiction", "image_labels.csv", 2, "LabelName"),
    ),
    (
        {"boxes_csv": BOXES + ROW, "image_labels_csv": LABELS + "i1,dog,1\ni1,cat,0\n"},
        ("truth_contradiction", "boxes.csv", 2, "LabelName"),
    ),
    (
        {"boxes_csv": BOXES + ROW, "image_labels_csv": LABELS + "i1,cat,1\ni1,dog,0.8\n"},
        ("truth_confidence", "image_labels.csv", 3, "Confidence"),
    ),
    (
        {"boxes_csv": BOXES + ROW, "images_csv": "ImageID\ni1\ni2\ni3\ni4 \n"},
        ("truth_outer_space", "images.csv", 5, "ImageID"),
    ),
]


@pytest.mark.parametrize(("changed", "expected"), CASES)
def test_a_doubtful_row_has_a_warning_with_its_location(tmp_path: Path, changed: Any, expected: Any) -> None:
    assert expected in warned(DETECTION, folder(tmp_path, **changed), tmp_path / "t.podium")


def test_one_warning_names_the_classes_without_objects(tmp_path: Path) -> None:
    truth = folder(tmp_path, boxes_csv=BOXES + ROW)
    with (truth / "classes.csv").open("a") as classes:
        classes.writelines(f"extra{number},Extra\n" for number in range(9))
    made = prepare(DETECTION, truth, tmp_path / "t.podium")
    (found,) = [one for one in made["warnings"] if one["code"] == UNUSED]
    assert found["file"] == "classes.csv"
    assert "and 5 more" in found["message"]
    assert "cat" not in found["message"]


def test_each_box_of_a_class_verified_as_absent_has_a_warning(tmp_path: Path) -> None:
    labels, boxes = LABELS + "i1,cat,0\ni2,cat,0\n", BOXES + ROW + ROW.replace("i1", "i2") + ROW.replace("i1", "i3")
    told = warned(DETECTION, folder(tmp_path, boxes_csv=boxes, image_labels_csv=labels), tmp_path / "t.podium")
    assert told == [("truth_contradiction", "boxes.csv", line, "LabelName") for line in (2, 3)]


def test_a_mask_of_a_class_verified_as_absent_has_a_warning(tmp_path: Path) -> None:
    files = {name.replace(".", "_"): HEADERS[name] + rows for name, rows in ROWS.items()}
    truth = written(tmp_path / "truth", **files | {"image_labels_csv": LABELS + "a,cat,0\n"})
    told = warned("openimages-segmentation", truth, tmp_path / "t.podium")
    assert told == [("truth_contradiction", file, 2, "LabelName") for file in ("boxes.csv", "masks.csv")]


RELATED = (
    "ImageID,LabelName1,LabelName2,RelationshipLabel,XMin1,XMax1,YMin1,YMax1,XMin2,XMax2,YMin2,YMax2\n"
    "i1,cat,dog,at,0.1,0.5,0.1,0.5,0.2,0.6,0.2,0.6\n"
)
PHRASE = {"image_id": "1", "sentence_id": 0, "phrase_index": 0, "types": ["people"]}


@pytest.mark.parametrize(
    ("track", "files", "code"),
    [
        (
            "openimages-relationships",
            {"relationships_csv": RELATED + RELATED.splitlines(keepends=True)[1]},
            "truth_duplicate",
        ),
        ("openimages-relationships", {"relationships_csv": RELATED.replace("0.6\n", "60\n")}, "truth_outside_image"),
        (
            "openimages-classification",
            {"image_labels_csv": LABELS + "i1,cat,1\ni1,cat,0\ni2,cat,0\n"},
            "truth_contradiction",
        ),
        ("openimages-classification", {"image_labels_csv": LABELS + "i1,cat,1\ni2,cat,1\n"}, "truth_only_present"),
        (
            "flickr30k-grounding",
            {"phrases_jsonl": json.dumps(PHRASE | {"boxes": [[0.1, 0.1, 0.5, 0.5]]})},
            "truth_fractions",
        ),
        ("flickr30k-grounding", {"phrases_jsonl": json.dumps(PHRASE | {"boxes": [[5, 5, 5, 9]]})}, "truth_empty_box"),
        (
            "flickr30k-grounding",
            {"phrases_jsonl": json.dumps(PHRASE | {"boxes": [[-5, 5, 7, 9]]})},
            "truth_outside_image",
        ),
        (
            "flickr30k-retrieval",
            {"gallery_json": json.dumps({"images": ["a"], "captions": ["a#0"]})},
            "truth_small_gallery",
        ),
        ("objectnet", {"answers_json": json.dumps({"a.png": 5, "b.png": 5})}, "truth_one_class"),
    ],
)
def test_every_track_has_its_own_kinds_of_warnings(tmp_path: Path, track: str, files: Any, code: str) -> None:
    assert code in [one[0] for one in warned(track, written(tmp_path / "truth", **files), tmp_path / "t.podium")]


def test_a_repeated_mask_has_a_warning(tmp_path: Path) -> None:
    synthesize("openimages-segmentation", tmp_path, images=5, seed=3, qualities=[0.5])
    masks = tmp_path / "truth" / "masks.csv"
    header, first, *rest = masks.read_text().splitlines(keepends=True)
    masks.write_text("".join([header, first, *rest, first]))
    told = warned("openimages-segmentation", tmp_path / "truth", tmp_path / "t.podium")
    assert [one[:2] for one in told] == [("truth_duplicate", "masks.csv"), ("truth_mask_without_box", "masks.csv")]


def test_the_ceiling_counts_objects_that_cannot_be_matched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth = folder(tmp_path, boxes_csv=BOXES + ROW + ROW, hierarchy_json=None)
    words = ["prepare", DETECTION, "--truth", str(truth), "--out", str(tmp_path / "t.podium"), "--ceiling"]
    assert main([*words, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["ceiling"]["all"]["unreachable"] == 1.0
    assert made["ceiling"]["all"]["score"] < 1
    assert {"truth_duplicate", "truth_ceiling"} <= {one["code"] for one in made["warnings"]}
    assert main(words) == 0
    said = capsys.readouterr()
    assert "warning: boxes.csv:3: truth_duplicate" in said.err
    assert "1 object cannot be matched" in said.err
    assert "ceiling public:" in said.out


def test_requiring_all_images_does_not_lower_the_ceiling(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["prepare", DETECTION, "--truth", str(folder(tmp_path)), "--out", str(tmp_path / "t.podium")]
    assert main([*words, "--ceiling", "--json", "--set", "require_all_images=true"]) == 0
    assert json.loads(capsys.readouterr().out)["ceiling"]["all"] == {"score": 1.0, "unreachable": 0.0}


OPEN = {"classes_csv": None, "hierarchy_json": None}  # Without these files, every label is known.


@pytest.mark.parametrize("cell", [" cat", "cat ", "\tcat", '"cat "', "cat\u00a0"])
def test_white_space_around_a_label_has_a_warning(tmp_path: Path, cell: str) -> None:
    truth = folder(tmp_path, boxes_csv=BOXES + f"i1,{cell},0.1,0.5,0.1,0.5,0\n", **OPEN)
    assert ("truth_outer_space", "boxes.csv", 2, "LabelName") in warned(DETECTION, truth, tmp_path / "t.podium")


def test_white_space_around_a_usage_is_ignored(tmp_path: Path) -> None:
    usage = "ImageID,Usage\ni1, Public \ni2,private\ni3,Ignored\n"
    truth = folder(tmp_path, boxes_csv=BOXES + ROW, usage_csv=usage)
    codes = {code for code, *_ in warned(DETECTION, truth, tmp_path / "t.podium")}
    assert "truth_outer_space" not in codes


def test_one_warning_names_the_labels_that_no_prediction_string_can_contain(tmp_path: Path) -> None:
    boxes = "".join(f"i1,{label},0.1,0.5,0.1,0.5,0\n" for label in ("traffic light", "stop\tsign", "car"))
    made = prepare(DETECTION, folder(tmp_path, boxes_csv=BOXES + boxes, **OPEN), tmp_path / "t.podium")
    (found,) = [one for one in made["warnings"] if one["code"] == "truth_label_with_space"]
    assert found["file"] == "boxes.csv"
    assert "2 labels have spaces" in found["message"]
    assert "'traffic light'" in found["message"]


def test_a_relation_with_a_space_has_a_warning(tmp_path: Path) -> None:
    track = "openimages-relationships"
    synthesize(track, tmp_path, images=40, seed=3, qualities=[0.5])
    with (tmp_path / "truth/relations.csv").open("a") as relations:
        relations.write("next to,next to\n")
    assert ("truth_label_with_space", "relations.csv", None, None) in warned(
        track, tmp_path / "truth", tmp_path / "t.podium"
    )
