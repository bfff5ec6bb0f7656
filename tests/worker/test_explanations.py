"""The worker converts the explanation of a score to JSON."""

import json
import zlib

import pytest

from evaluator.report import Report, SplitReport
from worker import scorer


def report(**splits: SplitReport) -> Report:
    return Report("openimages-detection", "signature", {}, splits)


def split(score: float) -> SplitReport:
    return SplitReport("mAP", {"mAP": score}, [{"label": "/m/01", "name": "Cat", "ap": score}])


@pytest.fixture
def converted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the name of each split is appended when its explanation is converted."""
    names: list[str] = []
    convert = scorer.explanation

    def noting(report: Report, split: str) -> object:
        names.append(split)
        return convert(report, split)

    monkeypatch.setattr(scorer, "explanation", noting)
    return names


def aps(contents: dict[str, bytes]) -> dict[str, float]:
    return {name: json.loads(zlib.decompress(one))["classes"][0]["ap"] for name, one in contents.items()}


def test_each_split_has_its_own_explanation(converted: list[str]) -> None:
    found = scorer.explanations(report(all=split(0.5), public=split(0.25), private=split(0.75)))
    assert aps(found) == {"all": 0.5, "public": 0.25, "private": 0.75}
    assert converted == ["all", "public", "private"]


def test_splits_with_the_same_report_are_converted_once(converted: list[str]) -> None:
    same = split(0.5)
    assert aps(scorer.explanations(report(all=same, public=same))) == {"all": 0.5, "public": 0.5}
    assert converted == ["all"]
