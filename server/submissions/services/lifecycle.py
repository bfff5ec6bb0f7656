"""From queued to finished. Every step is one guarded UPDATE, so that a message may come twice and a worker may die."""

import logging
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F

from evaluator import __version__
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Truth
from server.clock import database_now
from server.errors import Refused
from server.submissions import queue
from server.submissions.models import FINISHED, Evaluation, Fault, Score, Status, Submission, SubmissionQuerySet
from server.submissions.services import quota

log = logging.getLogger(__name__)

IDLE: dict[str, Any] = {"lease_token": None, "lease_until": None, "stage": ""}


def lease() -> timedelta:
    return timedelta(seconds=settings.LEASE_SECONDS)


def held(submission: Submission) -> SubmissionQuerySet:
    """The row as long as this holder's lease stands; a worker that lost it writes nothing."""
    return Submission.objects.filter(pk=submission.pk, status=Status.RUNNING, lease_token=submission.lease_token)


def claim(submission_id: UUID) -> Submission | None:
    """Take a queued submission; None if it is not there to be taken. Safe to call twice."""
    now, token = database_now(), uuid4()
    waiting = Submission.objects.filter(pk=submission_id, status=Status.QUEUED)
    waiting.update(
        status=Status.RUNNING,
        lease_token=token,
        lease_until=now + lease(),
        attempts=F("attempts") + 1,
        started_at=now,
        progress=0.0,
    )
    return Submission.objects.select_related("phase", "team").filter(pk=submission_id, lease_token=token).first()


def beat(submission: Submission, *, stage: str, progress: float) -> bool:
    """Prolong the lease and tell how far it is; False if the lease is lost."""
    until = database_now() + lease()
    return bool(held(submission).update(lease_until=until, stage=stage, progress=min(max(progress, 0.0), 1.0)))


@transaction.atomic
def record(submission: Submission, *, truth: Truth, report: dict[str, Any], cpu_seconds: float) -> bool:
    """Write the scores, once: False, and nothing written, if the lease is lost."""
    now = database_now()
    noticed = {"errors": [], "total": 0, "counts": {}, "notices": report.get("notices", [])}
    if not held(submission).update(status=Status.SCORED, finished_at=now, progress=1.0, problems=noticed, **IDLE):
        return False
    splits: dict[str, dict[str, Any]] = report["splits"]
    evaluation = Evaluation.objects.create(
        submission=submission,
        truth=truth,
        evaluator_version=__version__,
        signature=report["signature"],
        report={**report, "splits": {name: without_scores(split) for name, split in splits.items()}},
        cpu_seconds=cpu_seconds,
        created_at=now,
    )
    Score.objects.bulk_create(
        Score(evaluation=evaluation, split=name, metric=metric, value=value, **ends(split, metric))
        for name, split in splits.items()
        for metric, value in split["metrics"].items()
    )
    return True


def without_scores(split: dict[str, Any]) -> dict[str, Any]:
    """Metrics and intervals are rows of their own; the report keeps the rest."""
    return {name: value for name, value in split.items() if name not in ("metrics", "intervals")}


def ends(split: dict[str, Any], metric: str) -> dict[str, float]:
    low_and_high = split["intervals"].get(metric)
    return dict(zip(("low", "high"), low_and_high, strict=True)) if low_and_high else {}


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


def fail(submission: Submission, *, fault: str, sentence: str, final: bool) -> bool:
    """We, or the organizers, are at fault: once more, or `failed` with the quota given back and an alarm in the log."""
    return give_up(held(submission), submission, fault=fault, sentence=sentence, final=final)


@transaction.atomic
def give_up(mine: SubmissionQuerySet, submission: Submission, *, fault: str, sentence: str, final: bool) -> bool:
    """End an attempt of the rows `mine` (one or none): queued again while attempts are left, else failed."""
    now = database_now()
    if not final and submission.attempts < settings.EVALUATION_ATTEMPTS:
        return back_to_queue(mine, submission)
    failed = mine.update(status=Status.FAILED, finished_at=now, fault=fault, failure=sentence[:300], **IDLE)
    if failed:
        quota.give_back(submission, reason="failed", now=now)
        log.error("alarm: submission %s failed (%s): %s", submission.pk, fault, sentence)
    return bool(failed)


def back_to_queue(mine: SubmissionQuerySet, submission: Submission, **changes: Any) -> bool:
    queued = mine.update(status=Status.QUEUED, enqueued_at=database_now(), progress=0.0, **IDLE, **changes)
    if queued:
        queue.enqueue_on_commit(submission.pk)
    return bool(queued)


@transaction.atomic
def release(submission: Submission) -> bool:
    """Put it back because the worker is being stopped: nobody's fault, so the attempt does not count."""
    return back_to_queue(held(submission), submission, attempts=F("attempts") - 1)


@transaction.atomic
def cancel(*, submission: Submission, by: User) -> Submission:
    """Stop it for good. A worker that is at it loses its lease and writes nothing.

    The quota is given back only while it was still queued: once scoring has begun the machine's time is spent, and
    stages and defects have been seen; cancelling would otherwise be a way to try files for free.
    """
    this = Submission.objects.filter(pk=submission.pk)
    # from here on no worker and no sweeper moves it
    status = this.select_for_update(no_key=True).values_list("status", flat=True).get()
    if status in FINISHED:
        submission.refresh_from_db()
        if status == Status.CANCELLED:
            return submission
        raise Refused("not_cancellable", f"It is {status} already. Nothing is left to cancel.")
    now = database_now()
    this.update(status=Status.CANCELLED, finished_at=now, **IDLE)
    if status == Status.QUEUED:
        quota.give_back(submission, reason="cancelled", now=now)
    audit.record(actor=by, action="submission.cancelled", subject=f"submission {submission.pk}")
    submission.refresh_from_db()
    return submission
