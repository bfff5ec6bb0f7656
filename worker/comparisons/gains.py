"""Compares the current scores of teams with their scores one week ago."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from server.leaderboards.differences import difference_between, vectors_of
from server.leaderboards.earlier_ranks import Scored, scored_week_ago
from server.leaderboards.models import Board
from worker.comparisons.board_rows import BoardRows

# Maximum number of gains (changes in score over the past week) that are computed in one comparison of a leaderboard.
AT_ONCE = 500
READ_AT_ONCE = 100


class Gain(NamedTuple):
    """A team's change in score over a week: the evaluation shown a week ago, and a 95% interval for the change."""

    earlier: int | None = None
    low: float | None = None
    high: float | None = None


class Gains(NamedTuple):
    """The score gains of teams over the past week, keyed by the primary key of the team's entry.

    `is_complete` is false if some gains have not been computed yet.
    """

    found: dict[int, Gain]
    is_complete: bool


def gains(board: Board, rows: BoardRows, *, now: datetime, kept: Mapping[int, Gain]) -> Gains:
    """Return the score gains of the teams whose entries have changed in the last week, for public leaderboards only.

    `kept` contains the gains from the last comparison. They are not computed again, because the scores of an entry
    never change.
    """
    if board.kind != Board.Kind.PUBLIC:
        return Gains({}, is_complete=True)
    earlier = scored_week_ago(board.phase, now=now)
    changed = {
        line.key: (Scored(line.evaluation, line.score), earlier[line.team])
        for line in rows.teams
        if line.evaluation and line.team in earlier and earlier[line.team].evaluation != line.evaluation
    }
    found = {key: kept[key] for key, (_, old) in changed.items() if key in kept and kept[key].earlier == old.evaluation}
    left = [(key, *pair) for key, pair in changed.items() if key not in found]
    for start in range(0, min(len(left), AT_ONCE), READ_AT_ONCE):
        some = left[start : start + READ_AT_ONCE]
        vectors = vectors_of({one.evaluation for _, *pair in some for one in pair}, split=rows.split)
        for key, new, old in some:
            pair = vectors.get(new.evaluation), vectors.get(old.evaluation)
            ends = difference_between(*pair, new.score - old.score)
            found[key] = Gain(old.evaluation, *ends) if ends else Gain(old.evaluation)
    return Gains(found, is_complete=len(left) <= AT_ONCE)
