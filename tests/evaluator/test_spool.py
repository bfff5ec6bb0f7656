"""Run lengths beyond a limit are in a temporary file instead of memory, and the report does not depend on the limit."""

import os
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evaluator.explanation import explanation
from evaluator.files import spool
from evaluator.files.masks import MaskReader
from evaluator.files.spool import Spool
from evaluator.request import ReportOptions, Resources, ScoringRequest
from evaluator.scoring import score
from evaluator.synthesis import synthesize
from tests.fuzz import hostile

TRACK = "openimages-segmentation"
PIECES = [b"abc", b"", b"defgh", b"ij"]


@pytest.mark.parametrize(("limit", "mapped"), [(0, True), (3, True), (9, True), (10, False)])
def test_bytes_are_returned_in_order(limit: int, mapped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MEMORY_BYTES", limit)
    filled = Spool()
    for piece in PIECES:
        filled.append(piece)
    content = filled.content()
    assert (content.data.tobytes(), filled.size) == (b"abcdefghij", 10)
    assert (content.mapping is not None) is mapped
    content.release()
    assert content.data.tobytes() == b"abcdefghij"


@pytest.mark.parametrize("limit", [0, 100])
def test_a_cleared_spool_can_be_filled_again(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MEMORY_BYTES", limit)
    filled = Spool()
    filled.append(b"abc")
    filled.clear()
    filled.append(b"d")
    assert (filled.content().data.tobytes(), filled.size) == (b"d", 1)


def test_the_temporary_file_is_in_the_given_folder_and_has_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "MEMORY_BYTES", 0)
    Spool(tmp_path).append(b"abc")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        Spool(tmp_path / "missing").append(b"abc")


def test_the_temporary_file_takes_at_most_half_of_the_free_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "MEMORY_BYTES", 0)
    written: list[int] = []

    def free(descriptor: int) -> SimpleNamespace:
        return SimpleNamespace(f_bavail=10 - sum(written), f_frsize=1)

    monkeypatch.setattr(os, "fstatvfs", free)
    filled = Spool(tmp_path)
    for size in (1, 2, 2):
        filled.append(bytes(size))
        written.append(size)
    with pytest.raises(OSError, match="No space left"):
        filled.append(b"a")
    assert filled.size == 5


def explained(truth: Path, submission: Path, folder: Path) -> tuple[Any, ...]:
    """Return the scores, the explanation of each split and the rows of all masks."""
    options, resources = ReportOptions(explanation=True, curves=True, matches=True), Resources(temporary_folder=folder)
    report = score(ScoringRequest(TRACK, truth, submission, report=options, resources=resources))
    return report.as_dict(), [explanation(report, split) for split in report.splits], list(report.matches.rows())


def test_a_score_and_its_explanation_do_not_depend_on_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synthesize(TRACK, tmp_path, images=20, seed=5, qualities=(0.6,))
    for submission in sorted((tmp_path / "submissions").iterdir()):
        in_memory = explained(tmp_path / "truth", submission, tmp_path / "missing")
        with monkeypatch.context() as patch:
            patch.setattr(spool, "MEMORY_BYTES", 100)
            assert explained(tmp_path / "truth", submission, tmp_path) == in_memory
            with pytest.raises(FileNotFoundError):
                explained(tmp_path / "truth", submission, tmp_path / "missing")


def test_masks_beyond_the_limit_need_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MEMORY_BYTES", 2**20)
    texts = [hostile.mask(b"1" * 59_997 + b"%03d" % index) for index in range(300)]
    sides, reader = np.full(len(texts), 346), MaskReader()
    tracemalloc.start()
    try:
        reader.masks(texts, sides, sides)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert reader.read == 300 * 60_000
    assert peak < reader.read / 2
