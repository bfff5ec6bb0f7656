"""Tests the reasons why the best possible submission to the relationships track does not reach 1."""

from pathlib import Path
from typing import Any

import pytest

from evaluator.ceiling import ceilings
from evaluator.unreachable import REPEATED, TOO_MANY, WEIGHTS
from tests.evaluator.test_relationship_explanations import BOXES, HEADER, WHOLE

TRACK = "openimages-relationships"
MORE_THAN_50 = TOO_MANY.format(50)


def reasons(tmp_path: Path, triplets: list[str], **parameters: Any) -> dict[str, str]:
    truth = tmp_path / "truth"
    truth.mkdir()
    (truth / "relationships.csv").write_text("\n".join([f"{HEADER},{BOXES}", *triplets, ""]))
    found = ceilings(TRACK, truth, parameters)["all"]
    return {metric["title"]: metric["reason"] for metric in found["metrics"]}


def different(count: int) -> list[str]:
    return [f"i,man,thing {number},holds,{WHOLE},{WHOLE}" for number in range(count)]


def test_equal_triplets_are_the_reason_for_all_metrics(tmp_path: Path) -> None:
    """An image with two triplets does not have too many for recall@50."""
    assert set(reasons(tmp_path, different(1) * 2).values()) == {REPEATED}


def test_too_many_triplets_are_the_reason_for_recall_and_the_score_alone(tmp_path: Path) -> None:
    found = reasons(tmp_path, different(60))
    assert {title: reason for title, reason in found.items() if reason} == {
        "Score": MORE_THAN_50,
        "Recall@50": MORE_THAN_50,
    }


def test_a_metric_can_have_two_reasons(tmp_path: Path) -> None:
    found = reasons(tmp_path, [*different(60), *different(1)])
    assert (found["mAP relationships"], found["Recall@100"]) == (REPEATED, REPEATED)
    assert found["Score"] == found["Recall@50"] == f"{REPEATED}; {MORE_THAN_50}"


@pytest.mark.parametrize(
    ("weights", "reason"), [("0.5/0/0.5", ""), ("0.5/0.5/0.5", MORE_THAN_50), ("0.2/0/0.2", WEIGHTS)]
)
def test_only_parts_with_a_weight_limit_the_score(weights: str, reason: str, tmp_path: Path) -> None:
    assert reasons(tmp_path, different(60), weights=weights)["Score"] == reason
