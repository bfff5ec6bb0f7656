"""Reads and writes leaderboard entries.

Plain SQL is used for speed, because entries are read and written whenever a score is recorded.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple

from server.challenges.models import Phase
from server.clock import now_expression, time_of
from server.leaderboards.models import Board
from server.sql import in_utc, marks, row_lock, select

Key = tuple[str, int]  # identifies a leaderboard entry: kind of leaderboard (such as "public") and team id


class Line(NamedTuple):
    """The content of a leaderboard entry without its number of submissions.

    If this content changes, a new version of the entry is created.
    """

    evaluation_id: int | None
    score: float
    low: float | None
    high: float | None
    submitted_at: datetime
    is_baseline: bool


class Kept(NamedTuple):
    """The current version of a stored leaderboard entry."""

    pk: int
    submissions: int
    valid_from: datetime
    line: Line


def board_ids(phase: Phase, *, signature: str, lock: str = "") -> dict[str, int]:
    """Return the ids of a phase's leaderboards for scores with the given evaluation signature, keyed by kind.

    A signature names the track, its parameters, the ground truth and the evaluator version. The kind is "public",
    "published", "private" or "all". The dict is empty before the first entry.
    """
    statement = "SELECT kind, id FROM leaderboards_board WHERE phase_id = %s AND signature = %s ORDER BY id"
    return dict(select(f"{statement} {lock}", (phase.pk, signature)))


def lock_boards(phase: Phase, *, signature: str) -> dict[str, int]:
    """Lock a phase's leaderboards for scores with the given evaluation signature, and return their ids by kind.

    A signature names the track, its parameters, the ground truth and the evaluator version. Leaderboards that do not
    exist yet are created.
    """
    locked = board_ids(phase, signature=signature, lock=row_lock())
    if len(locked) < len(Board.Kind):
        new = [Board(phase=phase, kind=kind, signature=signature) for kind in Board.Kind]
        Board.objects.bulk_create(new, ignore_conflicts=True)
        locked = board_ids(phase, signature=signature, lock=row_lock())
    return locked


def present(boards: Mapping[str, int], teams: Collection[int]) -> dict[Key, Kept]:
    """Return the current leaderboard entries of the given teams.

    `boards` maps the kind of each leaderboard, such as public, to its id.
    """
    kinds = {board: kind for kind, board in boards.items()}
    statement = f"""
        SELECT board_id, team_id, id, submissions, valid_from,
            evaluation_id, score, low, high, submitted_at, is_baseline
        FROM leaderboards_entry WHERE valid_until IS NULL AND board_id IN ({marks(kinds)}) AND team_id IN ({{}})
    """
    return {
        (kinds[board], team): Kept(pk, count, in_utc(since), Line(evaluation, score, low, high, in_utc(at), baseline))
        for board, team, pk, count, since, evaluation, score, low, high, at, baseline in select(statement, kinds, teams)
    }


def raise_versions(boards: Collection[int], *, listed: int, ranked: int) -> datetime:
    """Increment the version of each leaderboard, update its entry counts, and return the database's time.

    `listed` is added to the number of all entries, and `ranked` to the number of entries that are not baselines.
    """
    statement = f"""
        UPDATE leaderboards_board SET version = version + 1, listed = listed + %s, ranked = ranked + %s
        WHERE id IN ({{}}) RETURNING {now_expression()}
    """
    return max(time_of(now) for (now,) in select(statement, (listed, ranked), boards))
