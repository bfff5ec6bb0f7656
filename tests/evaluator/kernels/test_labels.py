"""Tests the fast path of image-level classification."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluator.kernels.text.csv_blocks import BATCH_ROWS
from evaluator.request import ReportOptions, ScoringRequest
from evaluator.scoring import prepare, score
from evaluator.tracks.classification.truth import ClassificationTruth
from tests.evaluator.kernels import cases

TRACK = "openimages-classification"
LABELS = "ImageID,LabelName,Confidence\na,cat,1\na,dog,0\nb,cat,0\nb,dog,1\n"
HEADER = "ImageId,PredictionString"


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    folder = tmp_path / "truth"
    folder.mkdir()
    (folder / "image_labels.csv").write_text(LABELS)
    prepare(TRACK, folder, tmp_path / "truth.podium")
    return tmp_path / "truth.podium"


def test_a_truth_that_was_prepared_before_the_fast_path_existed_is_scored_by_it(truth: Path, tmp_path: Path) -> None:
    current, older = ClassificationTruth.load(truth), tmp_path / "older.podium"
    kept = ("verified", "present", "usage")
    replace(current, arrays={name: np.array(current.arrays[name]) for name in kept}).save(older)
    submission = tmp_path / "submission.csv"
    submission.write_text(f"{HEADER}\na,cat 0.9 dog 0.4\nb,dog 0.2 cow 1\n")
    way, fast, reference = cases.both(TRACK, older, submission)
    assert (way, fast) == ("fast path", reference)
    assert fast == cases.answer(TRACK, truth, submission)[1]


@pytest.mark.parametrize("count", [BATCH_ROWS - 1, BATCH_ROWS, BATCH_ROWS + 1, 2 * BATCH_ROWS, 5 * BATCH_ROWS + 3])
@pytest.mark.parametrize("blanks", [" ", "  ", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", "  \n"])
def test_a_string_may_have_any_number_of_predictions(
    count: int, blanks: str, end: str, truth: Path, tmp_path: Path
) -> None:
    submission = tmp_path / "submission.csv"
    numbers = [f"{place % 10 / 10}{'1' * (place % 17)}" for place in range(count)]
    strings = [[f"{label} {number}" for number in numbers] for label in ("cat", "cow", "dog")]
    texts = [f"a,{blanks.join(strings[0] + strings[1])}", f"b,{blanks.join(strings[2])}"]
    submission.write_bytes("".join([f"{HEADER}\n", *(text + end for text in texts)]).encode())
    way, fast, reference = cases.both(TRACK, truth, submission)
    assert (way, fast) == ("fast path", reference)


def test_the_order_of_positive_and_negative_zeros_does_not_change_a_row_of_matches(truth: Path, tmp_path: Path) -> None:
    found = []
    for numbers in (["0", "-0.0"], ["-0.0", "0"]):
        (tmp_path / "s.csv").write_text(f"{HEADER}\na,{' '.join(f'cat {number}' for number in numbers)}\n")
        request = ScoringRequest(TRACK, truth, tmp_path / "s.csv", report=ReportOptions(matches=True))
        with cases.reference_implementation():
            found.append([*score(request).matches.rows()])
    assert str(found[0]) == str(found[1])
    assert "-0.0" not in str(found[0])
