"""Tests each rule of the detection metric on an example that is small enough to be computed by hand."""

from pathlib import Path
from typing import Any

import pytest

from evaluator.report import SplitReport
from evaluator.request import ScoringRequest
from evaluator.scoring import score

TREE = (
    '{"LabelName": "root", "Subcategory": ['
    '{"LabelName": "animal", "Subcategory": [{"LabelName": "cat"}, {"LabelName": "dog"}], '
    '"Part": [{"LabelName": "ear"}]},'
    '{"LabelName": "pet", "Subcategory": [{"LabelName": "cat"}]}, {"LabelName": "car"}]}'
)
WHOLE, LEFT, RIGHT, TOP = "0,1,0,1", "0,0.5,0,1", "0.5,1,0,1", "0,1,0,0.5"


def scored(
    tmp_path: Path,
    *,
    boxes: list[str],
    predictions: list[str],
    labels: list[str] | None = None,
    hierarchy: str | None = None,
    usage: list[str] | None = None,
    **parameters: Any,
) -> dict[str, SplitReport]:
    """Score a submission with the given rows.

    Predictions are given as `image,label,score,xmin,xmax,ymin,ymax`, boxes as `image,label,xmin,xmax,ymin,ymax,group`.
    """
    truth, submission = tmp_path / "truth", tmp_path / "submission.csv"
    truth.mkdir(exist_ok=True)
    files = {
        "boxes.csv": ["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf", *boxes],
        "image_labels.csv": ["ImageID,LabelName,Confidence", *(labels or [])],
        "hierarchy.json": [hierarchy] if hierarchy else None,
        "usage.csv": ["ImageID,Usage", *usage] if usage else None,
    }
    for name, lines in files.items():
        if lines is not None:
            (truth / name).write_text("\n".join(lines) + "\n")
    submission.write_text("\n".join(["ImageID,LabelName,Score,XMin,XMax,YMin,YMax", *predictions]) + "\n")
    return dict(score(ScoringRequest("openimages-detection", truth, submission, parameters=parameters)).splits)


def row_of(splits: dict[str, SplitReport], label: str = "cat", split: str = "all") -> dict[str, Any]:
    return next(row for row in splits[split].classes if row["label"] == label)


RULES = [
    pytest.param([f"i,cat,{WHOLE},0"], [f"i,cat,0.9,{TOP}"], 1.0, id="IoU of one half is enough"),
    pytest.param([f"i,cat,{WHOLE},0"], ["i,cat,0.9,0,1,0,0.4999"], 0.0, id="IoU just below one half is not enough"),
    pytest.param(
        [f"i,cat,{WHOLE},0"], [f"i,cat,0.9,{WHOLE}", f"i,cat,0.8,{WHOLE}"], 1.0, id="duplicates after all hits are free"
    ),
    pytest.param(
        [f"i,cat,{WHOLE},0", f"j,cat,{WHOLE},0"],
        [f"i,cat,0.9,{WHOLE}", f"i,cat,0.8,{WHOLE}", f"j,cat,0.7,{WHOLE}"],
        0.5 + 0.5 * 2 / 3,
        id="a duplicate before a hit lowers the score",
    ),
    pytest.param(
        [f"i,cat,{WHOLE},0", "i,cat,0,1,0,0.9,0"],
        [f"i,cat,0.9,{WHOLE}", "i,cat,0.8,0,1,0,0.99"],
        0.5,
        id="a detection never matches its second-best object",
    ),
    pytest.param(
        [f"i,cat,{LEFT},0"] * 2,
        [f"i,cat,0.9,{LEFT}", f"i,cat,0.8,{LEFT}"],
        0.5,
        id="only the first of equal objects can be matched",
    ),
    pytest.param(
        [f"i,cat,{WHOLE},0", f"j,cat,{WHOLE},0"],
        [f"i,cat,0.5,{WHOLE}", "j,cat,0.5,0,0.1,0,0.1"],
        0.25,
        id="equal confidences are one point of the curve",
    ),
    pytest.param(
        [f"i,cat,{WHOLE},0"], [f"i,dog,0.9,{WHOLE}", f"i,cat,0.8,{WHOLE}"], 1.0, id="an unverified class is ignored"
    ),
    pytest.param(
        [f"i,cat,{WHOLE},0"], [f"j,cat,0.9,{WHOLE}", f"i,cat,0.8,{WHOLE}"], 1.0, id="an unknown image is ignored"
    ),
    pytest.param(
        [f"i,cat,{WHOLE},0"], ["i,cat,0.9,0.9,0.1,0,1", f"i,cat,0.8,{WHOLE}"], 1.0, id="an inverted box is dropped"
    ),
    pytest.param(
        [f"i,cat,{WHOLE},0"], ["i,cat,0.9,0.3,0.3,0,1", f"i,cat,0.8,{WHOLE}"], 1.0, id="a box without area is dropped"
    ),
    pytest.param(
        [f"i,cat,{WHOLE},0", "i,cat,0.2,0.2,0,1,0"], [f"i,cat,0.9,{WHOLE}"], 0.5, id="an object without area counts"
    ),
    pytest.param([f"i,cat,{WHOLE},0"], ["i,cat,0.9,-0.2,1.2,0,1"], 1.0, id="coordinates are not clipped"),
    pytest.param([f"i,cat,{WHOLE},0"], [f"i,cat,-10,{WHOLE}"], 0.0, id="confidence of minus ten is dropped"),
    pytest.param([f"i,cat,{WHOLE},0"], [f"i,cat,-9.9,{WHOLE}"], 1.0, id="confidence above minus ten counts"),
    pytest.param([f"i,cat,{WHOLE},0"], [f"i,cat,7,{WHOLE}"], 1.0, id="confidence above one counts"),
    pytest.param([f"i,cat,{WHOLE},1"], [f"i,cat,0.9,{LEFT}"], 1.0, id="a group is matched by IoA"),
    pytest.param(
        [f"i,cat,{WHOLE},1"], [f"i,cat,0.9,{LEFT}", f"i,cat,0.8,{RIGHT}"], 1.0, id="a group absorbs what is inside it"
    ),
    pytest.param([f"i,cat,{LEFT},1"], ["i,cat,0.9,0,1.01,0,1"], 0.0, id="a box less than half inside is not absorbed"),
    pytest.param([f"i,cat,{LEFT},2"], [f"i,cat,0.9,{WHOLE}"], 1.0, id="any integer except zero means group"),
    pytest.param([f"i,cat,{WHOLE},1"], [f"i,cat,0,{LEFT}"], 0.0, id="confidence zero does not match a group"),
    pytest.param(
        [f"i,cat,{LEFT},0", f"i,cat,{WHOLE},1"],
        [f"i,cat,0.9,{LEFT}", f"i,cat,0.8,{LEFT}"],
        1.0,
        id="a duplicate inside a group is absorbed",
    ),
]


@pytest.mark.parametrize(("boxes", "predictions", "expected"), RULES)
def test_a_class_has_the_average_precision_computed_by_hand(
    tmp_path: Path, boxes: list[str], predictions: list[str], expected: float
) -> None:
    assert row_of(scored(tmp_path, boxes=boxes, predictions=predictions))["ap"] == pytest.approx(expected, abs=1e-12)


def test_among_equally_confident_detections_the_one_with_the_higher_overlap_is_matched(tmp_path: Path) -> None:
    """The group box absorbs the detection with the lower overlap, which would otherwise be a false positive."""
    rows = ["i,cat,0.9,0,0.5,0,0.8", f"i,cat,0.9,{LEFT}"]
    for name, predictions in (("a", rows), ("b", rows[::-1])):
        (tmp_path / name).mkdir()
        boxes = [f"i,cat,{LEFT},0", "i,cat,0,0.5,0,0.5,1"]
        row = row_of(scored(tmp_path / name, boxes=boxes, predictions=predictions))
        assert (row["true_positives"], row["false_positives"], row["scored"]) == (2.0, 0, 2)


@pytest.mark.parametrize(
    ("weight", "truths", "true_positives", "scored_entries"),
    [(1, 2.0, 2.0, 3), (0.25, 1.25, 1.25, 3), (0, 1.0, 1.0, 2)],
)
def test_a_group_counts_as_its_weight(
    tmp_path: Path, weight: float, truths: float, true_positives: float, scored_entries: int
) -> None:
    splits = scored(
        tmp_path,
        boxes=[f"i,cat,{LEFT},0", f"i,cat,{RIGHT},1"],
        predictions=[f"i,cat,0.9,{LEFT}", f"i,cat,0.8,{RIGHT}", "i,cat,0.7,0,0.1,0,0.1"],
        group_of_weight=weight,
    )
    row = row_of(splits)
    counted = (row["truths"], row["true_positives"], row["scored"], row["false_positives"])
    assert counted == (truths, true_positives, scored_entries, 1)


def test_a_class_with_only_groups_is_undefined_if_groups_have_no_weight(tmp_path: Path) -> None:
    splits = scored(tmp_path, boxes=[f"i,cat,{WHOLE},1"], predictions=[f"i,cat,0.9,{LEFT}"], group_of_weight=0)
    assert row_of(splits)["ap"] is None
    assert splits["all"].metrics == {"mAP": None}


def test_detections_of_a_class_verified_as_absent_are_false_positives(tmp_path: Path) -> None:
    splits = scored(
        tmp_path,
        boxes=[f"i,cat,{WHOLE},0"],
        labels=["j,cat,0"],
        predictions=[f"j,cat,0.9,{WHOLE}", f"i,cat,0.8,{WHOLE}"],
    )
    assert row_of(splits)["ap"] == 0.5


def test_the_mean_leaves_out_classes_without_objects(tmp_path: Path) -> None:
    splits = scored(
        tmp_path,
        boxes=[f"i,cat,{WHOLE},0", f"i,car,{WHOLE},0"],
        labels=["i,dog,0"],
        predictions=[f"i,cat,0.9,{WHOLE}", f"i,dog,0.9,{WHOLE}"],
    )
    assert splits["all"].metrics == {"mAP": 0.5}
    assert row_of(splits, "dog")["ap"] is None


@pytest.mark.parametrize(
    ("labels", "prediction", "false_positives"),
    [
        (["j,cat,1"], "animal", 1),  # A label that verifies cats as present also verifies their ancestors.
        (["j,cat,1"], "pet", 1),  # The class "pet" is another parent of "cat".
        (["j,cat,1"], "dog", 0),  # A label that verifies cats as present does not verify siblings such as dogs.
        (["j,animal,0"], "dog", 1),  # A label that verifies animals as absent also verifies their descendants.
        (["j,animal,0"], "pet", 0),  # The class "pet" is not a descendant of "animal".
        (["j,animal,0.7"], "cat", 1),  # A label with any confidence other than 1 means that the class is absent.
    ],
)
def test_labels_also_verify_ancestors_or_descendants(
    tmp_path: Path, labels: list[str], prediction: str, false_positives: int
) -> None:
    splits = scored(
        tmp_path,
        boxes=[f"i,{name},{WHOLE},0" for name in ("cat", "dog", "pet")],
        labels=labels,
        predictions=[f"j,{prediction},0.9,{WHOLE}"],
        hierarchy=TREE,
    )
    assert row_of(splits, prediction)["false_positives"] == false_positives


def test_a_box_counts_for_its_ancestors_and_not_for_its_children(tmp_path: Path) -> None:
    splits = scored(tmp_path, boxes=[f"i,cat,{LEFT},0", f"i,animal,{RIGHT},0"], predictions=[], hierarchy=TREE)
    assert {row["label"]: row["truths"] for row in splits["all"].classes} == {"animal": 2.0, "cat": 1.0, "pet": 1.0}


def test_predictions_are_copied_to_ancestors_only_on_request(tmp_path: Path) -> None:
    for name, expand, expected in (("off", False, 1 / 3), ("on", True, 1.0)):
        (tmp_path / name).mkdir()
        splits = scored(
            tmp_path / name,
            boxes=[f"i,cat,{LEFT},0"],
            predictions=[f"i,cat,0.9,{LEFT}"],
            hierarchy=TREE,
            expand_predictions=expand,
        )
        assert splits["all"].metrics["mAP"] == pytest.approx(expected)


def test_predictions_are_copied_even_if_the_truth_is_not_expanded(tmp_path: Path) -> None:
    splits = scored(
        tmp_path,
        boxes=[f"i,animal,{LEFT},0"],
        predictions=[f"i,cat,0.9,{LEFT}"],
        hierarchy=TREE,
        expand_hierarchy=False,
        expand_predictions=True,
    )
    assert splits["all"].metrics == {"mAP": 1.0}


def test_an_ancestor_that_is_not_in_the_class_list_is_not_evaluated(tmp_path: Path) -> None:
    (tmp_path / "truth").mkdir()
    (tmp_path / "truth" / "classes.csv").write_text("cat,Cat\n")
    splits = scored(tmp_path, boxes=[f"i,cat,{LEFT},0"], predictions=[f"i,cat,0.9,{LEFT}"], hierarchy=TREE)
    assert [row["label"] for row in splits["all"].classes] == ["cat"]
    assert splits["all"].metrics == {"mAP": 1.0}


def test_only_the_ten_thousand_most_confident_detections_of_an_image_and_class_count(tmp_path: Path) -> None:
    noise = [f"i,cat,0.9,0,0.1,0,{n / 20_000 + 0.1}" for n in range(10_000)]
    splits = scored(tmp_path, boxes=[f"i,cat,{WHOLE},0"], predictions=[f"i,cat,0.8,{WHOLE}", *noise])
    assert (row_of(splits)["scored"], row_of(splits)["true_positives"]) == (10_000, 0.0)


def test_public_and_private_images_are_scored_separately_and_ignored_ones_are_not_scored(tmp_path: Path) -> None:
    splits = scored(
        tmp_path,
        boxes=[f"{image},cat,{WHOLE},0" for image in "ijk"],
        predictions=[f"i,cat,0.9,{WHOLE}", f"k,cat,0.95,{LEFT}", "k,cat,0.99,0,0.1,0,0.1"],
        usage=["i,PUBLIC", "j,Private", "k,ignored"],
    )
    assert {name: split.metrics["mAP"] for name, split in splits.items()} == {"all": 0.5, "public": 1.0, "private": 0.0}


def test_without_objects_the_score_is_undefined(tmp_path: Path) -> None:
    splits = scored(tmp_path, boxes=[], labels=["i,cat,0"], predictions=[f"i,cat,0.9,{WHOLE}"])
    assert splits["all"].metrics == {"mAP": None}


@pytest.mark.parametrize("corner", [1e200, 1e308])
def test_boxes_whose_area_overflows_are_false_positives_and_cause_no_error(tmp_path: Path, corner: float) -> None:
    splits = scored(
        tmp_path,
        boxes=[f"i,cat,{WHOLE},0", f"i,cat,{WHOLE},1"],
        predictions=[f"i,cat,0.9,-{corner},{corner},-{corner},{corner}"],
    )
    assert row_of(splits)["false_positives"] == 1
