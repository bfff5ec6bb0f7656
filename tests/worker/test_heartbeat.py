"""The heartbeat: in time, with progress, across outages, and it detects a lost lease."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError

from worker import heartbeat
from worker.heartbeat import Heartbeat, LeaseLost

ENOUGH_SECONDS = 10.0


class Told:
    """Collects calls that prolong the lease, and decides their result."""

    def __init__(self) -> None:
        self.beats: list[tuple[str, float]] = []
        self.outages = 0
        self.lease_stands = True

    def beat(self, *, stage: str, progress: float) -> bool:
        if self.outages:
            self.outages -= 1
            raise OperationalError("gone")
        self.beats.append((stage, progress))
        return self.lease_stands


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Told:
    settings.HEARTBEAT_SECONDS = 0.02
    monkeypatch.setattr(heartbeat, "MIN_BEAT_SECONDS", 0.02)
    monkeypatch.setattr(heartbeat, "close_old_connections", lambda: None)
    return Told()


@pytest.fixture
def beating(told: Told) -> Heartbeat:
    return Heartbeat("a submission", told.beat)


def wait_for(condition: Callable[[], object]) -> None:
    until = time.monotonic() + ENOUGH_SECONDS
    while not condition():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.005)


def test_it_beats_without_news(told, beating):
    with beating:
        wait_for(lambda: len(told.beats) >= 3)
    assert set(told.beats) == {("", 0.0)}


def test_news_is_told_before_the_next_regular_beat(told, beating, settings):
    settings.HEARTBEAT_SECONDS = 1000
    with beating:
        beating.progress("matching", 0.25)
        wait_for(lambda: told.beats)
    assert told.beats == [("matching", 0.25)]


def test_much_news_is_told_once_in_a_while(told, beating, settings, monkeypatch):
    settings.HEARTBEAT_SECONDS = 1000
    monkeypatch.setattr(heartbeat, "MIN_BEAT_SECONDS", 1000)
    with beating:
        beating.progress("checking", 0.0)
        wait_for(lambda: told.beats)
        for step in range(100):
            beating.progress("checking", step / 100)
    assert len(told.beats) == 1


def test_lost_lease_ends_the_scoring_at_its_next_step(told, beating):
    told.lease_stands = False
    with beating:
        wait_for(beating.lost.is_set)
        with pytest.raises(LeaseLost):
            beating.progress("scoring", 0.5)


def test_database_that_is_away_for_a_while_is_waited_for(told, beating):
    told.outages = 2
    with beating:
        wait_for(lambda: told.beats)
        beating.progress("scoring", 0.5)
    assert (told.outages, beating.lost.is_set(), told.beats[0]) == (0, False, ("", 0.0))


def test_it_ends_with_the_scoring_even_when_that_raises(beating, told):
    with pytest.raises(ZeroDivisionError), beating:
        raise ZeroDivisionError
    assert not beating.is_alive()
