"""Tests the hash table that counts confused classes."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluator.kernels.detection.explain.confusions import NO_CONFUSION, Confusions, move
from evaluator.request import ReportOptions, ScoringRequest
from evaluator.scoring import score
from tests.evaluator.kernels import private_facts
from tests.evaluator.kernels.test_equal_work import ROWS, crowds, submission_of

TRACK = "openimages-detection"


@pytest.mark.parametrize("largest", [3, 200, 2**40])
def test_a_table_that_grows_keeps_all_counts(largest: int) -> None:
    codes = np.random.default_rng(largest).integers(NO_CONFUSION, largest, 2_000)
    table = Confusions.empty(1)
    for part in np.split(codes, 20):
        table = table.with_room_for(len(part))
        move(Confusions(part, np.ones(len(part), np.int64), np.zeros(1, np.int64)), table)
        assert 2 * table.used[0] <= len(table.codes)
    found = dict(zip(*(column.tolist() for column in table.counts()), strict=True))
    assert found == Counter(codes[codes != NO_CONFUSION].tolist())


def test_predictions_without_a_confusion_are_counted_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    original = Confusions.counts

    def counts(table: Confusions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        counted.append(int(table.times.sum()))
        return original(table)

    monkeypatch.setattr(Confusions, "counts", counts)
    submission = submission_of(TRACK, crowds(TRACK), "fast path", tmp_path, monkeypatch)
    for truth in private_facts.neighbours(TRACK, "classes", tmp_path / "truths"):
        report = score(ScoringRequest(TRACK, truth, submission, report=ReportOptions(explanation=True)))
        assert report.way == "fast path"
    assert len(counted) > 1
    assert set(counted) == {ROWS * len(private_facts.IMAGES) * len(private_facts.LABELS)}
