"""Adds earlier ranks to the rows of a leaderboard.

These are the ranks from a week ago or, once the phase is over, the public ranks.
"""

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple, cast

from django.core.cache import caches

from evaluator import ranking
from server.challenges.models import Phase
from server.clock import midnight
from server.leaderboards.models import Board
from server.leaderboards.queries import BoardRow, ShownBoard, board_seen, kept_board
from server.leaderboards.ranking import Earlier
from server.submissions.feedback import ScoreAccess

WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class RankTable:
    """The rank and score of every team on a leaderboard, sorted by team id.

    Arrays are used to save memory, because there can be many teams.
    """

    signature: str
    teams: "array[int]"  # the ids of the teams, in ascending order
    ranks: "array[int]"
    scores: "array[float]"
    evaluations: "array[int]"  # the id of each team's evaluation; 0 if the evaluation has since been removed

    def of(self, team_id: int) -> Earlier:
        index = bisect_left(self.teams, team_id)
        if self.teams[index : index + 1] != array("q", [team_id]):
            return Earlier()
        return Earlier(self.ranks[index], self.scores[index], self.evaluations[index] or None)


def with_changes(board: ShownBoard, rows: Sequence[BoardRow]) -> list[BoardRow]:
    """Add the team's entry from a week ago to each row or, on a private leaderboard, the team's public rank.

    The rows of baselines, of past leaderboards, and of private leaderboards that participants cannot see yet are
    returned unchanged. The rows of a public leaderboard are also unchanged under ladder feedback (which hides scores
    that are not a clear improvement), and if no team had an entry a week ago.
    """
    since, public = compared_since(board), public_counterpart(board)
    if since is not None and (earlier := week_ago(board, since)).teams:
        found = [earlier.of(row.team_id) for row in rows]
        if earlier.signature != board.signature:
            found = [Earlier(one.rank) for one in found]
        return [row if row.baseline else compared_with(row, one) for row, one in zip(rows, found, strict=True)]
    if public is not None:
        ranks = public_ranks(board, public)
        return [row if row.baseline else row._replace(public_rank=ranks.of(row.team_id).rank) for row in rows]
    return [*rows]


def compared_with(row: BoardRow, earlier: Earlier) -> BoardRow:
    """Add the team's entry from a week ago to a row.

    The stored score difference is removed if it was computed from a different earlier evaluation.
    """
    is_known = row.gain is not None and row.gain.earlier == earlier.evaluation_id
    return row._replace(earlier=earlier, gain=row.gain if is_known else None)


def compared_since(board: ShownBoard) -> datetime | None:
    """Return the earlier time whose ranks are compared with the current ones: midnight (UTC) a week ago.

    Return None if this leaderboard does not show how ranks have changed.
    """
    if board.past is not None or board.access.ladder or board.split != "public":
        return None
    return midnight(board.now) - WEEK


def public_counterpart(board: ShownBoard) -> Board | None:
    """Return the public leaderboard of the same phase.

    Return None unless the given leaderboard is a current private leaderboard whose scores participants can see.
    """
    if board.past is not None or board.split != "private" or not board.phase.shows_private(board.now):
        return None
    return kept_board(board.phase, split="public", ladder=False, signature=board.signature)


def week_ago(board: ShownBoard, since: datetime) -> RankTable:
    """Return the ranks that were shown a week ago. These ranks never change, so they are cached."""
    access, shown = board.access, board.phase.shown_from
    key = f"week:{board.phase.pk}:{since.date()}:{shown and shown.timestamp()}:{access.decimals}:{access.exact_ends}"

    def compute() -> RankTable:
        return rank_table(board_seen(board.phase, split=board.split, at=since, access=access, now=board.now))

    return cast(RankTable, caches["history"].get_or_set(key, compute))


def public_ranks(board: ShownBoard, public: Board) -> RankTable:
    """Return the ranks of the public leaderboard, cached until the leaderboard changes."""
    key = f"public:{public.pk}:{public.version}"

    def compute() -> RankTable:
        return rank_table(replace(board, split="public", kept=public))

    return cast(RankTable, caches["history"].get_or_set(key, compute))


def rank_table(board: ShownBoard) -> RankTable:
    """Read the ranks of all teams on a leaderboard from the database. Baselines are left out."""
    lines = list(board.entries.filter(is_baseline=False).in_order().values_list("team", "score", "evaluation"))
    ranks = ranking.competition_ranks([score for _, score, _ in lines])
    rows = sorted(
        (team, rank, board.access.rounded(score), evaluation or 0)
        for (team, score, evaluation), rank in zip(lines, ranks, strict=True)
    )
    columns = zip(*rows, strict=True) if rows else ((), (), (), ())
    teams, ranks_by_team, scores, evaluations = columns
    return RankTable(
        board.signature, array("q", teams), array("q", ranks_by_team), array("d", scores), array("q", evaluations)
    )


class Scored(NamedTuple):
    """The id of an evaluation, and its headline score."""

    evaluation: int
    score: float


def scored_week_ago(phase: Phase, *, now: datetime) -> dict[int, Scored]:
    """Return the evaluation that each team had on the public leaderboard a week ago, keyed by team id.

    The result is empty if those scores cannot be compared with the current ones, because the phase has ladder feedback
    (which hides scores that are not a clear improvement) or because they were computed with another ground truth,
    evaluator version or parameters.
    """
    access = ScoreAccess(frozenset({"public"}), phase.feedback_decimals, False, phase.has_ladder(now))
    board = board_seen(phase, split="public", access=access, now=now)
    since = compared_since(board)
    if since is None:
        return {}
    then = board_seen(phase, split="public", at=since, access=access, now=now)
    if then.signature != phase.signature:
        return {}
    teams = then.entries.filter(is_baseline=False, evaluation__isnull=False)
    entries = teams.values_list("team", "evaluation", "score")
    return {team: Scored(evaluation, score) for team, evaluation, score in entries if evaluation}
