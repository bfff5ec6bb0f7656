"""What is taken now, by whom, and until when: a lease ends if no heartbeat prolongs it."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection

FREE: dict[str, Any] = {"lease_token": None, "lease_until": None}

# The team of each evaluation that runs now, first scorings and reruns. Written as SQL because every claim needs it, and
# the ORM takes ten times as long to compose it as the database takes to answer.
RUNNING = """
SELECT team_id FROM submissions_submission WHERE status = 'running'
UNION ALL
SELECT owner.team_id FROM submissions_rerun AS rerun
JOIN submissions_submission AS owner ON owner.id = rerun.submission_id WHERE rerun.lease_token IS NOT NULL
"""


def end_of_lease(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_SECONDS)


def running() -> Counter[int]:
    """Return the number of evaluations that run now, by team."""
    with connection.cursor() as cursor:
        cursor.execute(RUNNING)
        return Counter(team for (team,) in cursor.fetchall())


def at_once(*, large: bool) -> int:
    """Return how many evaluations of one team may run, counting the one that this process would take.

    A process that may not take a large file is kept for small ones. It is for teams that have nothing else running.
    """
    return settings.TEAM_EVALUATIONS_AT_ONCE if large else 1


def has_place(team_id: int, *, large: bool) -> bool:
    """Tell whether another evaluation of the team may run; exact only for whoever holds the team's row."""
    return running()[team_id] < at_once(large=large)
