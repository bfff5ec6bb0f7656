"""Whose turn it is. The rows decide; a message only wakes a worker, which then takes what is next here.

Teams take turns, and of each team at most TEAM_EVALUATIONS_AT_ONCE run. Small files come before large ones. `large`
says whether the caller may take a large file now: a worker keeps one of its processes for small ones.
"""

from collections.abc import Mapping

from django.conf import settings
from django.db.models import Case, F, Q, When

from server.clock import database_now
from server.submissions import queue
from server.submissions.models import Rerun, Submission
from server.submissions.services import lifecycle, reruns
from server.submissions.services.leases import running

SMALL = Q(small=True, losses=0)  # a file that has cost a worker its life takes no place of small ones


def is_small(submission: Submission) -> bool:
    return submission.small and not submission.losses


def next_submission(*, large: bool) -> Submission | None:
    """Claim the submission whose turn it is; None where none can be scored now."""
    while (first := first_submission(large=large)) is not None:
        if claimed := lifecycle.claim(first.pk):
            return claimed
    return None


def first_submission(*, large: bool) -> Submission | None:
    """Teams with nothing running come first, then small files, then the team whose last turn is the longest ago."""
    busy = running()
    queued = Submission.objects.queued().exclude(team__in=full(busy))
    queued = queued.filter(Q(not_before=None) | Q(not_before__lte=database_now()))
    if not large:
        queued = queued.filter(SMALL)
    is_busy = Case(When(team__in=list(busy), then=1), default=0)
    is_large = Case(When(SMALL, then=0), default=1)
    turn = F("team__served_at").asc(nulls_first=True)
    return queued.order_by(is_busy, is_large, turn, "received_at").only("pk").first()


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
    first = Submission.objects.queued().order_by("received_at").only("pk").first()
    if first is not None and queue.waiting(queue.FIRST) == 0:
        queue.enqueue(first.pk)


def wake_later() -> None:
    """The same for scorings of lower priority."""
    first = Rerun.objects.waiting().order_by("pk").only("pk").first()
    if first is not None and queue.waiting(queue.LATER) == 0:
        queue.enqueue_rerun(first.pk)
