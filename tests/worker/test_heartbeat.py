"""A worker's heartbeat renews its lease on a job, reports progress, survives outages, and detects a lost lease."""

import time
from collections.abc import Callable

import pytest
from django.db import OperationalError
from pytest_django import Settings

from worker import heartbeat
from worker.heartbeat import Heartbeat, LeaseLost

ENOUGH_SECONDS = 10.0


class Calls:
    """A stub for the function that renews a job's lease. It records calls, and simulates outages and a lost lease."""

    def __init__(self) -> None:
        self.beats: list[tuple[str, float]] = []
        self.outages = 0
        self.lease_is_held = True

    def beat(self, *, stage: str, progress: float) -> bool:
        if self.outages:
            self.outages -= 1
            raise OperationalError("gone")
        self.beats.append((stage, progress))
        return self.lease_is_held


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Calls:
    settings.HEARTBEAT_SECONDS = 0.02
    monkeypatch.setattr(heartbeat, "MIN_BEAT_SECONDS", 0.02)
    monkeypatch.setattr(heartbeat, "close_old_connections", lambda: None)
    return Calls()


@pytest.fixture
def beating(calls: Calls) -> Heartbeat:
    return Heartbeat("a submission", calls.beat)


def wait_for(condition: Callable[[], object]) -> None:
    until = time.monotonic() + ENOUGH_SECONDS
    while not condition():
        assert time.monotonic() < until, "the condition did not become true in time"
        time.sleep(0.005)


def test_the_heartbeat_continues_without_progress(calls: Calls, beating: Heartbeat) -> None:
    with beating:
        wait_for(lambda: len(calls.beats) >= 3)
    assert set(calls.beats) == {("", 0.0)}


def test_progress_is_reported_before_the_next_regular_beat(
    calls: Calls, beating: Heartbeat, settings: Settings
) -> None:
    settings.HEARTBEAT_SECONDS = 1000
    with beating:
        beating.progress("matching", 0.25)
        wait_for(lambda: calls.beats)
    assert calls.beats == [("matching", 0.25)]


def test_frequent_progress_is_reported_only_sometimes(
    calls: Calls, beating: Heartbeat, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HEARTBEAT_SECONDS = 1000
    monkeypatch.setattr(heartbeat, "MIN_BEAT_SECONDS", 0.5)
    with beating:
        beating.progress("checking", 0.0)
        wait_for(lambda: calls.beats)
        for step in range(100):
            beating.progress("checking", step / 100)
    assert len(calls.beats) == 1


def test_a_short_scoring_run_reports_no_progress(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "MIN_BEAT_SECONDS", 1000)
    beating = Heartbeat("a submission", calls.beat)
    with beating:
        beating.progress("checking", 0.0)
    assert (calls.beats, beating.is_alive()) == ([], False)


def test_a_lost_lease_ends_the_scoring_run_at_its_next_step(calls: Calls, beating: Heartbeat) -> None:
    calls.lease_is_held = False
    with beating:
        wait_for(beating.lost.is_set)
        with pytest.raises(LeaseLost):
            beating.progress("scoring", 0.5)


def test_the_heartbeat_waits_while_the_database_is_unavailable(calls: Calls, beating: Heartbeat) -> None:
    calls.outages = 2
    with beating:
        wait_for(lambda: calls.beats)
        beating.progress("scoring", 0.5)
    assert (calls.outages, beating.lost.is_set(), calls.beats[0]) == (0, False, ("", 0.0))


def test_the_heartbeat_ends_with_the_scoring_run_even_after_an_exception(beating: Heartbeat, calls: Calls) -> None:
    with pytest.raises(ZeroDivisionError), beating:
        raise ZeroDivisionError
    assert not beating.is_alive()
