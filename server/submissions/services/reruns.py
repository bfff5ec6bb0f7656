"""Reruns, which score a submission again at a lower priority, first for its intervals and then for its explanation.

A score never waits for a rerun, and a rerun never changes the score. `leases` claims and releases reruns.
"""

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from evaluator.catalog import Track
from server.challenges.models import Truth
from server.clock import database_now
from server.compiled_queries import compiled_query
from server.sql import insert
from server.submissions import queue
from server.submissions.models import BOOTSTRAPPING, Rerun, Status, Submission
from server.submissions.services import evaluations, ladder, leases
from server.submissions.services.team_locks import lock_team
from server.submissions.signals import announce

log = logging.getLogger(__name__)


def request(
    submissions: Iterable[Submission],
    *,
    truth: Truth,
    purpose: Rerun.Purpose = Rerun.Purpose.INTERVALS,
    now: datetime | None = None,
    notify: bool = True,
) -> None:
    """Queue a rerun for each submission as soon as this transaction is committed.

    A rerun that has failed is queued again. A rerun that a worker has claimed is not changed. `now` is the current time
    of the database, if the caller already knows it. If `notify` is false, the caller wakes a worker or does the rerun
    itself.
    """
    now = now or database_now()
    requested = [Rerun(submission=one, truth=truth, purpose=purpose, enqueued_at=now) for one in submissions]
    insert(
        requested,
        unique=("submission", "truth", "purpose"),
        renewed=("failure", "attempts", "enqueued_at", "not_before", "waiting_for", "postponed"),
        held_by="lease_token",
    )
    for rerun in requested if notify else ():
        queue.enqueue_on_commit(Rerun, rerun.pk)


def try_now(waiting: Iterable[Rerun]) -> None:
    """Requeue the given reruns, which failed or were postponed, so that they can be claimed without a pause.

    A rerun that a worker has claimed in the meantime is not changed. Workers are woken after the commit.
    """
    for rerun in waiting:
        anew = {"failure": "", "attempts": 0, "waiting_for": "", "postponed": 0, "not_before": None}
        if Rerun.objects.filter(pk=rerun.pk, lease_token=None).update(enqueued_at=database_now(), **anew):
            queue.enqueue_on_commit(Rerun, rerun.pk)


def request_explanations(submissions: Iterable[Submission], *, truth: Truth, track: Track, notify: bool = True) -> None:
    """Queue jobs that compute explanations (such as error kinds and curves) if the track and the settings allow it."""
    if settings.EXPLANATION_MAX_BYTES and (track.explained_tables or track.curves):
        request(submissions, truth=truth, purpose=Rerun.Purpose.EXPLANATION, notify=notify)


@transaction.atomic
def record(
    rerun: Rerun,
    *,
    report: dict[str, Any],
    replicates: Mapping[str, bytes],
    cpu_seconds: float,
    notify: bool = True,
) -> bool:
    """Write the confidence intervals of a score. Return False and write nothing if the worker has lost its lease.

    If the ground truth is the active one, also queue a job that computes the explanation of the score. If `notify` is
    false, no worker is woken for it.

    Raises NotReproducible and writes nothing if the scores differ from those of the first scoring.
    """
    now = database_now()
    # All transactions lock teams before submissions. This lock also ensures that ladder feedback is determined for only
    # one of the team's files at a time.
    lock_team(rerun.submission)
    leases.lock_submission(rerun)
    if not leases.held(rerun).delete()[0]:
        return False
    submission = rerun.submission
    evaluation = evaluations.add_intervals(
        submission, truth=rerun.truth, report=report, cpu_seconds=cpu_seconds, now=now
    )
    evaluations.write_replicates(evaluation, replicates)
    ladder.publish(evaluation)
    announce(submission.phase, [rerun.team_id], evaluation.signature)
    update_stage(rerun)
    # If no leaderboard uses this ground truth yet, explanations are queued later, when the leaderboards switch to it.
    if truth_if_active(truth=rerun.truth_id):
        request_explanations([submission], truth=rerun.truth, track=submission.phase.declared_track, notify=notify)
    return True


@compiled_query
def truth_if_active(*, truth: int) -> QuerySet[Truth, tuple[int]]:
    """Return a queryset with the id of a ground truth. It is empty if the ground truth is not the active one."""
    return Truth.objects.filter(pk=truth, active=True).order_by().values_list("pk")


@transaction.atomic
def record_explanation(rerun: Rerun, *, report: dict[str, Any], contents: Mapping[str, bytes]) -> bool:
    """Write the explanation (additional tables and curves) of the score on each split.

    Return False and write nothing if the worker no longer holds the job.

    Raises NotReproducible and writes nothing if the scores differ from those of the first scoring.
    """
    leases.lock_submission(rerun)
    if not leases.held(rerun).delete()[0]:
        return False
    evaluation = evaluations.find_same(rerun.submission, truth=rerun.truth, report=report)
    # No evaluation is found if the evaluator's version has changed since the file was first scored.
    if evaluation is not None:
        evaluations.write_explanation(evaluation, contents)
    return True


def update_stage(rerun: Rerun) -> None:
    """Update the submission's stage, which shows whether its confidence intervals are still pending."""
    pending = pending_intervals(submission=rerun.submission_id)
    scored = Submission.objects.filter(pk=rerun.submission_id, status=Status.SCORED)
    scored.update(stage=BOOTSTRAPPING if pending else "")


@compiled_query
def pending_intervals(*, submission: UUID) -> QuerySet[Rerun, tuple[int]]:
    pending = Rerun.objects.scoring().pending().filter(submission=submission, truth__active=True)
    return pending.order_by().values_list("pk")


@transaction.atomic
def fail(rerun: Rerun, *, sentence: str, final: bool, alarm: bool = True) -> bool:
    """End a failed attempt at a rerun (a job that scores a submission again).

    Return False and write nothing if the worker no longer holds the job.

    The rerun is queued again if there are attempts left and the failure is not `final`. Otherwise, the rerun fails
    permanently, and an alarm is logged if `alarm` is true.
    """
    leases.lock_submission(rerun)
    if not final and leases.has_attempts_left(rerun):
        return leases.requeue(rerun)
    given_up = leases.finish(rerun, failure=sentence[:300])
    if given_up:
        update_stage(rerun)
        level, prefix = (logging.ERROR, "alarm: ") if alarm else (logging.INFO, "")
        log.log(level, "%ssubmission %s has no %s: %s", prefix, rerun.submission_id, rerun.purpose, sentence)
    return given_up
