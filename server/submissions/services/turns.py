"""Whose turn it is. The rows decide; a message only wakes a worker, which then takes what is next here.

Teams take turns, and of each team at most TEAM_EVALUATIONS_AT_ONCE run. Small files come before large ones. `large`
says whether the caller may take a large file now: a worker keeps one of its processes for small ones.
"""

from collections.abc import Mapping
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import Q

from server.clock import database_now
from server.submissions import queue
from server.submissions.models import Rerun, Submission
from server.submissions.services import lifecycle, reruns
from server.submissions.services.leases import RUNNING, running

# Teams with nothing running come first, then small files, then the team whose last turn is the longest ago. A file that
# has cost a worker its life takes no place of small ones.
SMALL = "queued.small AND queued.losses = 0"
NEXT = f"""
WITH busy AS (SELECT team_id, count(*) AS evaluations FROM ({RUNNING}) AS running GROUP BY team_id)
SELECT queued.id FROM submissions_submission AS queued
JOIN challenges_team AS team ON team.id = queued.team_id LEFT JOIN busy ON busy.team_id = queued.team_id
WHERE queued.status = 'queued' AND (queued.not_before IS NULL OR queued.not_before <= %s)
AND (busy.evaluations IS NULL OR busy.evaluations < %s) AND ({{allowed}})
ORDER BY CASE WHEN busy.team_id IS NULL THEN 0 ELSE 1 END, CASE WHEN {SMALL} THEN 0 ELSE 1 END,
CASE WHEN team.served_at IS NULL THEN 0 ELSE 1 END, team.served_at, queued.received_at LIMIT 1
"""
NEXT_OF_ALL, NEXT_SMALL = NEXT.format(allowed="1 = 1"), NEXT.format(allowed=SMALL)


def is_small(submission: Submission) -> bool:
    return submission.small and not submission.losses


def next_submission(*, large: bool) -> Submission | None:
    """Claim the submission whose turn it is; None where none can be scored now."""
    while (first := first_submission(large=large)) is not None:
        if claimed := lifecycle.claim(first):
            return claimed
    return None


def first_submission(*, large: bool) -> UUID | None:
    """Return the id of the submission whose turn it is."""
    now = connection.ops.adapt_datetimefield_value(database_now())
    with connection.cursor() as cursor:
        cursor.execute(NEXT_OF_ALL if large else NEXT_SMALL, [now, settings.TEAM_EVALUATIONS_AT_ONCE])
        found = cursor.fetchone()
    return UUID(str(found[0])) if found else None


def next_rerun(*, large: bool) -> Rerun | None:
    """Claim a scoring of lower priority; None where none can be done now."""
    while (first := first_rerun(large=large)) is not None:
        if claimed := reruns.claim(first.pk):
            return claimed
    return None


def first_rerun(*, large: bool) -> Rerun | None:
    """In the order in which they were asked for; a large one only where nothing else of its team runs.

    So a place is left for the team's next file, which does not wait for what follows the score of another.
    """
    busy = running()
    waiting = Rerun.objects.waiting().exclude(submission__team__in=full(busy))
    small = Q(submission__small=True, submission__losses=0)
    allowed = small | ~Q(submission__team__in=list(busy)) if large else small
    return waiting.filter(allowed).order_by("pk").only("pk").first()


def full(busy: Mapping[int, int]) -> list[int]:
    """Return the teams that have no place left."""
    return [team for team, count in busy.items() if count >= settings.TEAM_EVALUATIONS_AT_ONCE]


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
