"""Settings that let one team occupy a worker are named at start, with what to set."""

import pytest

from server.runtime import memory
from server.runtime.doubts import doubts


@pytest.mark.parametrize(
    ("at_once", "processes", "said"), [(1, 1, False), (2, 1, False), (1, 2, False), (2, 2, True), (4, 3, True)]
)
def test_operator_is_told_where_one_team_may_hold_every_process(settings, monkeypatch, at_once, processes, said):
    monkeypatch.setattr(memory, "shortage", lambda: "")
    settings.TEAM_EVALUATIONS_AT_ONCE, settings.WORKER_PROCESSES = at_once, processes
    told = [
        f"TEAM_EVALUATIONS_AT_ONCE={at_once} lets one team occupy all {processes} processes",
        f"{processes - 1} or less",
    ]
    assert [all(words in doubt for words in told) for doubt in doubts()] == [True] * said


def test_shortage_of_memory_is_a_doubt(settings, monkeypatch):
    settings.TEAM_EVALUATIONS_AT_ONCE, settings.WORKER_PROCESSES = 1, 2
    monkeypatch.setattr(memory, "shortage", lambda: "too much")
    assert doubts() == ["too much"]
