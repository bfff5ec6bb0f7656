"""Finds the tie groups of a leaderboard, using paired tests on the bootstrap replicates of two teams.

A tie group consists of teams with consecutive ranks whose scores do not differ significantly from that of the first
team in the group.
"""

from collections.abc import Mapping
from typing import NamedTuple

from evaluator.digits import published, sign_of
from evaluator.metrics.bootstrap import Numbers, paired_interval
from server.leaderboards import ranking
from worker.comparisons.board_rows import BoardRows

READ_AT_ONCE = 200


class Tie(NamedTuple):
    """The result of comparing an entry: the entry it was compared with, and whether the two are tied (None if unknown).

    An entry is compared with the first entry of the tie group directly above it. If the two are tied, the entry belongs
    to this group. Otherwise, the entry is the first of a new group, which may have no other entries.
    """

    compared_with: int | None = None
    tied: bool | None = False


class Vectors:
    """Reads the bootstrap replicates of teams in leaderboard order, always for the next `ahead` teams at once."""

    def __init__(self, rows: BoardRows, ahead: int) -> None:
        self.rows, self.ahead = rows, ahead
        self.held: dict[int, Numbers] = {}

    def of(self, team: int) -> Numbers:
        if team not in self.held:
            some = range(team, min(team + self.ahead, len(self.rows.teams)))
            known = [index for index in some if self.rows.known[index]]
            self.held = dict(zip(known, self.rows.replicates(known), strict=True))
        return self.held[team]


def tie_groups(rows: BoardRows, kept: Mapping[int, Tie]) -> dict[int, Tie]:
    """Return a Tie for each entry, keyed by entry. An entry belongs to the tie group above it if its `tied` is true.

    A tie group ends before the first team that is not tied with the first team of the group. `kept` contains the ties
    from the last comparison. They are reused for the same pairs of entries, because the scores of an entry never
    change.
    """
    firsts, others = Vectors(rows, 1), Vectors(rows, READ_AT_ONCE)

    def tied(first: int, team: int) -> bool | None:
        before = kept.get(rows.teams[team].key, Tie())
        is_known = before.compared_with == rows.teams[first].key and before.tied is not None
        return before.tied if is_known else are_tied(rows, first, team, firsts, others)

    found: dict[int, Tie] = {}
    first: int | None = None
    for line, is_tied in zip(rows.teams, ranking.in_tie_groups(range(len(rows.teams)), tied), strict=True):
        found[line.key] = Tie(first, is_tied)
        first = first if is_tied else line.key
    return through_baselines(rows, found)


def are_tied(rows: BoardRows, first: int, team: int, firsts: Vectors, others: Vectors) -> bool | None:
    """Return whether two teams are tied, or None if their bootstrap replicates cannot be compared.

    Teams are tied if their scores are equal, or if the published 95% interval of the difference contains zero.
    """
    if not (rows.known[first] and rows.known[team]):
        return None
    return may_be_equal(rows, first, team, firsts.of(first) - others.of(team))


def may_be_equal(rows: BoardRows, first: int, team: int, differences: Numbers) -> bool | None:
    """Return whether two teams are tied, given the differences between their replicates. None if all are undefined."""
    interval = paired_interval(differences, float(rows.scores[first] - rows.scores[team]))
    return None if interval is None else not sign_of(published(interval, decimals=rows.decimals))


def through_baselines(rows: BoardRows, found: dict[int, Tie]) -> dict[int, Tie]:
    """Add ties for the baselines, and return all ties.

    A baseline between two teams of a tie group is treated as part of the group. Otherwise, the line that marks the
    group on the leaderboard would have a gap.
    """
    below = Tie()
    for line in reversed(rows.lines):
        if line.is_baseline:
            found[line.key] = below if below.tied else Tie()
        else:
            below = found[line.key]
    return found
