"""Without a server, `podium check-bundle` lists all errors in `challenge.yaml`, ground truths and submissions."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli import main
from evaluator.synthesis import synthesize

SHEET = """\
slug: animals
title: Animals
phases:
  - slug: main
    track: openimages-detection
"""


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Create a bundle (the files of a challenge) without errors, and return its folder."""
    folder = tmp_path / "bundle"
    synthesize("openimages-detection", folder / "phases/main", images=12, seed=3, qualities=[0.5])
    (folder / "phases/main/submissions").rename(folder / "phases/main/baselines")
    (folder / "challenge.yaml").write_text(SHEET)
    return folder


def checked(bundle: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, Any]:
    code = main(["check-bundle", str(bundle), "--json", *options])
    return code, json.loads(capsys.readouterr().out)


def test_a_valid_bundle_has_no_mistakes(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = checked(bundle, capsys)
    assert (code, answer["errors"], answer["total"]) == (0, [], 0)


def test_yaml_file_truth_and_baseline_are_checked_together(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth, baseline = bundle / "phases/main/truth/boxes.csv", bundle / "phases/main/baselines/broken.csv"
    truth.write_text(truth.read_text() + "x,/m/1,0.5,0.1,0.1,0.5,0\n")
    baseline.write_text("ImageId,PredictionString\nx,/m/1 high 0 0 1 1\n")
    text = f"{SHEET}    finals: 0\n    baselines: [{{name: Broken, file: baselines/broken.csv}}]\n"
    (bundle / "challenge.yaml").write_text(text)
    code, answer = checked(bundle, capsys)
    found = {(each["code"], each["file"], each["line"], each["column"]) for each in answer["errors"]}
    lines = len(truth.read_text().splitlines())
    assert code == 2
    assert ("bad_value", "challenge.yaml", 6, "phases[0].finals") in found
    assert ("truth_inverted_box", "phases/main/truth/boxes.csv", lines, "XMin") in found
    assert any(file == "phases/main/baselines/broken.csv" and line == 2 for _, file, line, _ in found)


def test_if_only_the_truth_has_faults_there_is_a_separate_exit_code(
    bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (bundle / "phases/main/truth/boxes.csv").unlink()
    code, answer = checked(bundle, capsys)
    assert (code, [each["code"] for each in answer["errors"]]) == (3, ["truth_missing_file"])


def test_with_the_strict_option_a_warning_is_a_mistake(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contact = "contact: organizers@example.org\n"
    (bundle / "challenge.yaml").write_text(f"{SHEET}    split: {{public: 1, seed: 4}}\n{contact}")
    # The files of baselines are removed, because files that challenge.yaml does not list cause an additional warning.
    shutil.rmtree(bundle / "phases/main/baselines")
    # The class list is removed, because classes without objects cause an additional warning.
    for listing in ("classes.csv", "hierarchy.json"):
        (bundle / "phases/main/truth" / listing).unlink()
    code, answer = checked(bundle, capsys)
    assert (code, [each["code"] for each in answer["warnings"]]) == (0, ["idle_seed"])
    code, answer = checked(bundle, capsys, "--strict")
    assert (code, [each["code"] for each in answer["errors"]]) == (2, ["idle_seed"])


def test_a_path_that_does_not_exist_is_wrong_usage(tmp_path: Path) -> None:
    assert main(["check-bundle", str(tmp_path / "nothing")]) == 64
