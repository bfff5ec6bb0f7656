"""Counts the running evaluations of a team, and determines their maximum number."""

from collections import Counter

from django.conf import settings
from django.db import connection

# Selects the team of each running evaluation, including reruns. This query runs whenever a worker claims a job. It is
# plain SQL, because the ORM would take ten times as long to build the query as the database takes to run it.
RUNNING = """
SELECT team_id FROM submissions_submission WHERE status = 'running'
UNION ALL
SELECT owner.team_id FROM submissions_rerun AS rerun
JOIN submissions_submission AS owner ON owner.id = rerun.submission_id WHERE rerun.lease_token IS NOT NULL
"""


def running_by_team() -> Counter[int]:
    """Return the number of running evaluations of each team."""
    with connection.cursor() as cursor:
        cursor.execute(RUNNING)
        return Counter(team for (team,) in cursor.fetchall())


def max_running(*, large: bool) -> int:
    """Return how many evaluations of one team may run at once, including the one that the calling process starts.

    If `large` is false, the process is reserved for small files of teams that have nothing else running, so the result
    is 1.
    """
    return settings.TEAM_EVALUATIONS_AT_ONCE if large else 1


def may_run_another(team_id: int, *, large: bool) -> bool:
    """Return whether another evaluation of the team may start.

    The result is reliable only while the team's row is locked.
    """
    return running_by_team()[team_id] < max_running(large=large)
