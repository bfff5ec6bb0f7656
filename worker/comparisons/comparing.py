"""Compares the entries of a leaderboard, and returns the entries whose stored comparison has to be updated."""

from collections.abc import Mapping
from datetime import datetime

from evaluator.metrics.rank_intervals import TOP, RankInterval
from server.clock import database_now, midnight
from server.leaderboards.models import ComparedEntry, Comparison
from server.leaderboards.services.comparisons import Found
from worker.comparisons.board_rows import RULES, BoardRows, read_rows
from worker.comparisons.gains import Gain, gains
from worker.comparisons.next_up import NextUp, next_up
from worker.comparisons.rank_sets import individual_intervals, top_intervals
from worker.comparisons.tie_groups import Tie, tie_groups

Kept = Mapping[int, ComparedEntry]


def compared(comparison: Comparison) -> Found:
    """Compare the current entries of a leaderboard, and return the entries whose stored comparison has to be updated.

    If the entries have not changed since the last comparison, only two things are computed: gains, which are score
    changes within a week, and missing individual rank intervals, which are confidence intervals for the ranks of
    individual teams.
    """
    rows, now = read_rows(comparison.board), database_now()
    stored: Kept = ComparedEntry.objects.in_bulk([line.key for line in rows.lines])
    kept = stored if comparison.content.startswith(RULES) else {}
    expected = {line.key: copy_of(kept.get(line.key), line.key) for line in rows.lines}
    if rows.content != comparison.content:
        write_ties(expected, tie_groups(rows, {key: Tie(one.compared_with, one.tied) for key, one in kept.items()}))
        write_next_up(
            expected, next_up(rows, {key: NextUp(one.next_up, one.next_up_tied) for key, one in kept.items()})
        )
        write_top(expected, rows, now)
    earlier = gains(comparison.board, rows, now=now, kept={key: gain_of(one) for key, one in kept.items()})
    write_gains(expected, earlier.found)
    due = due_teams(expected, rows)
    found = individual_intervals(rows, due)
    for team, interval in found.items():
        write_interval(expected[rows.teams[team].key], interval, now, is_individual=True)
    changed = [one for key, one in expected.items() if key not in stored or values_of(one) != values_of(stored[key])]
    is_complete = len(found) == len(due) and earlier.is_complete
    return Found(rows.content, midnight(now).date(), changed, is_complete=is_complete)


def copy_of(kept: ComparedEntry | None, key: int) -> ComparedEntry:
    if kept is None:
        return ComparedEntry(entry_id=key)
    return ComparedEntry(**{field.attname: getattr(kept, field.attname) for field in kept._meta.concrete_fields})


def values_of(one: ComparedEntry) -> tuple[object, ...]:
    """Return the results of comparing an entry with others as a tuple, without the time at which they were computed."""
    ranks = (one.rank_low, one.rank_high, one.is_individual)
    return (one.compared_with, one.tied, one.next_up, one.next_up_tied, *ranks, *gain_of(one))


def gain_of(one: ComparedEntry) -> Gain:
    return Gain(one.earlier, one.gain_low, one.gain_high)


def write_ties(expected: Kept, ties: Mapping[int, Tie]) -> None:
    for key, tie in ties.items():
        expected[key].compared_with, expected[key].tied = tie


def write_next_up(expected: Kept, found: Mapping[int, NextUp]) -> None:
    for key, one in expected.items():
        one.next_up, one.next_up_tied = found.get(key, NextUp())


def write_gains(expected: Kept, found: Mapping[int, Gain]) -> None:
    for key, one in expected.items():
        one.earlier, one.gain_low, one.gain_high = found.get(key, Gain())


def write_top(expected: Kept, rows: BoardRows, now: datetime) -> None:
    for line, interval in zip(rows.teams, top_intervals(rows), strict=False):
        write_interval(expected[line.key], interval, now, is_individual=False)


def write_interval(one: ComparedEntry, interval: RankInterval | None, now: datetime, *, is_individual: bool) -> None:
    """Set an entry's rank interval. Update `ranked_at` only if the interval or its kind (individual or not) changes."""
    low, high = interval or (None, None)
    if (low, high, is_individual) != (one.rank_low, one.rank_high, one.is_individual):
        one.ranked_at = now if interval else None
    one.rank_low, one.rank_high, one.is_individual = low, high, is_individual


def due_teams(expected: Kept, rows: BoardRows) -> list[int]:
    """Return the indices of the teams below the first `TOP` teams that need a new individual rank interval.

    A team needs one if its entry is new, if it was among the first `TOP` teams at the last comparison, or if its rank
    is no longer within its interval.
    """
    return [team for team in range(TOP, len(rows.teams)) if rows.known[team] and is_due(expected, rows, team)]


def is_due(expected: Kept, rows: BoardRows, team: int) -> bool:
    one = expected[rows.teams[team].key]
    if not one.is_individual:
        return True
    return one.rank_low is not None and not one.rank_low <= rows.ranks[team] <= (one.rank_high or 0)
