"""A new track needs only a ten-line declaration and a metric of a few lines. No other code has to change."""

import json
from pathlib import Path

import numpy as np
import pytest

from evaluator.catalog import TRACKS, Column, Form, Metric, Modules, Track, TruthFile
from evaluator.cli import main
from evaluator.problems import InvalidParameters
from evaluator.request import ScoringRequest
from evaluator.scoring import ceiling, check, score, template
from evaluator.synthesis import synthesize
from evaluator.tracks.shared.one_answer import Answers, OneAnswerScorer
from tests.evaluator.options import HALVES, with_intervals

IMAGE, DIGIT, SLANT = (
    Column("ImageID", "image", "its id"),
    Column("Digit", "label", "read"),
    Column("Slant", "number", ""),
)
DIGITS = Track(
    name="digits",
    title="Handwritten digits",
    summary="One digit in each image, and how slanted it is.",
    truth=(TruthFile("digits.csv", ("ImageID", "Digit", "Slant"), "the digit of each image"),),
    form=Form("table", columns=(IMAGE, DIGIT, SLANT), example="img1,7,0.2", one_each=True),
    metrics=(Metric("accuracy", "Accuracy", "fraction of images read correctly"), Metric("upright", "", "")),
    headline_explained="The fraction of images whose digit is correct.",
    modules=Modules(__name__),
)


def measure(truth: Answers, answers: Answers, parameters: object) -> Answers:
    right = truth["Digit"] == answers["Digit"]
    return {"accuracy": right, "upright": np.abs(truth["Slant"] - answers["Slant"]) <= 0.1}


SCORER = OneAnswerScorer(DIGITS, measure)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TRACKS, DIGITS.name, DIGITS)


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir()
    (folder / "digits.csv").write_text("ImageID,Digit,Slant\na,7,0.5\nb,1,0\nc,1,0.9\nd,2,0\n")
    return folder


def test_the_metric_of_a_new_track_is_the_mean_over_images(truth: Path, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("Digit,ImageID,Slant\n1,c,0\n7,a,0.45\neight,b,1\n")
    assert score(ScoringRequest("digits", truth, tmp_path / "s.csv")).splits["all"].metrics == {
        "accuracy": 0.5,
        "upright": 0.25,
    }


def test_defects_in_a_new_track_are_reported(truth: Path, tmp_path: Path) -> None:
    (truth / "images.csv").write_text("ImageID\na\nb\nc\nd\n")
    (tmp_path / "s.csv").write_text("ImageID,Digit,Slant\na,7,x\na,7,0\ne,1,0\n")
    found = [(p.code, p.line, p.column) for p in check("digits", tmp_path / "s.csv", truth=truth).errors]
    assert found == [("not_a_number", 2, "Slant"), ("duplicate_image", 3, "ImageID"), ("unknown_image", 4, "ImageID")]


def test_splits_template_and_ceiling_work_in_a_new_track(tmp_path: Path) -> None:
    synthesize("digits", tmp_path / "made", images=300)
    truth = tmp_path / "made" / "truth"
    for write in (template, ceiling):
        write("digits", truth, tmp_path / "s.csv")
        splits = score(ScoringRequest("digits", truth, tmp_path / "s.csv", opening=HALVES)).splits
        assert set(splits) == {"all", "public", "private"}
        assert (splits["private"].metrics["accuracy"] == 1.0) == (write is ceiling)


def test_a_track_without_statistics_refuses_intervals(truth: Path, tmp_path: Path) -> None:
    ceiling("digits", truth, tmp_path / "s.csv")
    with pytest.raises(InvalidParameters, match="does not support confidence intervals"):
        score(ScoringRequest("digits", truth, tmp_path / "s.csv", report=with_intervals(10)))


def test_all_commands_work_with_a_new_track(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made"
    assert main(["synthesize", "digits", "--out", str(out), "--images", "50", "--quality", "0.8"]) == 0
    prepared, submission = str(tmp_path / "t.podium"), str(out / "submissions" / "quality-0.80.csv")
    assert main(["prepare", "digits", "--truth", str(out / "truth"), "--out", prepared]) == 0
    assert main(["check", "digits", "--truth", prepared, "--submission", submission]) == 0
    # The track "digits" has only one file layout, so `convert` fails.
    assert main(["convert", "digits", "--to", "long", submission]) == 64
    capsys.readouterr()
    assert main(["score", "digits", "--truth", prepared, "--submission", submission, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["signature"].startswith("digits|truth:")
    assert answer["splits"]["all"]["metrics"]["accuracy"] > 0.6
    assert main(["score", "digits", "--truth", prepared, "--submission", submission]) == 0
    assert main(["tracks"]) == 0
    assert "digits" in capsys.readouterr().out
