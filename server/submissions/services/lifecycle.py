"""Sets the final status of submissions: scored, rejected, failed or cancelled. `leases` sets the status "running"."""

import logging
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Membership, Phase, Truth
from server.challenges.roles import Right, refuse_without
from server.clock import DatabaseNow, database_now
from server.compiled_queries import compiled_query
from server.errors import Refused
from server.submissions.models import BOOTSTRAPPING, FINISHED, Failure, Fault, Status, Submission
from server.submissions.services import evaluations, leases, quota, reruns
from server.submissions.services.team_locks import lock_team
from server.submissions.signals import announce

log = logging.getLogger(__name__)

# If at least this many workers die while they score a submission, the submission counts against the quota.
LOSSES_UNTIL_CHARGED = 2


def report_progress(submission: Submission, *, stage: str, progress: float) -> bool:
    """Renew a worker's lease on a submission and store the progress of scoring. Return False if the lease is lost."""
    return leases.prolong(submission, stage=stage, progress=min(max(progress, 0.0), 1.0))


def end(submission: Submission, status: Status, *, now: datetime, stage: str = "", **values: Any) -> bool:
    """Write the final status of a submission. Return False and write nothing if the worker has lost its lease."""
    ended = leases.finish(submission, status=status, stage=stage, finished_at=now, **values)
    if ended:
        fields = {"submission": str(submission.pk), "status": status.value, "attempts": submission.attempts}
        fields |= {"fault": str(values.get("fault", "")), "seconds": seconds_since(submission.received_at, now)}
        transaction.on_commit(partial(log.info, "submission ended", extra=fields))
    return ended


def seconds_since(received_at: datetime, now: datetime) -> float:
    return round((now - received_at).total_seconds(), 3)


@transaction.atomic
def record(
    submission: Submission, *, truth: Truth, report: dict[str, Any], cpu_seconds: float, notify: bool = True
) -> bool:
    """Write the scores of a submission. Return False and write nothing if the worker no longer holds the job.

    If the track has confidence intervals, or if the active ground truth has changed in the meantime, also queue a rerun
    against the active ground truth. A successful rerun queues the job that explains the score. If no rerun is needed,
    the job that explains the score is queued now. If `notify` is false, no worker is woken for the queued job.
    """
    lock_team(submission)
    found = time_and_other_truth(phase=submission.phase_id, truth=truth.pk)
    if not found:  # The phase was deleted.
        return False
    ((now, other),) = found
    again = bool(other or (settings.INTERVAL_REPLICATES and submission.phase.declared_track.intervals))
    stage = BOOTSTRAPPING if again else ""
    findings = {"errors": [], "total": 0, "counts": {}, "notices": report.get("notices", [])}
    if not end(submission, Status.SCORED, now=now, stage=stage, progress=1.0, problems=findings):
        return False
    evaluation = evaluations.write(submission, truth=truth, report=report, cpu_seconds=cpu_seconds, now=now)
    announce(submission.phase, [submission.team_id], evaluation.signature)
    if again:
        current = Truth.objects.get(pk=other) if other else truth
        reruns.request([submission], truth=current, now=now, notify=notify)
    else:
        reruns.request_explanations([submission], truth=truth, track=submission.phase.declared_track, notify=notify)
    return True


@compiled_query
def time_and_other_truth(*, phase: int, truth: int) -> QuerySet[Any, tuple[datetime, int | None]]:
    """Return one row: the database's time, and the id of the phase's active ground truth or None if it is `truth`."""
    others = Truth.objects.filter(phase=OuterRef("pk"), active=True).exclude(pk=truth).order_by()
    found = (
        Phase.objects.filter(pk=phase).order_by().annotate(now=DatabaseNow(), other=Subquery(others.values("pk")[:1]))
    )
    return found.values_list("now", "other")


@transaction.atomic
def reject(submission: Submission, *, findings: dict[str, Any]) -> bool:
    """Store the file's defects and end the submission as rejected.

    The quota of the submission is given back unless at least LOSSES_UNTIL_CHARGED workers died while scoring it. A
    rejected submission always counts against the daily limit of attempts.
    """
    now = database_now()
    rejected = end(submission, Status.REJECTED, now=now, fault=Fault.PARTICIPANT, problems=findings)
    if rejected and submission.losses < LOSSES_UNTIL_CHARGED:
        quota.give_back(submission, reason="rejected", now=now)
    return rejected


@transaction.atomic
def fail(submission: Submission, *, code: Failure, sentence: str, final: bool, fault: Fault | None = None) -> bool:
    """End an attempt that produced neither a score nor defects.

    Return False and write nothing if the worker no longer holds the job. The submission is queued again if there are
    attempts left and the failure is not `final`. Otherwise it fails, an alarm is logged, and its quota is given back
    unless the participant is at fault.
    """
    if not final and leases.has_attempts_left(submission):
        return leases.requeue(submission)
    now, fault = database_now(), code.fault if fault is None else fault
    failed = end(submission, Status.FAILED, now=now, fault=fault, failure_code=code, failure=sentence[:300])
    if failed:
        if fault != Fault.PARTICIPANT:
            quota.give_back(submission, reason="failed", now=now)
        log.error("alarm: submission %s failed (%s): %s", submission.pk, code, sentence)
    return failed


@transaction.atomic
def cancel(*, submission: Submission, by: User) -> Submission:
    """Cancel a submission. A worker that is scoring it loses its lease and writes nothing.

    The quota is given back only if scoring has never begun. Otherwise, teams could see the defects of a file, cancel
    the submission, and so test files without using quota.
    """
    if not Membership.objects.filter(team=submission.team_id, user=by).exists():
        refuse_without(Right.EDIT, by=by, challenge=submission.phase.challenge)
    row = Submission.objects.filter(pk=submission.pk)
    # While the row of the submission is locked, neither a worker nor the sweeper can change it.
    found = row.select_for_update(no_key=True).values_list("status", "started_at").first()
    if found is None:  # The submission was deleted, for example because an import replaced a baseline.
        raise Refused("not_found", "This submission no longer exists.")
    status, started_at = found
    if status in FINISHED:
        submission.refresh_from_db()
        if status == Status.CANCELLED:
            return submission
        raise Refused("not_cancellable", f"This submission is already {status}, so it cannot be cancelled.")
    now = database_now()
    row.update(status=Status.CANCELLED, finished_at=now, stage="", **leases.NO_LEASE)
    if started_at is None:
        quota.give_back(submission, reason="cancelled", now=now)
    audit.record(actor=by, action="submission.cancelled", subject=f"submission {submission.pk}")
    submission.refresh_from_db()
    return submission
