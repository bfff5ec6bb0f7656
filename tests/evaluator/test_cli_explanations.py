"""Tests ``podium score`` with the options --explain, --curves and --matches."""

import csv
import io
import json
from pathlib import Path

import pytest

from evaluator.cli import main
from tests.evaluator.conftest import Tiny


def scored(capsys: pytest.CaptureFixture[str], tiny: Tiny, *words: object) -> str:
    code = main([str(word) for word in ("score", tiny.track, "--truth", tiny.truth, "--submission", tiny.long, *words)])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


def test_the_explain_option_only_adds_to_the_report(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    plain = json.loads(scored(capsys, tiny, "--json"))["splits"]["all"]
    told = json.loads(scored(capsys, tiny, "--json", "--explain"))["splits"]["all"]
    assert {"averages", "errors", "error_sums", "class_errors", "slices", "ablation"} == set(told) - set(plain)
    assert {name: told[name] for name in plain if name != "classes"} == {
        name: plain[name] for name in plain if name != "classes"
    }
    for row, before in zip(told["classes"], plain["classes"], strict=True):
        assert row.items() >= before.items()


def test_the_explain_option_prints_tables(tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    lines = scored(capsys, tiny, "--explain").splitlines()
    assert "  localization                0       0    0.00000" in lines
    assert {"errors", "slices", "ablation"} <= set(lines)


def test_a_matches_file_lists_each_outcome_with_its_reason(
    tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scored(capsys, tiny, "--matches", tmp_path / "m.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "m.csv").read_text())))
    outcomes = [(row["ImageID"], row["LabelName"], row["Outcome"], row["Reason"]) for row in rows]
    assert ("kitchen", "/m/01yrx", "group_found", "") in outcomes
    assert ("kitchen", "/m/01yrx", "absorbed", "") in outcomes
    assert ("kitchen", "/m/0bt9lr", "ignored", "unverified_class") in outcomes
    assert ("street", "/m/0bt9lr", "missed", "missed") in outcomes


def test_a_file_of_curves_has_the_signature(tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scored(capsys, tiny, "--curves", tmp_path / "c.json")
    answer = json.loads((tmp_path / "c.json").read_text())
    assert answer["signature"].startswith("openimages-detection|iou:0.5|")
    cat, dog, car = answer["splits"]["all"]
    assert (cat["label"], cat["name"], cat["curve"], cat["truths"]) == ("/m/01yrx", "Cat", "ap", 3.0)
    assert cat["area"] == pytest.approx(11 / 12)
    assert (cat["recall"], cat["precision"]) == (
        pytest.approx([1 / 3, 2 / 3, 1, 1]),
        pytest.approx([1, 1, 3 / 4, 3 / 5]),
    )
    assert (dog["area"], car["area"], car["recall"]) == (0.25, None, [])


def test_the_file_of_classes_has_the_columns_of_an_explanation(
    tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scored(capsys, tiny, "--explain", "--classes", tmp_path / "c.csv")
    row = next(csv.DictReader(io.StringIO((tmp_path / "c.csv").read_text())))
    assert (row["split"], row["label"], row["fp_duplicate"], row["missed"]) == ("all", "/m/01yrx", "1", "0")
