"""Tests comparisons of two submissions: score difference, interval, and the classes in which each is better."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.cli import main
from evaluator.cli.exits import Exit
from evaluator.comparison import compare
from evaluator.problems import InvalidParameters
from evaluator.report import Report, SplitReport
from tests.evaluator.conftest import Tiny


def report(
    value: float | None, replicates: list[float], classes: dict[str, float | None], signature: str = "s"
) -> Report:
    rows: list[Any] = [{"label": name, "name": name, "ap": ap} for name, ap in classes.items()]
    split = SplitReport("mAP", {"mAP": value}, rows, replicates={"mAP": np.array(replicates)})
    return Report("openimages-detection", signature, {}, {"all": split})


NONE: dict[str, float | None] = {}


@pytest.mark.parametrize(
    ("shifts", "interval", "verdict"),
    [
        # The shifts are the differences between paired replicates of the two submissions. The ends of the expected
        # interval are interpolated percentiles of the shifts.
        ([0.1, 0.2, 0.3], (0.105, 0.295), "b_better"),
        ([-0.1, -0.2, -0.3], (-0.295, -0.105), "a_better"),
        ([-0.1, 0.0, 0.1], (-0.095, 0.095), "tied"),
        ([0.0, 0.0, 0.0], (0.0, 0.0), "tied"),
        ([2e-16, 2e-16, 2e-16], (0.0, 0.0), "tied"),  # The difference is due to rounding.
    ],
)
def test_the_interval_of_paired_differences_determines_the_verdict(
    shifts: list[float], interval: tuple[float, float], verdict: str
) -> None:
    """Both submissions use the same bootstrap draws, so only the variation of their difference affects the interval."""
    drawn = [0.1, 0.5, 0.6]
    a = report(0.4, drawn, NONE)
    difference = sum(shifts) / 3
    b = report(0.4 + difference, [one + shift for one, shift in zip(drawn, shifts, strict=True)], NONE)
    found = compare(a, b, "ap")["all"].metrics["mAP"]
    assert found.difference == pytest.approx(difference)
    assert found.interval == pytest.approx(interval)
    assert found.verdict == verdict


@pytest.mark.parametrize(("shift", "interval"), [(-0.1, (-0.1, 0.05)), (0.1, (0.05, 0.1))])
def test_the_interval_of_a_difference_contains_the_difference(shift: float, interval: tuple[float, float]) -> None:
    """A class that is undefined in many replicates can move all of their differences to one side of the difference.

    The submission with the lower score is then not called better, even if it is better in every replicate.
    """
    a, b = report(0.4, [0.5, 0.6], NONE), report(0.45, [0.5 + shift, 0.6 + shift], NONE)
    found = compare(a, b, "ap")["all"].metrics["mAP"]
    assert found.interval == pytest.approx(interval)
    assert found.verdict == ("tied" if shift < 0 else "b_better")


def test_classes_are_won_lost_or_tied_if_both_scores_are_defined() -> None:
    a = report(0.5, [0.5], {"cat": 0.5, "dog": 0.5, "car": 0.5, "ant": 0.1, "bee": None})
    b = report(0.5, [0.5], {"cat": 0.7, "dog": 0.2, "car": 0.5, "ant": 0.2, "bee": None})
    found = compare(a, b, "ap")["all"]
    assert (found.won, found.lost, found.even) == (2, 1, 1)
    assert [row["label"] for row in found.classes] == ["cat", "ant", "car", "dog"]


def test_an_undefined_score_has_no_verdict() -> None:
    found = compare(report(None, [np.nan], NONE), report(None, [np.nan], NONE), "ap")["all"].metrics["mAP"]
    assert (found.difference, found.interval, found.verdict) == (None, None, None)


def test_scores_with_different_signatures_are_not_compared() -> None:
    with pytest.raises(InvalidParameters, match="signatures differ"):
        compare(report(0.5, [0.5], NONE, "one"), report(0.5, [0.5], NONE, "other"), "ap")


def podium(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def worse(tiny: Tiny, tmp_path: Path) -> Path:
    """Write a copy of the submission in the fixture `tiny`, without predictions of cats, and return its path."""
    path = tmp_path / "worse.csv"
    path.write_text("".join(line for line in tiny.long.read_text().splitlines(keepends=True) if "/m/01yrx" not in line))
    return path


def test_the_output_contains_both_scores_and_their_difference(
    tiny: Tiny, worse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = podium(capsys, "compare", tiny.track, "--truth", tiny.truth, tiny.long, worse, "--json")
    assert code == 0
    answer = json.loads(out)
    found = answer["splits"]["all"]["metrics"]["mAP"]
    assert (found["a"], found["b"], found["difference"]) == pytest.approx((7 / 12, 1 / 8, 1 / 8 - 7 / 12))
    assert found["interval"][0] <= found["interval"][1] <= 0
    assert (answer["replicates"], answer["splits"]["all"]["won"], answer["splits"]["all"]["lost"]) == (1000, 0, 1)


def test_a_submission_does_not_differ_from_itself_in_the_other_file_layout(
    tiny: Tiny, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = podium(capsys, "compare", tiny.track, "--truth", tiny.truth, tiny.long, tiny.kaggle)
    assert code == 0
    assert "no significant difference" in out
    assert "+0.00000  [+0.00000, +0.00000]" in out
    assert "classes: B is better on 0, worse on 0, equal on 2" in out


def test_swapping_the_submissions_changes_the_sign(tiny: Tiny, worse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for pair in ((tiny.long, worse), (worse, tiny.long)):
        _, out, _ = podium(capsys, "compare", tiny.track, "--truth", tiny.truth, *pair, "--json", "--bootstrap", 200)
        answers.append(json.loads(out)["splits"]["all"]["metrics"]["mAP"])
    there, back = answers
    assert there["difference"] == -back["difference"]
    assert there["interval"] == pytest.approx([-end for end in reversed(back["interval"])])


def test_a_message_names_the_file_with_the_defect(
    tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_text(tiny.long.read_text().replace("0.9", "nine"))
    code, out, _ = podium(capsys, "compare", tiny.track, "--truth", tiny.truth, tiny.long, broken)
    assert code == Exit.INVALID_SUBMISSION
    assert f"{broken}:2: not_a_number" in out
