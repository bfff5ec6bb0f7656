"""Tests whether the difference between each team's score and the next higher score could be due to chance."""

from collections.abc import Mapping
from typing import NamedTuple

from worker.comparisons.board_rows import BoardRows
from worker.comparisons.tie_groups import may_be_equal

READ_AT_ONCE = 200


class NextUp(NamedTuple):
    """The nearest entry with a higher score, and whether the two entries are tied (None if unknown)."""

    entry: int | None = None
    tied: bool | None = None


def next_up(rows: BoardRows, kept: Mapping[int, NextUp]) -> dict[int, NextUp]:
    """Return the nearest entry with a higher score for each team that has one, keyed by the team's entry.

    `kept` contains the results of the last comparison. Pairs that have been compared before are not compared again,
    because the scores of an entry never change.
    """
    found: dict[int, NextUp] = {}
    # The pairs of teams whose scores still have to be compared. The first team of a pair has the higher score.
    left: list[tuple[int, int]] = []
    for team in range(len(rows.teams)):
        # Find the last team with a higher score. There are `rank - 1` teams with higher scores. Indices start at 0, so
        # this team has the index `rank - 2`.
        above = rows.ranks[team] - 2 if rows.ranks[team] > 1 else None
        if above is None:
            continue
        key, before = rows.teams[team].key, kept.get(rows.teams[team].key, NextUp())
        found[key] = NextUp(rows.teams[above].key)
        if before.entry == found[key].entry and before.tied is not None:
            found[key] = before
        elif rows.known[above] and rows.known[team]:
            left.append((above, team))
    for start in range(0, len(left), READ_AT_ONCE):
        pairs = left[start : start + READ_AT_ONCE]
        for (_, team), tied in zip(pairs, tied_pairs(rows, pairs), strict=True):
            found[rows.teams[team].key] = found[rows.teams[team].key]._replace(tied=tied)
    return found


def tied_pairs(rows: BoardRows, pairs: list[tuple[int, int]]) -> list[bool | None]:
    """Return, for each pair of teams, whether the two are tied. All teams must have bootstrap replicates.

    The replicates of all pairs are read at once.
    """
    teams = sorted({team for pair in pairs for team in pair})
    replicates = dict(zip(teams, rows.replicates(teams), strict=True))
    return [may_be_equal(rows, above, team, replicates[above] - replicates[team]) for above, team in pairs]
