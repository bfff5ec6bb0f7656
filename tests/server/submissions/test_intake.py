"""Tests the intake of uploads. A rejected upload has an error code, and leaves neither a row nor a file."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import OperationalError, transaction

from server.audit.models import Entry
from server.errors import Refused
from server.submissions import queue
from server.submissions.models import QuotaEntry, Status, Submission
from server.submissions.services import intake
from server.teams.services import merging
from tests.conftest import Make

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)
TEXT = b"ImageId,PredictionString\na,\n"


def upload(content: bytes = TEXT, name: str = "mine.csv") -> ContentFile:
    return ContentFile(content, name)


@pytest.fixture
def entrant(make: Make) -> dict[str, Any]:
    """Return valid arguments for submitting a file: a user, the user's team and an open phase."""
    user, phase = make.user(), make.phase()
    return {"user": user, "team": make.team(phase.challenge, user), "phase": phase}


def stored_files() -> list[str]:
    return default_storage.listdir("submissions")[1] if default_storage.exists("submissions") else []


def refusal(**arguments: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        intake.submit(**{"file": upload(), **arguments})
    return caught.value


def test_an_upload_becomes_a_queued_row_with_its_hash(entrant):
    submission = intake.submit(**entrant, file=upload(), note="first")
    submission.refresh_from_db()
    assert (submission.status, submission.sha256) == (Status.QUEUED, sha256(TEXT).hexdigest())
    assert (submission.file_name, submission.size_bytes, submission.note) == ("mine.csv", len(TEXT), "first")


def test_the_stored_name_reveals_nothing_about_the_original_name(entrant):
    submission = intake.submit(**entrant, file=upload(name="mine.csv"))
    folder, key = submission.file.name.split("/")
    assert folder == "submissions"
    assert UUID(key)


def test_stored_bytes_are_the_uploaded_bytes(entrant):
    assert Path(intake.submit(**entrant, file=upload()).file.path).read_bytes() == TEXT


def test_an_uploaded_temporary_file_is_moved_and_not_copied(entrant):
    file = TemporaryUploadedFile("mine.csv", "text/csv", len(TEXT), None)
    file.write(TEXT)
    inode = os.fstat(file.fileno()).st_ino
    submission = intake.submit(**entrant, file=file)
    file.close()
    assert Path(submission.file.path).stat().st_ino == inode


def test_the_age_of_an_upload_is_counted_from_its_end(entrant):
    file = TemporaryUploadedFile("mine.csv", "text/csv", len(TEXT), None)
    file.write(TEXT)
    file.flush()
    os.utime(file.fileno(), ((NOW - 3 * HOUR).timestamp(),) * 2)
    submission = intake.submit(**entrant, file=file)
    file.close()
    assert Path(submission.file.path).stat().st_mtime >= (NOW - HOUR).timestamp()


def test_the_message_is_sent_only_after_the_commit(entrant, inline_queue, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        submission = intake.submit(**entrant, file=upload())
        assert inline_queue.sent == []
    assert inline_queue.sent == [submission.pk]


def test_an_upload_that_began_before_a_merge_counts_for_the_merged_team(entrant, make):
    challenge, team, by = entrant["phase"].challenge, entrant["team"], entrant["user"]
    for _ in range(2):
        captain = make.user()
        larger = make.team(challenge, captain)
        merging.confirm(proposal=merging.propose(team=larger, other=team, by=captain), by=by)
        team, by = larger, captain
    submission = intake.submit(**entrant, file=upload())
    submission.refresh_from_db()
    assert (submission.team, QuotaEntry.objects.get(submission=submission).team) == (larger, larger)


def test_an_upload_is_charged_and_logged(entrant):
    submission = intake.submit(**entrant, file=upload())
    charged = QuotaEntry.objects.get(submission=submission)
    assert (charged.amount, charged.reason, charged.day) == (1, "submitted", submission.received_at.date())
    assert Entry.objects.filter(action="submission.received", subject=f"submission {submission.pk}").exists()


@pytest.mark.parametrize(
    ("dates", "code"),
    [
        ({"opens_at": NOW + HOUR}, "phase_not_open"),
        ({"opens_at": NOW - 2 * HOUR, "closes_at": NOW - HOUR}, "phase_closed"),
    ],
)
def test_a_phase_accepts_files_only_between_its_dates(make, entrant, dates, code):
    phase = make.phase(entrant["phase"].challenge, **dates)
    assert refusal(**{**entrant, "phase": phase}).code == code


def test_a_phase_without_truth_is_not_open(entrant):
    entrant["phase"].truths.all().delete()
    assert refusal(**entrant).code == "phase_not_open"


def test_dates_are_read_again_after_a_long_upload(entrant):
    # Simulate an organizer closing the phase after the view has read it.
    entrant["phase"].closes_at = NOW - HOUR
    entrant["phase"].save()
    entrant["phase"].closes_at = None
    assert refusal(**entrant).code == "phase_closed"


def test_a_submission_exactly_at_the_deadline_is_in_time(entrant, monkeypatch):
    entrant["phase"].closes_at = NOW
    entrant["phase"].save()
    monkeypatch.setattr(intake, "database_now", lambda: NOW)
    assert intake.submit(**entrant, file=upload()).received_at == NOW


def test_a_stranger_is_not_a_member(make, entrant):
    assert refusal(**{**entrant, "user": make.user()}).code == "not_a_member"


def test_a_team_of_another_challenge_is_not_a_member(make, entrant):
    assert refusal(**{**entrant, "team": make.team(make.challenge(), entrant["user"])}).code == "not_a_member"


def test_anonymous_users_are_not_members(entrant):
    assert refusal(**{**entrant, "user": None}).code == "not_a_member"


def test_a_file_beyond_the_limit_is_too_large(entrant, settings):
    settings.UPLOAD_MAX_BYTES = len(TEXT) - 1
    assert refusal(**entrant).code == "file_too_large"


def test_a_file_at_the_size_limit_is_accepted(entrant, settings):
    settings.UPLOAD_MAX_BYTES = len(TEXT)
    assert intake.submit(**entrant, file=upload())


def test_a_note_that_is_too_long_is_invalid(entrant):
    assert refusal(**entrant, note="x" * 501).code == "invalid"


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING, Status.SCORED])
def test_the_same_file_is_refused_as_a_duplicate_of_the_earlier_submission(make, entrant, status):
    lease = {"lease_token": UUID(int=1), "lease_until": NOW} if status == Status.RUNNING else {}
    ended = {"finished_at": NOW} if status == Status.SCORED else {}
    earlier = make.submission(entrant["phase"], entrant["team"], content=TEXT, status=status, **lease, **ended)
    refused = refusal(**entrant)
    assert (refused.code, refused.extra["submission"]) == ("duplicate_file", str(earlier.pk))


@pytest.mark.parametrize(
    "fields",
    [{"status": "rejected"}, {"status": "cancelled"}, {"status": "failed", "fault": "platform", "failure": "x"}],
)
def test_a_file_without_a_score_may_be_submitted_again(make, entrant, fields):
    make.submission(entrant["phase"], entrant["team"], content=TEXT, finished_at=NOW, **fields)
    assert intake.submit(**entrant, file=upload())


def test_two_teams_may_submit_the_same_file(make, entrant):
    make.submission(entrant["phase"], content=TEXT)
    assert intake.submit(**entrant, file=upload())


def test_the_refusal_for_an_exhausted_quota_says_when_the_next_submission_is_possible(entrant):
    entrant["phase"].quota_per_day = 1
    entrant["phase"].save()
    intake.submit(**entrant, file=upload(b"one"))
    refused = refusal(**entrant, file=upload(b"two"))
    assert refused.code == "quota_exhausted"
    assert refused.extra["next_allowed_at"] == refused.extra["resets_at"]


def test_a_baseline_needs_no_member_no_dates_and_no_quota(make):
    phase = make.phase(closes_at=NOW - HOUR, opens_at=NOW - 2 * HOUR, quota_per_day=0)
    team = make.team(phase.challenge, is_baseline=True)
    submission = intake.submit(user=None, team=team, phase=phase, file=upload(), charge=False)
    assert not submission.quota_entries.exists()


def test_a_refused_upload_leaves_no_file_and_no_row(make, entrant):
    refusal(**{**entrant, "user": make.user()})
    assert (stored_files(), Submission.objects.count(), QuotaEntry.objects.count()) == ([], 0, 0)


def test_a_failed_transaction_leaves_no_file(entrant, monkeypatch):
    def broken(**arguments: Any) -> None:
        raise OperationalError("the database went away")

    monkeypatch.setattr(intake.audit, "record", broken)
    with pytest.raises(OperationalError):
        intake.submit(**entrant, file=upload())
    assert stored_files() == []
    assert Submission.objects.count() == 0


def test_an_upload_whose_transaction_cannot_begin_leaves_no_file(entrant, monkeypatch):
    def away() -> None:
        raise OperationalError("the database went away")

    monkeypatch.setattr(intake, "transaction", SimpleNamespace(atomic=away))
    with pytest.raises(OperationalError):
        intake.submit(**entrant, file=upload())
    assert stored_files() == []


def test_an_upload_keeps_its_file_if_the_response_to_the_commit_is_lost(entrant, monkeypatch):
    @contextmanager
    def unanswered() -> Iterator[None]:
        with transaction.atomic():
            yield
        raise OperationalError("the connection broke while COMMIT was on its way back")

    monkeypatch.setattr(intake, "transaction", SimpleNamespace(atomic=unanswered, on_commit=transaction.on_commit))
    with pytest.raises(OperationalError):
        intake.submit(**entrant, file=upload())
    assert stored_files() == [Submission.objects.get().file.name.split("/")[1]]


@pytest.mark.django_db(transaction=True)
def test_an_upload_keeps_its_file_if_sending_the_message_is_interrupted(entrant, monkeypatch):
    def interrupted(kind: Any, key: UUID) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(queue, "enqueue", interrupted)
    with pytest.raises(KeyboardInterrupt):
        intake.submit(**entrant, file=upload())
    assert stored_files() == [Submission.objects.get().file.name.split("/")[1]]


@pytest.mark.django_db(transaction=True)
def test_an_upload_is_accepted_even_if_its_message_cannot_be_sent(entrant, monkeypatch, caplog):
    def broken(kind: Any, key: UUID) -> None:
        raise RuntimeError("an unexpected error")

    monkeypatch.setattr(queue, "enqueue", broken)
    assert intake.submit(**entrant, file=upload()).status == Status.QUEUED
    assert "an unexpected error" in caplog.text


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_on_a_full_disk_an_upload_is_refused_with_no_space(entrant, monkeypatch, number):
    def full(descriptor: int) -> None:
        raise OSError(number, "full")

    monkeypatch.setattr("server.submissions.storage.os.fsync", full)
    assert refusal(**entrant).code == "no_space"
    assert stored_files() == []


def test_if_the_disk_of_the_database_is_full_an_upload_is_refused_with_no_space(entrant, monkeypatch):
    def full(**arguments: Any) -> None:
        cause = sqlite3.OperationalError("database or disk is full")
        cause.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise OperationalError(*cause.args) from cause

    monkeypatch.setattr(intake.audit, "record", full)
    assert refusal(**entrant).code == "no_space"
    assert stored_files() == []
