"""Whose turn it is. The rows decide; a message only wakes a worker, which then takes what is next here.

Teams take turns, and of each team at most TEAM_EVALUATIONS_AT_ONCE run. Small files come before large ones. `large`
says whether the caller may take a large file. If not, its process is kept for small files, and only for those of teams
that have nothing else running.
"""

from typing import Any
from uuid import UUID

from django.db import connection

from server.clock import database_now
from server.submissions import queue
from server.submissions.models import Rerun, Submission
from server.submissions.services import lifecycle, reruns
from server.submissions.services.leases import RUNNING, at_once

BUSY = f"WITH busy AS (SELECT team_id, count(*) AS evaluations FROM ({RUNNING}) AS running GROUP BY team_id)"
OF_TEAM = "JOIN challenges_team AS team ON team.id = file.team_id LEFT JOIN busy ON busy.team_id = file.team_id"
# Teams with nothing running come first, then small files, then the team whose last turn is the longest ago
IN_TURN = """
CASE WHEN busy.team_id IS NULL THEN 0 ELSE 1 END, CASE WHEN file.small THEN 0 ELSE 1 END,
CASE WHEN team.served_at IS NULL THEN 0 ELSE 1 END, team.served_at
"""
NEXT_SUBMISSION = f"""
{BUSY} SELECT file.id FROM submissions_submission AS file {OF_TEAM}
WHERE file.status = 'queued' AND (file.not_before IS NULL OR file.not_before <= %s)
AND (busy.evaluations IS NULL OR busy.evaluations < %s) AND (file.small OR %s)
ORDER BY {IN_TURN}, file.received_at LIMIT 1
"""
# A large one only where nothing else of its team runs. So a place is left for the team's next file, which does not wait
# for what follows the score of another.
NEXT_RERUN = f"""
{BUSY} SELECT rerun.id FROM submissions_rerun AS rerun
JOIN submissions_submission AS file ON file.id = rerun.submission_id {OF_TEAM}
WHERE rerun.failure = '' AND rerun.lease_token IS NULL
AND (busy.evaluations IS NULL OR (file.small AND busy.evaluations < %s)) AND (file.small OR %s)
ORDER BY CASE WHEN rerun.purpose = 'intervals' THEN 0 ELSE 1 END, {IN_TURN}, rerun.id LIMIT 1
"""


def next_submission(*, large: bool) -> Submission | None:
    """Claim the submission whose turn it is; None where none can be scored now."""
    while (first := first_submission(large=large)) is not None:
        if claimed := lifecycle.claim(first, large=large):
            return claimed
    return None


def first_submission(*, large: bool) -> UUID | None:
    """Return the id of the submission whose turn it is."""
    now = connection.ops.adapt_datetimefield_value(database_now())
    found = first(NEXT_SUBMISSION, now, at_once(large=large), large)
    return UUID(str(found)) if found else None


def next_rerun(*, large: bool) -> Rerun | None:
    """Claim a scoring of lower priority; None where none can be done now. Intervals come before explanations."""
    while (found := first(NEXT_RERUN, at_once(large=large), large)) is not None:
        if claimed := reruns.claim(found, large=large):
            return claimed
    return None


def first(query: str, *values: Any) -> Any:
    """Return the first column of the first row; None where there is no row."""
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        found = cursor.fetchone()
    return found[0] if found else None


def wake() -> None:
    """Wake a worker for submissions that wait, where the broker holds no message for them.

    A message is spent when it finds no place free, so whoever leaves a place asks here.
    """
    first = Submission.objects.queued().order_by("enqueued_at").values_list("pk", flat=True).first()
    if first is not None and queue.waiting(queue.FIRST) == 0:
        queue.enqueue(first)


def wake_later() -> None:
    """The same for scorings of lower priority."""
    first = Rerun.objects.waiting().order_by("pk").only("pk").first()
    if first is not None and queue.waiting(queue.LATER) == 0:
        queue.enqueue_rerun(first.pk)
