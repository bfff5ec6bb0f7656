"""The official tools' numbers, where the folder with their inputs lies beside the project."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.files.conversion import convert
from evaluator.scoring import score

SHARED = Path(__file__).parents[3] / "shared"
TOLERANCE = 1e-9
CASES = sorted(path.name for path in (SHARED / "golden").glob("[dv][er][td]_*"))
REAL = [
    ("openimages-detection-val5k", "strong.csv", "truth", "strong.expected_w1.json"),
    ("openimages-detection-val5k", "strong.csv", "truth", "strong.expected_w0.json"),
    ("openimages-relationships-val2019", "strong.csv.gz", "truth", "strong.expected.json"),
    ("openimages-relationships-val2019", "strong_kaggle.csv.gz", "truth", "strong.expected.json"),
    (
        "openimages-relationships-val2019",
        "strong.csv.gz",
        "truth_without_labels",
        "strong.expected_without_labels.json",
    ),
]


def test_the_golden_folder_is_there() -> None:
    """Loud where it is not; the project's own small cases run everywhere."""
    if not CASES:
        pytest.skip(f"NOT RUN: {SHARED / 'golden'} is not there, the official tools' numbers were not compared")


def found(folder: Path, name: str) -> Path | None:
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.exists()), None)


def assert_equal(expected: dict[str, Any], submission: Path, truth: Path) -> None:
    report = score(expected["track"], truth, submission, parameters=expected["parameters"]).as_dict()
    split = report["splits"]["all"]
    assert split["metrics"] == pytest.approx(expected["metrics"], abs=TOLERANCE)
    rows = {row["label"]: row for row in split["classes"]}
    for label, numbers in expected["classes"].items():
        assert {name: rows[label][name] for name in numbers} == pytest.approx(numbers, abs=TOLERANCE), label


@pytest.mark.shared
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("shape", ["long", "kaggle"])
def test_agrees_with_the_official_tool(case: str, shape: str, tmp_path: Path) -> None:
    folder = SHARED / "golden" / case
    expected = json.loads((folder / "expected.json").read_text())
    long = found(folder, "predictions.csv")
    assert long is not None
    submission = long if shape == "long" else found(folder, "submission_kaggle.csv")
    if submission is None:
        submission = tmp_path / "kaggle.csv"
        with submission.open("w") as file:
            convert(expected["track"], "kaggle", long, file)
    assert_equal(expected, submission, folder / "truth")


@pytest.mark.shared
@pytest.mark.skipif(not CASES, reason="NOT RUN: shared/data is not beside the project")
@pytest.mark.parametrize(("folder", "file", "truth", "numbers"), REAL)
def test_agrees_on_real_annotations(folder: str, file: str, truth: str, numbers: str) -> None:
    data = SHARED / "data" / folder
    assert_equal(json.loads((data / numbers).read_text()), data / file, data / truth)
