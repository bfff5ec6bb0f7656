"""Tests the ablation of a detection score, which is the mean average precision without some of the rules."""

from pathlib import Path
from typing import Any

import pytest

from evaluator.report import Report
from evaluator.scoring import prepare
from tests.evaluator.test_explanations import TRACK, TREE, WHOLE, explained, written

# Maps settings to the expected mAP. The settings are whether labels are non-exhaustive, whether the hierarchy is used,
# and the group-of weight. The ordinary cat is found, but the group of cats is not. The only dog is found. None of the
# three animals is found.
ABLATION = {
    (True, True, 1): (1 / 2 + 1 + 0) / 3,
    (True, True, 0): (1 + 1 + 0) / 3,
    (False, True, 1): (1 / 2 + 1 / 2 + 0) / 3,  # Predicting a dog without a verified label is a false positive.
    (False, True, 0): (1 + 1 / 2 + 0) / 3,
    (True, False, 1): (1 / 2 + 1) / 2,
    (True, False, 0): (1 + 1) / 2,
    (False, False, 1): (1 / 2 + 1 / 2) / 2,
    (False, False, 0): (1 + 1 / 2) / 2,
}


def ablation_files(folder: Path) -> tuple[Path, Path]:
    return written(
        folder,
        [f"i,cat,{WHOLE},0", f"j,cat,{WHOLE},1", f"k,dog,{WHOLE},0"],
        [],
        [f"i,dog,0.95,{WHOLE}", f"i,cat,0.9,{WHOLE}", f"k,dog,0.5,{WHOLE}"],
        hierarchy=TREE,
    )


def ablation(report: Report) -> dict[tuple[Any, ...], Any]:
    rows = report.splits["all"].tables["ablation"]
    return {(row["non_exhaustive_labels"], row["hierarchy"], row["group_of_weight"]): row["mAP"] for row in rows}


def test_the_ablation_has_every_combination_of_three_rules(tmp_path: Path) -> None:
    report = explained(ablation_files(tmp_path))
    assert ablation(report) == pytest.approx(ABLATION)
    assert ablation(report)[True, True, 1] == report.splits["all"].metrics["mAP"]


def test_without_hierarchy_a_label_verifies_only_its_own_class(tmp_path: Path) -> None:
    """Image j has a verified label (present or absent) only for cats.

    A prediction of an animal in this image is a false positive only if the hierarchy is used.
    """
    predictions = [f"j,animal,0.9,{WHOLE}", f"i,animal,0.8,{WHOLE}"]
    files = written(tmp_path, [f"i,animal,{WHOLE},0"], ["j,cat,1"], predictions, hierarchy=TREE)
    found = ablation(explained(files))
    assert (found[True, True, 1], found[True, False, 1], found[False, False, 1]) == pytest.approx((1 / 2, 1, 1 / 2))


def test_a_prepared_truth_can_be_ablated(tmp_path: Path) -> None:
    truth, submission = ablation_files(tmp_path)
    prepare(TRACK, truth, tmp_path / "t.podium")
    assert ablation(explained((tmp_path / "t.podium", submission))) == pytest.approx(ABLATION)


def test_without_expansion_the_ablation_has_only_rows_without_hierarchy(tmp_path: Path) -> None:
    found = ablation(explained(ablation_files(tmp_path), expand_hierarchy=False))
    assert found == pytest.approx({key: value for key, value in ABLATION.items() if not key[1]})


def test_without_a_hierarchy_the_ablation_has_only_rows_without_hierarchy(tmp_path: Path) -> None:
    truth, submission = ablation_files(tmp_path)
    (truth / "hierarchy.json").unlink()
    found = ablation(explained((truth, submission)))
    assert found == pytest.approx({key: value for key, value in ABLATION.items() if not key[1]})


def test_the_fiftyone_protocol_has_no_ablation(tmp_path: Path) -> None:
    report = explained(ablation_files(tmp_path), protocol="fiftyone")
    assert {"errors", "slices"} <= set(report.splits["all"].tables)
    assert "ablation" not in report.splits["all"].tables
