"""From queued to finished. Every step is one guarded UPDATE, so that a message may come twice and a worker may die."""

import logging
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Phase, Team, Truth
from server.clock import database_now
from server.errors import Refused
from server.submissions import queue
from server.submissions.models import BOOTSTRAPPING, FINISHED, Failure, Fault, Status, Submission, SubmissionQuerySet
from server.submissions.services import evaluations, quota, reruns
from server.submissions.services.leases import FREE, end_of_lease, has_place

log = logging.getLogger(__name__)

IDLE: dict[str, Any] = {**FREE, "stage": ""}
LOSSES_CHARGED = 2  # so many lost workers are the file's cost
TAKEN = ("status", "lease_token", "lease_until", "attempts", "started_at", "progress", "not_before")


def held(submission: Submission) -> SubmissionQuerySet:
    """The row as long as this holder's lease stands; a worker that lost it writes nothing."""
    return Submission.objects.filter(pk=submission.pk, status=Status.RUNNING, lease_token=submission.lease_token)


def claim(submission_id: UUID, *, large: bool = True) -> Submission | None:
    """Take a queued submission; None if it cannot be taken, or its team has no place left. Safe to call twice.

    `large` says whether this process may take large files.
    """
    found = Submission.objects.queued().select_related("phase", "team").filter(pk=submission_id).first()
    if found is None:
        return None
    still = Submission.objects.queued().filter(pk=found.pk, attempts=found.attempts)
    with transaction.atomic():
        now = database_now()
        Team.objects.filter(pk=found.team_id).update(served_at=now)  # and so nobody else takes the team's last place
        found.status, found.lease_token, found.lease_until = Status.RUNNING, uuid4(), end_of_lease(now)
        found.attempts, found.started_at, found.progress, found.not_before = found.attempts + 1, now, 0.0, None
        taken = has_place(found.team_id, large=large) and still.update(**{name: getattr(found, name) for name in TAKEN})
        if not taken:
            transaction.set_rollback(True)
    return found if taken else None


def beat(submission: Submission, *, stage: str, progress: float) -> bool:
    """Prolong the lease and tell how far it is; False if the lease is lost."""
    until = end_of_lease(database_now())
    return bool(held(submission).update(lease_until=until, stage=stage, progress=min(max(progress, 0.0), 1.0)))


@transaction.atomic
def record(submission: Submission, *, truth: Truth, report: dict[str, Any], cpu_seconds: float) -> bool:
    """Write the scores, once: False, and nothing written, if the lease is lost.

    Intervals follow, or, where the phase was given another truth meanwhile, a scoring against that one; else what
    explains the score, which otherwise comes after them.
    """
    list(Phase.objects.select_for_update(no_key=True).filter(pk=submission.phase_id))  # no rescoring is applied now
    current = Truth.objects.filter(phase=submission.phase_id, active=True).exclude(pk=truth.pk).first()
    again = bool(current or (settings.INTERVAL_REPLICATES and submission.phase.declared_track.intervals))
    now = database_now()
    noticed = {"errors": [], "total": 0, "counts": {}, "notices": report.get("notices", [])}
    ended = {**IDLE, "stage": BOOTSTRAPPING if again else ""}
    if not held(submission).update(status=Status.SCORED, finished_at=now, progress=1.0, problems=noticed, **ended):
        return False
    evaluations.write(submission, truth=truth, report=report, cpu_seconds=cpu_seconds, now=now)
    if again:
        reruns.ask([submission], truth=current or truth)
    else:
        reruns.ask_why([submission], truth=truth, track=submission.phase.declared_track)
    return True


@transaction.atomic
def reject(submission: Submission, *, findings: dict[str, Any]) -> bool:
    """The file is at fault: its defects are listed, its quota given back. The attempt stays counted."""
    now = database_now()
    rejected = held(submission).update(
        status=Status.REJECTED, finished_at=now, fault=Fault.PARTICIPANT, problems=findings, **IDLE
    )
    if rejected:
        quota.give_back(submission, reason="rejected", now=now)
    return bool(rejected)


def fail(submission: Submission, *, code: Failure, sentence: str, final: bool) -> bool:
    """It has no score, and no defects: once more, or `failed`, with an alarm in the log."""
    return give_up(held(submission), submission, code=code, fault=code.fault, sentence=sentence, final=final)


@transaction.atomic
def give_up(
    mine: SubmissionQuerySet, submission: Submission, *, code: Failure, fault: Fault, sentence: str, final: bool
) -> bool:
    """End an attempt of the rows `mine` (one or none): queued again while attempts are left, else failed.

    The quota is given back unless the file is at fault.
    """
    now = database_now()
    if not final and submission.attempts < settings.EVALUATION_ATTEMPTS:
        return back_to_queue(mine, submission)
    why = {"fault": fault, "failure_code": code, "failure": sentence[:300]}
    failed = mine.update(status=Status.FAILED, finished_at=now, **why, **IDLE)
    if failed:
        if fault != Fault.PARTICIPANT:
            quota.give_back(submission, reason="failed", now=now)
        log.error("alarm: submission %s failed (%s): %s", submission.pk, code, sentence)
    return bool(failed)


def back_to_queue(mine: SubmissionQuerySet, submission: Submission, **changes: Any) -> bool:
    queued = mine.update(status=Status.QUEUED, enqueued_at=database_now(), progress=0.0, **IDLE, **changes)
    if queued:
        queue.enqueue_on_commit(submission.pk)
    return bool(queued)


@transaction.atomic
def release(submission: Submission, *, pause: timedelta | None = None) -> bool:
    """Put it back, for nobody's fault, so the attempt does not count. After a `pause` the sweeper sends its message."""
    uncounted = {"attempts": F("attempts") - 1}
    if pause is None:
        return back_to_queue(held(submission), submission, **uncounted)
    now = database_now()
    waits = {"status": Status.QUEUED, "enqueued_at": now, "not_before": now + pause, "progress": 0.0}
    return bool(held(submission).update(**waits, **uncounted, **IDLE))


@transaction.atomic
def release_as_large(submission: Submission) -> bool:
    """Put it back because it costs more than a small file may. The attempt does not count."""
    return back_to_queue(held(submission), submission, attempts=F("attempts") - 1, small=False)


@transaction.atomic
def cancel(*, submission: Submission, by: User) -> Submission:
    """Stop it for good. A worker that is at it loses its lease and writes nothing.

    The quota is given back only while it was still queued: once scoring has begun the machine's time is spent, and
    stages and defects have been seen; cancelling would otherwise be a way to try files for free. A file that has cost
    LOSSES_CHARGED workers their lives is charged for it even while it waits for its last attempt.
    """
    this = Submission.objects.filter(pk=submission.pk)
    # from here on no worker and no sweeper moves it
    found = this.select_for_update(no_key=True).values_list("status", "losses").first()
    if found is None:  # a baseline, that an import replaced
        raise Refused("not_found", "There is no such submission any more.")
    status, losses = found
    if status in FINISHED:
        submission.refresh_from_db()
        if status == Status.CANCELLED:
            return submission
        raise Refused("not_cancellable", f"It is {status} already. Nothing is left to cancel.")
    now = database_now()
    this.update(status=Status.CANCELLED, finished_at=now, **IDLE)
    if status == Status.QUEUED and losses < LOSSES_CHARGED:
        quota.give_back(submission, reason="cancelled", now=now)
    audit.record(actor=by, action="submission.cancelled", subject=f"submission {submission.pk}")
    submission.refresh_from_db()
    return submission
