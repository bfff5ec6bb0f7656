"""Runs the part of `make fuzz` that scores damaged files, with few cases."""

from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from evaluator.catalog import TRACKS
from evaluator.problems import Findings
from tests.evaluator.kernels import cases
from tests.fuzz import files

SHARES, SHARE = 4, 400


@pytest.mark.parametrize("share", range(SHARES))
def test_fast_path_and_reference_implementation_give_equal_answers(share: int) -> None:
    counts, failures = Counter[str](), list[str]()
    for seed in range(share * SHARE, (share + 1) * SHARE):
        more, wrong = files.answers(seed)
        counts, failures = counts + more, failures + wrong
    assert not failures
    assert sum(count for kind, count in counts.items() if kind.endswith("fast path")) > SHARE / 6
    assert sum(count for kind, count in counts.items() if kind.endswith("rejected")) > SHARE / 6


def test_every_track_with_a_fast_path_is_fuzzed() -> None:
    assert {track for track in TRACKS if TRACKS[track].modules.fast_path} == set(files.PARAMETERS)


def test_a_seed_draws_the_same_file_again() -> None:
    assert files.drawn(7) == files.drawn(7)
    assert files.drawn(7).content != files.drawn(8).content


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(files, "KEPT", tmp_path)
    return tmp_path


def test_a_difference_is_reported_with_its_seed_and_its_file(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, calls = cases.answer, count()

    def first_wrong_by_one(track: str, truth: Path, submission: Path, **options: Any) -> tuple[str, dict[str, Any]]:
        way, given = answer(track, truth, submission, **options)
        return way, {**given, "total": given.get("total", 0) + (next(calls) == 0)}

    monkeypatch.setattr(cases, "answer", first_wrong_by_one)
    (failure,) = files.answers(7)[1]
    assert f"seed 7 (rejected) is kept in {kept / '7.csv'}" in failure
    assert (kept / "7.csv").read_bytes() == files.drawn(7).content


def test_a_file_that_breaks_the_scorer_is_kept(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*words: Any, **options: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cases, "answer", broken)
    with pytest.raises(ZeroDivisionError):
        files.answers(8)
    assert (kept / "8.csv").exists()


def test_different_findings_of_check_are_reported(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = next(seed for seed in range(0, 300, 3) if files.both(files.drawn(seed))[0] == "rejected")
    monkeypatch.setattr(files, "check", lambda *words, **options: Findings())
    assert files.answers(seed)[1]
