"""The sweeper sends a heartbeat after each successful sweep, and none after a sweep that failed."""

import signal
from collections.abc import Iterator

import pytest
from django.db import OperationalError
from redis import ConnectionError as NoRedis

from server.runtime import health
from server.runtime.management.commands import sweep as command
from server.runtime.parts import own_sweeper
from server.submissions.services.sweeping import SweepResult


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the sweepers that have sent heartbeats."""
    names: list[str] = []
    monkeypatch.setattr(health, "note_sweep", names.append)
    monkeypatch.setattr(command, "sweep", lambda **options: SweepResult())
    return names


@pytest.fixture
def handler() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def test_a_successful_sweep_is_noted(noted: list[str]) -> None:
    assert command.sweep_once(files=False)
    assert noted == [own_sweeper()]


def test_a_sweep_that_fails_is_not_noted_and_is_repeated(noted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**options: object) -> SweepResult:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(command, "sweep", fail)
    assert not command.sweep_once(files=False)
    assert noted == []


def test_a_sweep_succeeds_without_the_broker(noted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise NoRedis("connection refused")

    monkeypatch.setattr(health, "note_sweep", fail)
    assert command.sweep_once(files=False)


@pytest.mark.usefixtures("handler")
def test_a_sweeper_sweeps_when_it_starts_and_is_no_longer_listed_when_it_ends(
    noted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(seconds: float) -> None:
        raise SystemExit(0)

    forgotten: list[str] = []
    monkeypatch.setattr(health, "forget", forgotten.append)
    monkeypatch.setattr(command, "close_old_connections", lambda: None)
    monkeypatch.setattr(command.time, "sleep", end)
    with pytest.raises(SystemExit):
        command.sweep_forever()
    assert (noted, forgotten) == ([own_sweeper()], [own_sweeper()])
