"""Reads the periods in which teams were removed from the leaderboards of a challenge.

A frozen leaderboard needs these periods, because its stored entries are older than the removals.
"""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Q, QuerySet

from server.challenges.models import Phase, Removal
from server.compiled_queries import compiled_query

Window = tuple[datetime, datetime | None]


def removed_by(phase: Phase, moment: datetime) -> list[int] | None:
    """Return the ids of the teams excluded from the leaderboards at a given time, or None if there are none."""
    return [team for (team,) in removed_teams(challenge=phase.challenge_id, moment=moment)] or None


@compiled_query
def removed_teams(*, challenge: int, moment: datetime) -> QuerySet[Removal, tuple[int]]:
    removed = Removal.objects.filter(team__challenge=challenge, removed_at__lte=moment).order_by()
    return removed.filter(Q(returned_at=None) | Q(returned_at__gt=moment)).values_list("team")


def removals_of(phase: int) -> dict[int, list[Window]]:
    """Return the periods in which teams were excluded from a phase's leaderboards, earliest first, keyed by team id."""
    found: dict[int, list[Window]] = {}
    rows = Removal.objects.filter(team__challenge__phases=phase).order_by("removed_at")
    for team, removed_at, returned_at in rows.values_list("team", "removed_at", "returned_at"):
        found.setdefault(team, []).append((removed_at, returned_at))
    return found


def outside(since: datetime, until: datetime | None, removed: list[Window]) -> Iterator[Window]:
    """Yield the parts of a period that are outside the periods `removed`, which must be in chronological order."""
    start: datetime | None = since
    for removed_at, returned_at in removed:
        if start is not None and start < removed_at and (until is None or start < until):
            yield start, removed_at if until is None else min(removed_at, until)
        start = None if start is None or returned_at is None else max(start, returned_at)
    if start is not None and (until is None or start < until):
        yield start, until
