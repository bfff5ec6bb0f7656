"""Reconstructs when a leaderboard showed which scores, across rescorings and changes of feedback."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from server.challenges.models import Phase
from server.clock import whole_millisecond
from server.leaderboards.models import Board, BoardTerms, Entry
from server.leaderboards.queries import access_then, kind_of
from server.submissions.feedback import ScoreAccess


@dataclass(frozen=True, slots=True)
class Period:
    """A period in which a leaderboard showed the entries of one board, and the viewer's access to these entries.

    `until` is None for the current period. `board` is None before the board's first entry.
    """

    since: datetime
    until: datetime | None
    board: Board | None
    access: ScoreAccess


@dataclass(frozen=True, slots=True)
class Span:
    """A score that a leaderboard showed for a team from `since` until `until`, which is None for the current score."""

    team_id: int
    is_baseline: bool
    score: float
    since: datetime
    until: datetime | None
    access: ScoreAccess

    @property
    def shown_score(self) -> float:
        return self.access.rounded(self.score)


def periods(phase: Phase, *, split: str, access: ScoreAccess, now: datetime) -> list[Period]:
    """Return the periods of a leaderboard in chronological order, by the same rules as `queries.board_seen`."""
    terms = list(BoardTerms.objects.filter(phase=phase, since__lte=now).order_by("since", "pk"))
    boards = {(board.kind, board.signature): board for board in Board.objects.filter(phase=phase)}
    found: list[Period] = []
    for since in turning_points(phase, terms, now):
        then = terms[bisect_right(terms, since, key=lambda one: one.since) - 1]
        seen = access_then(access, then, is_over=phase.has_closed(since))
        board = boards.get((kind_of(split, ladder=seen.ladder), then.signature))
        if found and (found[-1].board, found[-1].access) == (board, seen):
            continue
        found[-1:] = [*(replace(last, until=since) for last in found[-1:]), Period(since, None, board, seen)]
    return found


def turning_points(phase: Phase, terms: Sequence[BoardTerms], now: datetime) -> list[datetime]:
    """Return the times at which the feedback settings changed, and the end of the phase, when ladder feedback ends."""
    points = {one.since for one in terms}
    if phase.closing is not None and phase.has_closed(now):
        over = whole_millisecond(phase.closing) + timedelta(milliseconds=1)
        points |= {over for first in terms[:1] if first.since < over}
    return sorted(points)


def spans(shown: Sequence[Period], *, teams: Collection[int] | None = None) -> Iterator[Span]:
    """Yield the shown scores of some teams, or of all, in no particular order. This takes one query."""
    boards = {period.board.pk for period in shown if period.board}
    # If `teams` is given, their entries on all leaderboards are read. With a condition on the leaderboard, SQLite
    # might choose a slower index.
    entries = Entry.objects.filter(board__in=boards) if teams is None else Entry.objects.filter(team__in=teams)
    rows: dict[int, list[tuple[int, bool, float, datetime, datetime | None]]] = {}
    columns = ("team", "is_baseline", "score", "valid_from", "valid_until")
    for board, *row in entries.order_by("pk").values_list("board", *columns):
        rows.setdefault(board, []).append((row[0], row[1], row[2], row[3], row[4]))
    for period in shown:
        for team, is_baseline, score, valid_from, valid_until in rows.get(period.board.pk, []) if period.board else []:
            since = max(valid_from, period.since)
            until = earlier_end(valid_until, period.until)
            if until is None or since < until:
                yield Span(team, is_baseline, score, since, until, period.access)


def earlier_end(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the earlier of two ends; None is later than any time."""
    return min(one, other) if one and other else one or other
