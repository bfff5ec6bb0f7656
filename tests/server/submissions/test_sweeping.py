"""The sweeper cleans up after crashes and does not touch anything that is still in use."""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import DatabaseError
from django.dispatch import Signal
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from server.submissions import queue
from server.submissions.models import Status, Submission
from server.submissions.services import lifecycle, quota, sweeping
from server.submissions.services.sweeping import SweepResult, sweep
from server.submissions.signals import files_swept, swept
from tests.conftest import InlineQueue, Make

LONG_AGO = datetime.now(UTC) - timedelta(hours=2)


@pytest.fixture
def leased(make: Make) -> Callable[..., Submission]:
    """Return a function that creates a running submission leased to a worker: `leased(attempts=1, until=…)`."""

    def build(*, until: datetime, attempts: int = 1, losses: int = 0) -> Submission:
        leased = {"lease_token": uuid4(), "lease_until": until, "attempts": attempts, "losses": losses}
        leased["started_at"] = until - timedelta(hours=1)
        submission = make.submission(make.phase(), status=Status.RUNNING, **leased)
        quota.charge(submission, now=submission.received_at)
        return submission

    return build


@pytest.fixture(autouse=True)
def broker(monkeypatch: pytest.MonkeyPatch, inline_queue: InlineQueue) -> InlineQueue:
    """Return a fake broker whose queues are empty. It collects new messages in `.sent`."""
    monkeypatch.setattr(queue, "waiting", lambda kind: 0)
    return inline_queue


def status(submission: Submission) -> str:
    return Submission.objects.get(pk=submission.pk).status


def test_a_sweep_without_work_changes_nothing(db: None, own_folders: None) -> None:
    assert sweep() == SweepResult()


def test_a_submission_whose_lease_has_expired_is_queued_again(
    leased: Callable[..., Submission],
    broker: InlineQueue,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    submission = leased(until=LONG_AGO)
    with django_capture_on_commit_callbacks(execute=True):
        assert sweep().requeued == 1
    assert (status(submission), broker.sent) == (Status.QUEUED, [submission.pk])


def test_a_lease_that_has_not_expired_is_not_changed(leased: Callable[..., Submission]) -> None:
    submission = leased(until=datetime.now(UTC) + timedelta(minutes=1))
    assert sweep() == SweepResult()
    assert status(submission) == Status.RUNNING


def test_a_lease_that_is_renewed_during_a_sweep_does_not_expire(leased: Callable[..., Submission]) -> None:
    submission = leased(until=LONG_AGO)
    assert lifecycle.report_progress(submission, stage="scoring", progress=0.5)
    assert not sweeping.end_submission(submission)


def test_a_submission_fails_when_its_third_lease_expires(leased: Callable[..., Submission], settings: Settings) -> None:
    submission = leased(until=LONG_AGO, attempts=settings.EVALUATION_ATTEMPTS)
    assert sweep().failed == 1
    submission.refresh_from_db()
    assert (submission.status, submission.failure_code) == (Status.FAILED, "worker_lost")


@pytest.mark.parametrize(
    ("losses", "fault", "used"), [(0, "platform", 0), (1, "participant", 1), (2, "participant", 1)]
)
def test_a_file_that_costs_a_second_worker_uses_quota(
    leased: Callable[..., Submission], settings: Settings, losses, fault, used
) -> None:
    submission = leased(until=LONG_AGO, attempts=settings.EVALUATION_ATTEMPTS, losses=losses)
    sweep()
    submission.refresh_from_db()
    assert (submission.fault, submission.losses) == (fault, losses + 1)
    assert submission.failure.startswith(
        f"Its worker stopped {['once', '2 times', '3 times'][losses]} while scoring it"
    )
    assert quota.state(team=submission.team, phase=submission.phase, now=datetime.now(UTC)).used == used


def test_a_file_whose_worker_died_is_no_longer_small(leased: Callable[..., Submission]) -> None:
    submission = leased(until=LONG_AGO)
    Submission.objects.update(small=True)
    sweep()
    submission.refresh_from_db()
    assert (submission.status, submission.small) == (Status.QUEUED, False)


@pytest.mark.parametrize("losses", [0, 1])
def test_a_file_whose_worker_died_is_tried_again_and_cancelling_gives_no_quota_back(
    make: Make, leased: Callable[..., Submission], losses
) -> None:
    submission = leased(until=LONG_AGO, attempts=2, losses=losses)
    sweep()
    assert lifecycle.cancel(submission=submission, by=make.user(is_staff=True)).status == Status.CANCELLED
    assert quota.state(team=submission.team, phase=submission.phase, now=datetime.now(UTC)).used == 1


def test_a_late_result_of_a_swept_worker_is_refused(leased: Callable[..., Submission]) -> None:
    submission = leased(until=LONG_AGO)
    sweep()
    assert not lifecycle.reject(submission, findings={})


def test_the_message_of_a_job_that_waits_too_long_is_resent(make: Make, broker: InlineQueue) -> None:
    submission = make.submission(make.phase(), enqueued_at=LONG_AGO)
    assert sweep().resent == 1
    assert broker.sent == [submission.pk]


def test_a_resent_message_is_not_resent_at_once(make: Make) -> None:
    make.submission(make.phase(), enqueued_at=LONG_AGO)
    sweep()
    assert sweep().resent == 0


def test_the_message_of_a_new_job_is_not_resent(make: Make) -> None:
    make.submission(make.phase())
    assert sweep().resent == 0


@pytest.mark.parametrize(
    ("waiting", "resent"),
    [
        (0, 3),  # If the queue has lost the messages of all three submissions, all are sent again.
        (2, 1),  # If one of the three messages is missing, one is sent, for the oldest submission.
        (3, 0),  # If no message is missing, none is sent again.
        (9, 0),
        (None, 0),  # If there is no broker, a later run of the sweeper sends the messages.
    ],
)
def test_the_number_of_resent_messages_is_the_number_of_missing_ones(
    make: Make, monkeypatch: pytest.MonkeyPatch, waiting, resent
) -> None:
    phase = make.phase()
    for _ in range(3):
        make.submission(phase, enqueued_at=LONG_AGO)
    monkeypatch.setattr(queue, "waiting", lambda kind: waiting)
    assert sweep().resent == resent


def dated(path: Path, *, hours: float) -> Path:
    os.utime(path, (time.time() - hours * 3600,) * 2)
    return path


def aged(path: Path) -> Path:
    return dated(path, hours=25)


@pytest.mark.parametrize(("age", "removed"), [(aged, 1), (Path, 0)])
def test_an_abandoned_part_of_an_upload_is_removed_when_it_is_old(
    db: None, own_folders: None, settings: Settings, age, removed
) -> None:
    part = settings.FILE_UPLOAD_TEMP_DIR / "abc.upload.csv"
    part.write_bytes(b"half")
    age(part)
    assert sweep().removed == removed


@pytest.mark.parametrize("name", ["abc.upload.csv", "bundle-abc", "import-abc"])
def test_a_partial_file_of_less_than_a_day_is_not_removed(
    db: None, own_folders: None, settings: Settings, name
) -> None:
    part = settings.FILE_UPLOAD_TEMP_DIR / name
    part.touch() if name.endswith("csv") else part.mkdir()
    dated(part, hours=23)
    assert sweep().removed == 0


@pytest.mark.parametrize(("age", "removed"), [(aged, 1), (Path, 0)])
def test_the_folder_of_an_interrupted_import_is_removed_when_all_its_files_are_old(
    db: None, own_folders: None, settings: Settings, age, removed
) -> None:
    folder = settings.FILE_UPLOAD_TEMP_DIR / "import-abc"
    folder.mkdir()
    (folder / "truth.podium").write_bytes(b"half")
    age(folder / "truth.podium")
    aged(folder)
    assert sweep().removed == removed


def test_the_sweeper_skips_files_on_request(db: None, own_folders: None, settings: Settings) -> None:
    part = settings.FILE_UPLOAD_TEMP_DIR / "abc.upload.csv"
    part.write_bytes(b"half")
    aged(part)
    assert sweep(files=False).removed == 0


def test_the_command_prints_what_it_has_done(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    make.submission(make.phase(), enqueued_at=LONG_AGO)
    call_command("sweep")
    assert "1 sent again" in capsys.readouterr().out


def test_a_missing_folder_of_uploads_does_not_stop_the_sweeper(db: None, own_folders: None, settings: Settings) -> None:
    settings.FILE_UPLOAD_TEMP_DIR.rmdir()
    assert sweep() == SweepResult()


@pytest.mark.parametrize("signal", [swept, files_swept])
@pytest.mark.django_db
def test_a_receiver_that_fails_does_not_prevent_the_others_from_being_called(signal: Signal, own_folders: None) -> None:
    called: list[Any] = []

    def failing(**arguments: Any) -> None:
        raise DatabaseError("a receiver failed")

    def working(**arguments: Any) -> None:
        called.append(arguments["signal"])

    for receiver in (failing, working):
        signal.connect(receiver)
    try:
        with pytest.raises(DatabaseError, match="a receiver failed"):
            sweep()
    finally:
        for receiver in (failing, working):
            signal.disconnect(receiver)
    assert called == [signal]
