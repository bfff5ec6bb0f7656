"""Tests the kinds of mask errors on an image of 4 × 4 pixels, and invariants of segmentation explanations."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.report import Report
from evaluator.request import ReportOptions, ScoringRequest
from evaluator.scoring import score
from evaluator.synthesis import synthesize
from evaluator.tracks.segmentation import explanation, scorer
from tests.evaluator.test_segmentation_rules import LEFT, TOP, TRACK, WHOLE, Edges, mask, submission, truth

LABELS = "ImageID,LabelName,Confidence\ni,cat,1\ni,dog,0\n"
HIERARCHY = '{"LabelName": "animal", "Subcategory": [{"LabelName": "cat"}, {"LabelName": "dog"}]}'
BAND, OTHER_BAND, CORNER, PAIR = (0, 4, 0, 1), (0, 4, 3, 4), (0, 2, 0, 2), (0, 2, 0, 1)
Found = list[tuple[str, float, Edges]]
KINDS: list[tuple[Any, Found, str]] = [
    ([(WHOLE, 0, True)], [("dog", 0.9, WHOLE)], "class"),
    # Localization error: the predicted mask has an IoU of 1/8 with the object.
    ([(WHOLE, 0, True)], [("cat", 0.9, PAIR)], "localization"),
    # Error in both class and localization: the predicted mask has an IoU of 1/4 with the object.
    ([(WHOLE, 0, True)], [("dog", 0.9, CORNER)], "both"),
    ([(WHOLE, 0, True)], [("cat", 0.9, WHOLE), ("cat", 0.8, WHOLE)], "duplicate"),
    ([(BAND, 0, True)], [("cat", 0.9, OTHER_BAND)], "background"),
    # Group-of error: only one third of the predicted mask is in the group box.
    ([(LEFT, 1, True)], [("cat", 0.9, (1, 4, 0, 4))], "group_of"),
]


def explained(tmp_path: Path, objects: Any, found: Found, *, hierarchy: str = "", **parameters: Any) -> Report:
    path = submission(tmp_path, [f"i,4,4,{label},{confidence},{mask(edges)}" for label, confidence, edges in found])
    folder = truth(tmp_path, objects, image_labels=LABELS)
    if hierarchy:
        (folder / "hierarchy.json").write_text(hierarchy)
    return score(ScoringRequest(TRACK, folder, path, parameters=parameters, report=ReportOptions(matches=True)))


def wrong(report: Report) -> list[str]:
    """Return the kinds of errors to which the report assigns at least one false positive."""
    return [str(row["kind"]) for row in report.splits["all"].tables["errors"] if row["false_positives"]]


@pytest.mark.parametrize(("objects", "found", "kind"), KINDS)
def test_each_kind_of_error_is_recognized(tmp_path: Path, objects: Any, found: Found, kind: str) -> None:
    assert wrong(explained(tmp_path, objects, found)) == [kind]


def test_fixing_the_class_of_a_prediction_makes_it_a_hit(tmp_path: Path) -> None:
    (row,) = (
        row
        for row in explained(tmp_path, [(WHOLE, 0, True)], [("dog", 0.9, WHOLE)]).splits["all"].tables["errors"]
        if row["kind"] == "class"
    )
    assert (row["misses"], row["delta_mAP"]) == (1, 1.0)


def test_a_mask_of_an_ancestor_has_the_right_class(tmp_path: Path) -> None:
    found = [("animal", 0.9, WHOLE), ("cat", 0.9, WHOLE), ("dog", 0.9, WHOLE)]
    report = explained(tmp_path, [(WHOLE, 0, True)], found, hierarchy=HIERARCHY)
    assert wrong(report) == ["class"]
    assert report.splits["all"].tables["class_errors"] == [{"truth": "cat", "prediction": "dog", "count": 1}]


def test_masks_on_an_object_with_only_a_box_are_not_errors(tmp_path: Path) -> None:
    report = explained(tmp_path, [(LEFT, 0, True), (TOP, 0, False)], [("cat", 0.9, TOP)])
    assert wrong(report) == []
    assert [row[4:7] for row in report.matches.rows()] == [("absorbed", "box_only", ""), ("missed", "missed", 2)]


def test_every_mask_has_one_outcome(tmp_path: Path) -> None:
    objects = [(TOP, 0, True), (LEFT, 1, True)]
    found = [
        ("cat", 0.9, TOP),  # This prediction hits the object.
        ("cat", 0.8, (0, 4, 0, 1)),  # This prediction finds the group.
        ("cat", 0.7, CORNER),  # This prediction is in the group that is already found.
        ("cat", 0.6, (3, 4, 3, 4)),  # This prediction overlaps neither the object nor the group.
        ("cat", -11, TOP),  # The confidence of this prediction is too low.
    ]
    report = explained(tmp_path, objects, found, group_of_weight=1.0)
    assert {row[3]: row[4:] for row in report.matches.rows()} == {
        0.9: ("true_positive", "", 2, 1.0),
        0.8: ("group_found", "", 3, 0.5),
        0.7: ("absorbed", "", 3, 1.0),
        0.6: ("false_positive", "background", "", ""),
        -11.0: ("ignored", "no_area_or_confidence", "", ""),
    }
    (row,) = (row for row in report.splits["all"].classes if row["label"] == "cat")
    assert [row[name] for name in ("ignored", "group_found", "absorbed", "missed")] == [1, 1, 1, 0]


def test_masks_are_compared_only_once_with_objects_of_their_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The explanation reuses overlaps from scoring. With objects of other classes, it compares only false positives."""
    compared: list[int] = []
    monkeypatch.setattr(scorer, "mask_overlaps", noted(compared, scorer.mask_overlaps))
    monkeypatch.setattr(explanation, "mask_iou", noted(compared, explanation.mask_iou))
    explained(tmp_path, [(WHOLE, 0, True)], [("cat", 0.9, WHOLE), ("dog", 0.8, WHOLE)])
    assert compared == [2, 1]


def noted(compared: list[int], overlap: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes overlaps, and appends the number of pairs to a list."""

    def noting(masks: Any, others: Any, first: Any, *pairs: Any) -> Any:
        compared.append(len(first))
        return overlap(masks, others, first, *pairs)

    return noting


def test_slices_contain_each_object_once(tmp_path: Path) -> None:
    found = [("cat", 0.9, TOP), ("cat", 0.8, (3, 4, 3, 4))]
    rows = explained(tmp_path, [(TOP, 0, True), (PAIR, 0, True)], found).splits["all"].tables["slices"]
    assert {row["value"]: (row["truths"], row["found"], row["false_positives"]) for row in rows} == {
        "small": (0, 0, 0),
        "medium": (0, 0, 0),
        "large": (2, 1, 1),
    }


@pytest.mark.parametrize("parameters", [{}, {"group_of_weight": 0.3}, {"expand_hierarchy": False}])
def test_every_error_has_one_kind_and_the_explanation_does_not_change_the_score(
    parameters: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "challenge"
    synthesize(TRACK, out, images=25, seed=3, qualities=(0.6,))
    file = min((out / "submissions").iterdir(), key=lambda path: len(path.name))
    plain = score(ScoringRequest(TRACK, out / "truth", file, parameters=parameters))
    options = ReportOptions(matches=True)
    report = score(ScoringRequest(TRACK, out / "truth", file, parameters=parameters, report=options))
    rows = list(report.matches.rows())
    for name, split in report.splits.items():
        assert split.metrics == plain.splits[name].metrics
        mine = [row for row in rows if name in ("all", row[0])]
        false = Counter(row[5] for row in mine if row[4] == "false_positive")
        errors = {row["kind"]: row for row in split.tables["errors"]}
        assert {kind: row["false_positives"] for kind, row in errors.items()} == {kind: false[kind] for kind in errors}
        for row in split.classes:
            assert sum(row[f"fp_{kind}"] for kind in errors if kind != "missed") == row["false_positives"]
            assert row["truths"] - row["true_positives"] == pytest.approx(row["missed"])
