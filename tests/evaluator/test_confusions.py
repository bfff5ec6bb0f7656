"""Tests the tables of confused classes for ObjectNet and for image-level classification."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.explanation import ROWS, explanation
from evaluator.report import Report
from evaluator.request import ReportOptions, ScoringRequest
from evaluator.scoring import score
from evaluator.tracks.shared.confusions import NOTHING, counted, matrix

GUESSES = {"a.png": 1, "b.png": 1, "c.png": 2, "d.png": -1, "e.png": 5}
ANSWERS = {"a.png": 1, "b.png": 2, "c.png": 2, "d.png": 2, "e.png": 7}


def explained(track: str, folder: Path, submission: str, **files: str) -> Report:
    truth = folder / "truth"
    truth.mkdir()
    for name, text in files.items():
        (truth / name.replace("_dot_", ".")).write_text(text)
    (folder / "submission.csv").write_text(submission)
    return score(
        ScoringRequest(track, truth, folder / "submission.csv", report=ReportOptions(matches=True))
    ).for_organizer()


def rows_of(report: Report, table: str, split: str = "all") -> list[tuple[Any, ...]]:
    return [(row["truth"], row["prediction"], row["count"]) for row in report.splits[split].tables[table]]


@pytest.fixture
def objectnet(tmp_path: Path) -> Report:
    usage = "".join(f"{file},{'Private' if file == 'e.png' else 'Public'}\n" for file in ANSWERS)
    lines = "".join(f"{file},{guess},1,,,,,,,,\n" for file, guess in GUESSES.items())
    files = {"answers_dot_json": json.dumps(ANSWERS), "usage_dot_csv": f"ImageID,Usage\n{usage}"}
    return explained("objectnet", tmp_path, lines, **files)


def test_the_confusion_matrix_of_objectnet_counts_first_guesses(objectnet: Report) -> None:
    assert rows_of(objectnet, "class_errors") == [("2", "1", 1), ("7", "5", 1)]
    assert set(rows_of(objectnet, "confusion")) == {
        ("1", "1", 1),
        ("2", "1", 1),
        ("2", "2", 1),
        ("2", None, 1),
        ("7", "5", 1),
    }


def test_the_public_matrix_has_no_private_image(objectnet: Report) -> None:
    assert rows_of(objectnet, "class_errors", "public") == [("2", "1", 1)]
    assert "7" not in {truth for truth, _, _ in rows_of(objectnet, "confusion", "public")}


def test_each_image_of_objectnet_has_a_row_with_its_outcome(objectnet: Report) -> None:
    rows = {row[1]: row for row in objectnet.matches.rows()}
    assert rows["b.png"] == ("public", "b.png", 2, 1, "false_positive")
    assert (rows["d.png"][-1], rows["a.png"][-1]) == ("missed", "true_positive")


def test_a_stored_matrix_is_complete_even_with_many_confused_classes() -> None:
    drawn = np.random.default_rng(1).integers(0, 313, (2, 50_000))
    rows = matrix(counted(drawn[0], np.where(drawn[1] == 312, NOTHING, drawn[1])), [str(code) for code in range(313)])
    assert len({row["truth"] for row in rows}) == 13
    assert len(rows) <= ROWS


def test_a_present_class_is_confused_with_the_highest_absent_class(tmp_path: Path) -> None:
    labels = "ImageID,LabelName,Confidence\n" + "".join(
        f"{image},{label},{present}\n"
        for image, label, present in [
            *(("i1", "/m/cat", 1), ("i1", "/m/dog", 0), ("i1", "/m/cow", 0)),
            *(("i2", "/m/dog", 1), ("i2", "/m/cow", 0)),
            ("i3", "/m/cow", 1),
        ]
    )
    predictions = "ImageID,LabelName,Score\n" + "".join(
        f"{image},{label},{confidence}\n"
        for image, label, confidence in [
            *(("i1", "/m/cat", 0.2), ("i1", "/m/dog", 0.5), ("i1", "/m/cow", 0.9)),
            *(("i2", "/m/dog", 0.7), ("i2", "/m/cow", 0.7)),
            ("i3", "/m/dog", 0.9),
        ]
    )
    report = explained("openimages-classification", tmp_path, predictions, image_labels_dot_csv=labels)
    # Images i2 and i3 add no pair of confused classes: in i2, the confidences are equal; in i3, no class is verified as
    # absent.
    assert rows_of(report, "class_errors") == [("/m/cat", "/m/cow", 1)]
    assert explanation(report, "all")["left_out"] == {}
    assert len(list(report.matches.rows())) == 6
