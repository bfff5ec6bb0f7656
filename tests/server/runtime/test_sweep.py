"""The sweeper sends a heartbeat after each successful sweep, and none after a sweep that failed."""

import errno
import signal
from collections.abc import Iterator

import pytest
from django.db import OperationalError
from prometheus_client import REGISTRY
from redis import ConnectionError as NoRedis

from server.runtime import health
from server.runtime.management.commands import sweep as command
from server.runtime.parts import own_sweeper
from server.submissions.models import Submission
from server.submissions.services import sweeping
from server.submissions.services.sweeping import SweepResult


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the sweepers that have sent heartbeats."""
    names: list[str] = []
    monkeypatch.setattr(health, "note_sweep", names.append)
    monkeypatch.setattr(command, "sweep", lambda **options: SweepResult())
    monkeypatch.setattr(command, "sweep_files", SweepResult)
    return names


@pytest.fixture
def handler() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def test_a_successful_sweep_is_noted(noted: list[str]) -> None:
    command.sweep_rows()
    assert noted == [own_sweeper()]


@pytest.mark.usefixtures("handler")
@pytest.mark.parametrize("error", [OperationalError("the server closed the connection"), ValueError("a bug")])
def test_a_sweep_that_fails_is_not_noted_and_is_repeated(
    noted: list[str], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """The stored files are swept anyway."""
    sweeps: list[str] = []

    def fail(**options: object) -> SweepResult:
        sweeps.append("rows")
        raise error

    def files() -> SweepResult:
        sweeps.append("files")
        return SweepResult()

    def wait(seconds: float) -> None:
        if sweeps.count("rows") == 2:
            raise SystemExit(0)

    monkeypatch.setattr(command, "sweep", fail)
    monkeypatch.setattr(command, "sweep_files", files)
    monkeypatch.setattr(command, "close_old_connections", lambda: None)
    monkeypatch.setattr(command.time, "sleep", wait)
    monkeypatch.setattr(health, "forget", lambda name: None)
    with pytest.raises(SystemExit):
        command.sweep_forever()
    assert (noted, sweeps) == ([], ["rows", "files", "rows"])


def test_a_sweep_succeeds_without_the_broker(
    noted: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(name: str) -> None:
        raise NoRedis("connection refused")

    monkeypatch.setattr(health, "note_sweep", fail)
    command.sweep_rows()
    assert "the broker does not respond" in caplog.text


def test_a_storage_that_cannot_be_read_is_counted_and_does_not_end_the_sweeper(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> SweepResult:
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(command, "sweep_files", fail)
    before = REGISTRY.get_sample_value("podium_file_sweep_errors_total") or 0.0
    command.sweep_stored_files()
    assert REGISTRY.get_sample_value("podium_file_sweep_errors_total") == before + 1
    assert "alarm" in caplog.text


@pytest.mark.django_db
def test_rows_are_cleaned_up_although_the_storage_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> SweepResult:
        raise OSError(errno.ESTALE, "Stale file handle")

    received: list[object] = []
    monkeypatch.setattr(sweeping, "sweep_files", fail)
    monkeypatch.setattr(sweeping.swept, "send_robust", lambda sender: received.append(sender) or [])
    with pytest.raises(OSError, match="Stale"):
        sweeping.sweep()
    assert received == [Submission]


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
