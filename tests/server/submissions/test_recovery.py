"""Tests commands that requeue failed submissions, request missing intervals or refund quota.

Each command records the acting user in the audit log.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from server.audit.models import Entry
from server.challenges.models import Phase
from server.errors import Refused
from server.submissions.models import Failure, QuotaEntry, Replicates, Rerun, Status, Submission
from server.submissions.services import leases, lifecycle, quota, recovery, reruns
from tests.conftest import InlineQueue, Make
from tests.server.conftest import Scored

NOW = datetime.now(UTC)


@pytest.fixture(autouse=True)
def queue(
    inline_queue: InlineQueue, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Iterator[InlineQueue]:
    with django_capture_on_commit_callbacks(execute=True):
        yield inline_queue


@pytest.fixture
def failed(make: Make) -> Callable[..., Submission]:
    """Return a function that creates a failed submission that has used quota: `failed(Failure.ACCIDENT)`."""

    def build(code: Failure = Failure.ACCIDENT, phase: Phase | None = None) -> Submission:
        submission: Submission = make.submission(phase or make.phase())
        quota.charge(submission, now=NOW)
        lifecycle.fail(leases.claim(Submission, submission.pk), code=code, sentence="x", final=True)
        return submission

    return build


def statuses(*submissions: Submission) -> list[str]:
    return [Submission.objects.get(pk=one.pk).status for one in submissions]


def balance(submission: Submission) -> int:
    return sum(QuotaEntry.objects.filter(submission=submission).values_list("amount", flat=True))


def test_a_requeued_submission_begins_again_and_is_scored_once_more(failed: Callable[..., Submission]) -> None:
    submission = failed()
    call_command("requeue", submission.pk)
    row = Submission.objects.get()
    assert (row.status, row.attempts, row.fault, row.failure_code, row.finished_at) == ("queued", 0, "", "", None)
    assert leases.claim(Submission, submission.pk) is not None


def test_requeueing_does_not_change_the_quota(failed: Callable[..., Submission]) -> None:
    ours, theirs = failed(Failure.ACCIDENT), failed(Failure.OUT_OF_TIME)
    call_command("requeue", all=True)
    assert (balance(ours), balance(theirs)) == (0, 1)


def test_only_the_requested_submissions_are_requeued(make: Make, failed: Callable[..., Submission]) -> None:
    phase = make.phase()
    one, other, late = failed(phase=phase), failed(Failure.UNUSABLE_TRUTH), failed(Failure.OUT_OF_TIME)
    call_command("requeue", phase=str(phase))
    assert statuses(one, other, late) == ["queued", "failed", "failed"]
    call_command("requeue", fault="organizer")
    assert statuses(one, other, late) == ["queued", "queued", "failed"]
    call_command("requeue", all=True)
    assert statuses(one, other, late) == ["queued"] * 3


def test_nothing_is_requeued_without_a_filter(failed: Callable[..., Submission]) -> None:
    failed()
    with pytest.raises(CommandError):
        call_command("requeue")
    assert not Submission.objects.queued().exists()


def test_only_failed_submissions_are_requeued(make: Make) -> None:
    submission = make.submission(make.phase(), status=Status.REJECTED, finished_at=NOW)
    call_command("requeue", all=True)
    assert statuses(submission) == ["rejected"]


def test_a_file_that_was_removed_is_not_requeued(
    failed: Callable[..., Submission], capsys: pytest.CaptureFixture[str]
) -> None:
    submission = failed()
    Submission.objects.update(file="")
    call_command("requeue", all=True)
    assert statuses(submission) == ["failed"]
    assert str(submission.pk) in capsys.readouterr().err


def test_a_file_that_its_team_uploaded_again_is_not_scored_twice(
    make: Make, failed: Callable[..., Submission], capsys: pytest.CaptureFixture[str]
) -> None:
    submission = failed()
    again = make.submission(submission.phase, submission.team, sha256=submission.sha256)
    call_command("requeue", all=True)
    assert statuses(submission, again) == ["failed", "queued"]
    assert "0 of 1 queued again" in capsys.readouterr().out


def test_the_audit_log_names_who_acted(make: Make, failed: Callable[..., Submission]) -> None:
    submission = failed()
    make.user(username="olga", is_staff=True)
    call_command("requeue", submission.pk, acts_for="Olga")
    entry = Entry.objects.get(action="submission.requeued")
    assert (entry.actor, entry.subject) == ("olga", f"submission {submission.pk}")


def test_an_organizer_of_another_challenge_is_refused(make: Make, failed: Callable[..., Submission]) -> None:
    submission = failed()
    make.user(username="eve")
    with pytest.raises(CommandError, match="Only organizers of the challenge"):
        call_command("requeue", submission.pk, acts_for="eve")
    assert statuses(submission) == ["failed"]


def test_an_unknown_phase_is_refused(failed: Callable[..., Submission]) -> None:
    submission = failed()
    for named in ("no/such", submission.phase.slug, f"{submission.phase}/more", ""):
        with pytest.raises(CommandError, match=f"There is no phase {named}"):
            call_command("requeue", phase=named, all=True)
    assert statuses(submission) == ["failed"]


def test_ids_that_cannot_be_queued_are_refused_and_nothing_is_queued(
    make: Make, failed: Callable[..., Submission]
) -> None:
    submission, unknown = failed(), uuid4()
    scored = make.submission(make.phase(), status=Status.SCORED, finished_at=NOW)
    for other in (unknown, scored.pk):
        with pytest.raises(CommandError, match=f"Nothing was queued.*{other}"):
            call_command("requeue", submission.pk, other)
    with pytest.raises(CommandError, match="Nothing was queued"):
        call_command("requeue", submission.pk, fault="participant")
    assert statuses(submission) == ["failed"]


@pytest.mark.parametrize("command", ["requeue", "give_back", "quarantine"])
def test_an_unknown_person_cannot_act(db: None, own_folders: None, command) -> None:
    more = {"restore": True} if command == "quarantine" else {}
    with pytest.raises(CommandError, match="no active account named nobody"):
        call_command(command, *([] if more else [uuid4()]), acts_for="nobody", **more)


@pytest.fixture
def bare(make: Make, scored: Scored) -> Submission:
    """Create a scored submission whose intervals a worker has failed to compute."""
    submission: Submission = scored(make.phase(), 0.5)
    Rerun.objects.create(submission=submission, truth=submission.phase.truth, enqueued_at=NOW, failure="lost")
    return submission


def test_an_interval_that_was_given_up_is_requested_again(bare: Submission) -> None:
    call_command("requeue", intervals=True, all=True)
    waiting = Rerun.objects.queued().get()
    assert (waiting.submission, waiting.attempts, waiting.submission.stage) == (bare, 0, "bootstrapping")
    assert leases.claim(Rerun, waiting.pk) is not None


def test_an_existing_or_pending_interval_is_not_requested(bare: Submission, capsys: pytest.CaptureFixture[str]) -> None:
    evaluation = bare.evaluations.get()
    Replicates.objects.create(evaluation=evaluation, split="public", seed=0, count=0, values=b"")
    call_command("requeue", intervals=True, all=True)
    Replicates.objects.all().delete()
    Rerun.objects.update(failure="")
    call_command("requeue", intervals=True, all=True)
    assert capsys.readouterr().out == "0 of 0 queued again\n" * 2


def test_a_rerun_that_a_worker_has_claimed_is_not_changed(bare: Submission) -> None:
    call_command("requeue", intervals=True, all=True)
    claimed = leases.claim(Rerun, Rerun.objects.get().pk)
    assert claimed is not None
    with pytest.raises(Refused, match="is being rescored"):
        recovery.requeue_interval(submission=bare, by=None)
    reruns.request([bare], truth=claimed.truth)
    assert leases.release(claimed)
    assert Rerun.objects.queued().get().attempts == 0


def test_a_service_without_intervals_has_no_missing_intervals(
    bare: Submission, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.INTERVAL_REPLICATES = 0
    call_command("requeue", intervals=True, all=True)
    assert capsys.readouterr().out == "0 of 0 queued again\n"


def test_an_organizer_gives_back_the_quota_of_a_file(make: Make, failed: Callable[..., Submission]) -> None:
    submission = failed(Failure.OUT_OF_TIME)
    submission.phase.challenge.organizers.add(make.user(username="olga"))
    assert balance(submission) == 1
    call_command("give_back", submission.pk, acts_for="olga")
    assert balance(submission) == 0
    assert Entry.objects.get(action="submission.given_back").actor == "olga"


def test_quota_is_not_given_back_twice(failed: Callable[..., Submission]) -> None:
    submission = failed(Failure.ACCIDENT)
    with pytest.raises(CommandError):
        call_command("give_back", submission.pk)
    assert balance(submission) == 0


def test_the_quota_of_a_rejected_file_can_be_given_back(make: Make) -> None:
    submission = make.submission(make.phase(), status=Status.REJECTED, fault="participant", finished_at=NOW)
    quota.charge(submission, now=NOW)
    call_command("give_back", submission.pk)
    assert balance(submission) == 0


def test_the_quota_of_a_scored_submission_is_not_given_back(make: Make) -> None:
    submission = make.submission(make.phase(), status=Status.SCORED, finished_at=NOW)
    quota.charge(submission, now=NOW)
    with pytest.raises(CommandError):
        call_command("give_back", submission.pk)
    assert balance(submission) == 1
