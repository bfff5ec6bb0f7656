"""Tests the table that shows how much CPU time and memory hostile files need."""

import pytest

from evaluator.catalog import TRACKS
from tests.fuzz import costs
from tests.fuzz.costs import Cost

LEGAL = [Cost("as it is", True, 0.1, 0, "fast path"), Cost("slow", True, 0.5, 0, "reference implementation")]


def test_a_file_that_takes_over_three_times_as_long_as_legal_files_costs_too_much() -> None:
    found = [*LEGAL, Cost("fine", False, 1.4, 0, "rejected"), Cost("bad", False, 1.6, 0, "rejected")]
    text, wrong = costs.table("a track", found)
    assert "legal: slow" in text
    assert wrong == ["a track: bad: 3.2 times the slowest legal file, 0 MiB"]


def test_a_file_that_takes_too_much_memory_costs_too_much() -> None:
    assert costs.table("a track", [*LEGAL, Cost("large", False, 0.1, 2 * costs.MAX_EXTRA_BYTES, "rejected")])[1]


def test_a_file_that_costs_too_much_fails_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["costs"])
    monkeypatch.setattr(costs, "report", lambda tracks, only: ["too much"])
    assert costs.main() == 1
    monkeypatch.setattr(costs, "report", lambda tracks, only: [])
    assert costs.main() == 0


def test_every_track_has_at_least_fifteen_kinds_of_hostile_files() -> None:
    for track in TRACKS.values():
        good = costs.good_of(track, track.form.example.encode() + b"\n")
        assert len(costs.shapes_of(good)) >= 15
