"""Selects the job that a worker takes next. Messages only wake workers, and the database determines the next job.

Teams take turns, and at most TEAM_EVALUATIONS_AT_ONCE evaluations of one team run at the same time. Small files come
before large ones. The argument `large` is true if the calling process may take large files. If not, the process is
reserved for small files of teams that have nothing else running. Among reruns, the intervals of shown scores come
first, then rescorings, then explanations. If the caller passes `late`, rescorings and explanations come first (see
`worker.time_shares`).
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from server.clock import database_now
from server.compiled_queries import compiled_query
from server.submissions import queue
from server.submissions.models import Rerun, Submission
from server.submissions.services import leases
from server.submissions.services.leases import Job
from server.submissions.services.team_limits import RUNNING, max_running

BUSY = f"WITH busy AS (SELECT team_id, count(*) AS evaluations FROM ({RUNNING}) AS running GROUP BY team_id)"
OF_TEAM = "JOIN challenges_team AS team ON team.id = file.team_id LEFT JOIN busy ON busy.team_id = file.team_id"
# The order in which files are scored: files of teams with nothing running come first, then small files, then files of
# the team that has waited longest since its last turn.
IN_TURN = """
CASE WHEN busy.team_id IS NULL THEN 0 ELSE 1 END, CASE WHEN file.small THEN 0 ELSE 1 END,
CASE WHEN team.served_at IS NULL THEN 0 ELSE 1 END, team.served_at
"""
NEXT_SUBMISSION = f"""
{BUSY} SELECT file.id FROM submissions_submission AS file {OF_TEAM}
WHERE file.status = 'queued' AND (file.not_before IS NULL OR file.not_before <= %(now)s)
AND (busy.evaluations IS NULL OR busy.evaluations < %(max_running)s) AND (file.small OR %(large)s)
ORDER BY {IN_TURN}, file.received_at LIMIT 1
"""
# A rerun of a large file starts only if the file's team has nothing else running. Otherwise, the next file of the team
# might have to wait for the intervals or the explanation of an earlier file.
NEXT_RERUN = f"""
{BUSY} SELECT rerun.id FROM submissions_rerun AS rerun
JOIN challenges_truth AS truth ON truth.id = rerun.truth_id
JOIN submissions_submission AS file ON file.id = rerun.submission_id {OF_TEAM}
WHERE rerun.failure = '' AND rerun.lease_token IS NULL AND (rerun.not_before IS NULL OR rerun.not_before <= %(now)s)
AND (busy.evaluations IS NULL OR (file.small AND busy.evaluations < %(max_running)s)) AND (file.small OR %(large)s)
"""
LEVEL = "CASE WHEN rerun.purpose <> 'intervals' THEN 2 WHEN truth.active THEN 0 ELSE 1 END"
IN_LEVELS = f"{NEXT_RERUN} ORDER BY {LEVEL}, {IN_TURN}, rerun.id LIMIT 1"
# Late reruns are rescorings and explanations. The oldest of them comes first, so that explanations do not wait until a
# whole phase has been rescored.
LATE_FIRST = f"{NEXT_RERUN} ORDER BY CASE WHEN {LEVEL} > 0 THEN 0 ELSE 1 END, rerun.id LIMIT 1"
NEXT: dict[type[Submission] | type[Rerun], str] = {Submission: NEXT_SUBMISSION, Rerun: IN_LEVELS}


def claim_next(kind: type[Job], *, large: bool, late: bool = False) -> Job | None:
    """Claim the next job of this kind. Return None if no job can be scored now.

    If `late` is true, a rescoring or an explanation comes before other reruns.
    """
    while (key := next_key(kind, large=large, late=late)) is not None:
        if job := leases.claim(kind, key, large=large):
            return job
    return None


def next_key(kind: type[Job], *, large: bool, late: bool = False) -> UUID | int | None:
    """Return the primary key of the next job, or None if no job can be scored now."""
    now = connection.ops.adapt_datetimefield_value(database_now())
    values: dict[str, Any] = {"now": now, "max_running": max_running(large=large), "large": large}
    with connection.cursor() as cursor:
        cursor.execute(LATE_FIRST if late and kind is Rerun else NEXT[kind], values)
        found = cursor.fetchone()
    return kind._meta.pk.to_python(found[0]) if found else None


def wake(kind: type[Job]) -> None:
    """Send a message to a worker if jobs of this kind are queued and the broker has no message for them.

    A worker that may not take any of the queued jobs drops its message. Therefore every worker calls this function
    after it has finished a job.
    """
    if (first := first_queued(kind)) is not None and queue.waiting(kind) == 0:
        queue.enqueue(kind, first)


def first_queued(kind: type[Job]) -> UUID | int | None:
    """Return the primary key of the job of this kind that was queued first, or None if no job is queued."""
    return next((key for (key,) in FIRST_QUEUED[kind]()), None)


@compiled_query
def first_queued_submission() -> QuerySet[Submission, tuple[UUID]]:
    return Submission.objects.queued().order_by("enqueued_at").values_list("pk")[:1]


@compiled_query
def first_queued_rerun() -> QuerySet[Rerun, tuple[int]]:
    return Rerun.objects.queued().order_by("enqueued_at").values_list("pk")[:1]


FIRST_QUEUED: dict[type[Submission] | type[Rerun], Callable[[], list[Any]]] = {
    Submission: first_queued_submission,
    Rerun: first_queued_rerun,
}
