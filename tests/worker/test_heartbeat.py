"""The heartbeat: in time, with the news, over outages, and the first to know that a lease is lost."""

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError

from server.submissions.services import lifecycle
from worker import heartbeat
from worker.heartbeat import Heartbeat, LeaseLost

SUBMISSION: Any = SimpleNamespace(pk="a-submission")
ENOUGH_SECONDS = 10.0


@pytest.fixture
def beats(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[tuple[str, float]]:
    """What was told to the database."""
    told: list[tuple[str, float]] = []

    def beat(submission: Any, *, stage: str, progress: float) -> bool:
        told.append((stage, progress))
        return True

    settings.HEARTBEAT_SECONDS = 0.02
    monkeypatch.setattr(heartbeat, "NEWS_SECONDS", 0.02)
    monkeypatch.setattr(heartbeat, "close_old_connections", lambda: None)
    monkeypatch.setattr(lifecycle, "beat", beat)
    return told


def wait_for(condition: Callable[[], object]) -> None:
    until = time.monotonic() + ENOUGH_SECONDS
    while not condition():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.005)


def test_it_beats_without_news(beats):
    with Heartbeat(SUBMISSION):
        wait_for(lambda: len(beats) >= 3)
    assert set(beats) == {("", 0.0)}


def test_news_is_told_before_the_next_regular_beat(beats, settings):
    settings.HEARTBEAT_SECONDS = 1000
    with Heartbeat(SUBMISSION) as beating:
        beating.progress("matching", 0.25)
        wait_for(lambda: ("matching", 0.25) in beats)


def test_much_news_is_told_once_in_a_while(beats, settings, monkeypatch):
    settings.HEARTBEAT_SECONDS = 1000
    monkeypatch.setattr(heartbeat, "NEWS_SECONDS", 1000)
    with Heartbeat(SUBMISSION) as beating:
        beating.progress("checking", 0.0)
        wait_for(lambda: beats)
        for step in range(100):
            beating.progress("checking", step / 100)
    assert len(beats) == 1


def test_lost_lease_ends_the_scoring_at_its_next_step(monkeypatch, beats):
    monkeypatch.setattr(lifecycle, "beat", lambda *arguments, **options: False)
    with Heartbeat(SUBMISSION) as beating:
        wait_for(beating.lost.is_set)
        with pytest.raises(LeaseLost):
            beating.progress("scoring", 0.5)


def test_database_that_is_away_for_a_while_is_waited_for(monkeypatch, beats):
    outage = [OperationalError("gone"), OperationalError("gone")]

    def beat(submission: Any, *, stage: str, progress: float) -> bool:
        if outage:
            raise outage.pop()
        beats.append((stage, progress))
        return True

    monkeypatch.setattr(lifecycle, "beat", beat)
    with Heartbeat(SUBMISSION) as beating:
        wait_for(lambda: beats)
        beating.progress("scoring", 0.5)


def test_it_ends_with_the_scoring_even_when_that_raises(beats):
    beating = Heartbeat(SUBMISSION)
    with pytest.raises(ZeroDivisionError), beating:
        raise ZeroDivisionError
    assert not beating.is_alive()
