"""Lists waiting, running and failed jobs for the command `manage.py jobs`."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from django.db.models import F, OrderBy, QuerySet

from server.clock import database_now, time_text
from server.leaderboards.models import Comparison
from server.submissions.models import Rerun, Status, Submission

WAITING, RUNNING, FAILED = "waiting", "running", "failed"
STATES = (WAITING, RUNNING, FAILED)
NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a worker, with its state and the reason for this state.

    `since` is the time at which a submission was received, started or ended, depending on its state. For other jobs, it
    is the time at which they were last queued, or None if this is not stored. `host` is the host on which the job runs
    or last ran.
    """

    kind: str
    state: str
    phase: str
    id: str
    since: datetime | None
    host: str
    reason: str

    def as_dict(self) -> dict[str, str]:
        since = time_text(self.since) if self.since else ""
        named = {name: getattr(self, name) for name in ("kind", "state", "phase", "id", "host", "reason")}
        return {**named, "since": since}


def jobs(state: str, *, limit: int) -> tuple[int, list[Job]]:
    """Return the number of all jobs in a state, and at most `limit` of these jobs.

    The jobs are sorted by `Job.since`: the latest first for the state `failed`, otherwise the oldest first.
    """
    now = database_now()
    found = [submissions(state), reruns(state), comparisons(state, now)]
    listed = [job for rows, convert in found for job in map(convert, islice(rows, limit))]
    listed.sort(key=lambda job: job.since or (NEVER if state == FAILED else now), reverse=state == FAILED)
    return sum(rows.count() for rows, _ in found), listed[:limit]


def submissions(state: str) -> tuple[QuerySet[Submission], Any]:
    status, since = {
        WAITING: (Status.QUEUED, "received_at"),
        RUNNING: (Status.RUNNING, "started_at"),
        FAILED: (Status.FAILED, "finished_at"),
    }[state]
    rows = Submission.objects.filter(status=status).select_related("phase__challenge").order_by(in_order(since, state))

    def convert(one: Submission) -> Job:
        reason = f"{one.failure} ({one.fault})" if one.failure else postponed(one)
        return Job("submission", state, str(one.phase), str(one.pk), getattr(one, since), one.host, reason)

    return rows, convert


def in_order(field: str, state: str) -> OrderBy:
    """Return the order of a query for jobs in a state: the latest first for failed jobs, otherwise the oldest first."""
    return F(field).desc(nulls_last=True) if state == FAILED else F(field).asc(nulls_last=True)


def postponed(job: Submission | Rerun) -> str:
    """Return the reason why a job is postponed, or an empty string if the job is not postponed."""
    if not job.not_before:
        return ""
    until = f"not before {time_text(job.not_before)}, after {job.postponed} attempts"
    why = (
        job.waiting_for if isinstance(job, Rerun) else "A stored file cannot be used; the worker's log names the file."
    )
    return f"{why} ({until})"


def reruns(state: str) -> tuple[QuerySet[Rerun], Any]:
    rows = {WAITING: Rerun.objects.queued(), RUNNING: Rerun.objects.running(), FAILED: Rerun.objects.given_up()}[state]

    def convert(one: Rerun) -> Job:
        reason, phase = one.failure or postponed(one), str(one.submission.phase)
        return Job(one.purpose, state, phase, str(one.submission_id), one.enqueued_at, one.host, reason)

    return rows.select_related("submission__phase__challenge").order_by(in_order("enqueued_at", state)), convert


def comparisons(state: str, now: datetime) -> tuple[QuerySet[Comparison], Any]:
    every = Comparison.objects.select_related("board__phase__challenge").order_by(in_order("enqueued_at", state))
    rows = {
        WAITING: every & Comparison.objects.due(now),
        RUNNING: every.filter(lease_until__gt=now),
        FAILED: every.exclude(failure=""),
    }[state]

    def convert(one: Comparison) -> Job:
        board = one.board
        return Job(
            "comparison", state, f"{board.phase} {board.kind}", str(board.pk), one.enqueued_at, one.host, one.failure
        )

    return rows, convert


def every_job(*, limit: int) -> Iterator[tuple[str, int, list[Job]]]:
    """Yield each state, the number of all jobs in this state, and at most `limit` of these jobs."""
    for state in STATES:
        yield (state, *jobs(state, limit=limit))
