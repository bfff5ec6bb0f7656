"""Tests `podium gate`, which checks a ground truth before use: output, exit codes, and warnings of `check-bundle`."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import GATE_CHECKS
from evaluator.cli import main
from evaluator.synthesis import synthesize

DETECTION = "openimages-detection"
UNKNOWN = "ImageId,PredictionString\nno-such-image,\n"


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    """Create a ground truth in the folder layout of a bundle, and return the folder of the ground truth."""
    synthesize(DETECTION, tmp_path / "phases/main", images=12, seed=3, qualities=[0.5])
    return tmp_path / "phases/main/truth"


def gate(truth: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, Any]:
    code = main(["gate", DETECTION, "--truth", str(truth), *options, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_good_truth_passes_every_check(truth: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = gate(truth, capsys)
    assert (code, answer["green"]) == (0, True)
    assert [(check["name"], check["passed"]) for check in answer["checks"]] == [(one.name, True) for one in GATE_CHECKS]


def test_a_prepared_truth_gives_the_same_result_as_its_folder(
    truth: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    split = ("--split", "0.5", "--seed", "1")
    prepared = tmp_path / "t.podium"
    assert main(["prepare", DETECTION, "--truth", str(truth), "--out", str(prepared), *split]) == 0
    capsys.readouterr()
    of_folder = gate(truth, capsys, *split)
    assert of_folder == gate(prepared, capsys)
    assert "private" in of_folder[1]["checks"][0]["got"]


def test_a_red_check_is_printed_with_its_advice_and_no_text_of_the_truth(
    truth: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = tmp_path / "sample.csv"
    sample.write_text(UNKNOWN)
    code = main(["gate", DETECTION, "--truth", str(truth), "--sample", str(sample)])
    printed = capsys.readouterr().out
    assert code == 3
    assert "template: red: rejected: unknown_image\n  expected: accepted and scored\n  Fix the sample" in printed
    assert [line for line in printed.splitlines() if ": red:" in line] == [
        "template: red: rejected: unknown_image",
    ]
    for line in (truth / "boxes.csv").read_text().splitlines()[1:]:
        image, label = line.split(",")[:2]
        assert image not in printed
        assert label not in printed


def test_limits_of_submitted_files_apply(truth: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = gate(truth, capsys, "--limit", "boxes=1")
    assert code == 3
    assert answer["checks"][0]["got"] == "rejected: too_many_rows"


def test_a_truth_with_faults_has_no_result(truth: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (truth / "boxes.csv").unlink()
    code, answer = gate(truth, capsys)
    assert (code, [each["code"] for each in answer["errors"]]) == (3, ["truth_missing_file"])
    assert "checks" not in answer


def test_a_bundle_with_a_red_gate_gets_a_warning_which_is_a_mistake_with_the_strict_option(
    truth: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    phase = truth.parent
    (phase / "sample_submission.csv").write_text(UNKNOWN)
    sheet = f"slug: animals\ntitle: Animals\nphases:\n  - slug: main\n    track: {DETECTION}\n"
    (phase.parent.parent / "challenge.yaml").write_text(sheet)
    command = ["check-bundle", str(phase.parent.parent), "--json"]
    assert main(command) == 0
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    told = next(each for each in warnings if each["code"] == "gate_template")
    assert "the phase will not accept submissions" in told["message"]
    assert told["file"] == "phases/main/truth"
    assert main([*command, "--strict"]) == 2
    assert "gate_template" in [each["code"] for each in json.loads(capsys.readouterr().out)["errors"]]
