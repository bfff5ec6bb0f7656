"""Finds the days (in UTC) on which a leaderboard changed."""

from collections.abc import Collection, Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import cast

from django.core.cache import caches
from django.db import connection

from server.challenges.models import Phase
from server.leaderboards.models import Board, Entry
from server.leaderboards.periods import Period, periods
from server.leaderboards.removals import removals_of
from server.leaderboards.validators import fingerprint
from server.submissions.feedback import ScoreAccess

# Each step of this recursive query uses an index to find the first change on a later day. The query therefore reads one
# row for each day with a change instead of the whole history.
CHANGES = """
WITH RECURSIVE changes(board_id, moment) AS (
    SELECT id, (SELECT {column} FROM {entries} WHERE board_id = boards.id AND {column} IS NOT NULL
                ORDER BY {column} LIMIT 1)
    FROM {boards} AS boards WHERE id IN ({places})
    UNION ALL
    SELECT board_id, (SELECT {column} FROM {entries} WHERE board_id = changes.board_id AND {column} >= {next_day}
                      ORDER BY {column} LIMIT 1)
    FROM changes WHERE moment IS NOT NULL
)
SELECT board_id, moment FROM changes WHERE moment IS NOT NULL
"""
NEXT_DAY = {
    "sqlite": "date(changes.moment, '+1 day')",
    "postgresql": "date_trunc('day', changes.moment, 'UTC') + interval '1 day'",
}


def event_days(phase: Phase, *, split: str, access: ScoreAccess, now: datetime) -> list[date]:
    """Return the days before today on which a leaderboard changed, in order.

    The list is cached for the rest of the day, because the history before today never changes.
    """
    key = fingerprint("days", phase.pk, phase.shown_from, phase.freeze_at, split, access, now.date())

    def compute() -> list[date]:
        days = days_of(periods(phase, split=split, access=access, now=now))
        return [day for day in days if day < now.date()]

    return cast(list[date], caches["history"].get_or_set(key, compute))


def days_of(shown: Sequence[Period]) -> list[date]:
    """Return the days on which a leaderboard changed during the periods in `shown`.

    In each period, the leaderboard showed the entries of one `Board` row. The result includes the days on which
    the leaderboard began to show the entries of another row, for example because a rescoring was applied.
    """
    changes = changes_of({period.board.pk for period in shown if period.board})

    def days_with_changes(period: Period) -> list[date]:
        """Return the days on which the entries of a period's `Board` row changed.

        While the leaderboard is frozen, only removals of teams change it.
        """
        if period.board is None:
            return []
        return changes.get(period.board.pk, []) if period.frozen is None else removal_days(period.board.phase_id)

    found: set[date] = set()
    for period in shown:
        until = period.until.date() if period.until else date.max
        found.update(day for day in days_with_changes(period) if period.since.date() <= day <= until)
    for before, after in pairwise(shown):
        turn = after.since.date()
        if any(first <= turn for one in (before, after) for first in days_with_changes(one)[:1]):
            found.add(turn)
    return sorted(found)


def removal_days(phase: int) -> list[date]:
    """Return the days on which any team was removed from the leaderboards or put back, in order."""
    moments = (moment for windows in removals_of(phase).values() for window in windows for moment in window)
    return sorted({moment.date() for moment in moments if moment is not None})


def changes_of(boards: Collection[int]) -> dict[int, list[date]]:
    """Return the days on which the entries of each leaderboard changed, in order, keyed by the leaderboard's id."""
    found: dict[int, set[date]] = {}
    names = {"entries": Entry._meta.db_table, "boards": Board._meta.db_table, "next_day": NEXT_DAY[connection.vendor]}
    for column in ("valid_from", "valid_until") if boards else ():
        with connection.cursor() as cursor:
            places = ", ".join(["%s"] * len(boards))
            cursor.execute(CHANGES.format(column=column, places=places, **names), [*boards])
            for board, moment in cursor.fetchall():
                # PostgreSQL returns the time as a datetime, and SQLite as a string. As text, both begin with the date.
                found.setdefault(board, set()).add(date.fromisoformat(str(moment)[:10]))
    return {board: sorted(days) for board, days in found.items()}
