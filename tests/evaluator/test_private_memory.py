"""The memory use of the reference implementation does not depend on the class of an object in a private image."""

import tracemalloc
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from evaluator.files.source import Source
from evaluator.files.submission import SubmissionTable
from evaluator.metrics import matching
from evaluator.request import silent
from evaluator.scoring import load_kernels
from evaluator.tracks import scorer_of
from evaluator.tracks.compiling import open_truth
from evaluator.tracks.interface import Scorer
from tests.evaluator.private_objects import CASES

PREDICTIONS = 30_000
LIMIT = 1.05


@pytest.mark.parametrize("name", CASES)
def test_the_class_of_a_private_object_does_not_change_peak_memory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is measured during matching and scoring only, because reading a submission does not use the objects.

    Arrays are processed in smaller batches than usual, because the submission is small.
    """
    monkeypatch.setattr(matching, "PAIRS_AT_ONCE", matching.PAIRS_AT_ONCE // 64)
    load_kernels()
    case, peaks = CASES[name], []
    submission = case.submission(tmp_path / "submission.csv", PREDICTIONS)
    scorer = scorer_of(case.track)
    resolved = scorer.track.resolve(case.parameters)
    for folder in case.truths(tmp_path):
        truth = open_truth(scorer, folder, resolved)
        typed, parameters = scorer.truth_of(truth), scorer.parameters_of(resolved)
        table = scorer.read(Source(submission), typed, parameters)
        peaks.append(min(peak(scorer, typed, deepcopy(table), parameters) for _ in range(2)))
    assert max(peaks) < LIMIT * min(peaks)


def peak(scorer: Scorer[Any, Any, Any], truth: Any, table: SubmissionTable, parameters: Any) -> int:
    """Return the peak number of bytes that are allocated while a submission is being scored.

    The first call may import modules, so callers measure twice and take the minimum.
    """
    tracemalloc.start()
    try:
        scorer.evaluate(truth, table, parameters, silent)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
