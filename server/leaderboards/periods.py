"""Reconstructs the scores that a leaderboard showed over time, across rescorings and changes of feedback settings."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from server.challenges.models import Phase
from server.clock import whole_millisecond
from server.leaderboards.models import Board, BoardTerms, Entry
from server.leaderboards.queries import access_then, frozen_then, hides_changes, kind_of
from server.leaderboards.removals import outside, removals_of
from server.submissions.feedback import ScoreAccess


@dataclass(frozen=True, slots=True)
class Period:
    """A period during which a leaderboard showed the entries of one `Board` row.

    A phase can have several `Board` rows for one split, because rescorings and ladder feedback add rows. Ladder
    feedback hides scores that are not a clear improvement. `access` defines which scores the viewer may see. `until` is
    None for the current period. `board` is None if no such row exists yet. If the leaderboard was frozen
    during the period, it showed the entries that were valid at the time `frozen`.
    """

    since: datetime
    until: datetime | None
    board: Board | None
    access: ScoreAccess
    frozen: datetime | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A score that a leaderboard showed for a team from `since` until `until` (None if it is still shown)."""

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
    """Return the periods of a leaderboard in chronological order, following the same rules as `queries.board_seen`."""
    terms = list(BoardTerms.objects.filter(phase=phase, since__lte=now).order_by("since", "pk"))
    boards = {(board.kind, board.signature): board for board in Board.objects.filter(phase=phase)}
    found: list[Period] = []
    for since in turning_points(phase, terms, now):
        moment = since
        if phase.freeze_at and hides_changes(phase, split=split, access=access, now=now):
            moment = min(since, phase.freeze_at)
        moment = min(moment, frozen_then(phase, terms_in(terms, since), split=split, access=access, at=since) or moment)
        then, frozen = terms_in(terms, moment), moment if moment < since else None
        seen = access_then(access, then, is_over=phase.shows_private(moment))
        board = boards.get((kind_of(split, ladder=seen.ladder), then.signature))
        if found and (found[-1].board, found[-1].access, found[-1].frozen) == (board, seen, frozen):
            continue
        found[-1:] = [*(replace(last, until=since) for last in found[-1:]), Period(since, None, board, seen, frozen)]
    return found


def terms_in(terms: Sequence[BoardTerms], moment: datetime) -> BoardTerms:
    """Return the leaderboard terms (evaluation signature and feedback settings) that were in effect at a time.

    For a time before the first terms, return the first terms.
    """
    return terms[max(0, bisect_right(terms, moment, key=lambda one: one.since) - 1)]


def turning_points(phase: Phase, terms: Sequence[BoardTerms], now: datetime) -> list[datetime]:
    """Return the times at which the terms changed, the leaderboard froze, or the private scores were revealed.

    The terms are the feedback settings and the evaluation signature, which names the track, its parameters, the ground
    truth and the evaluator version. Revealing the private scores ends ladder feedback and the freeze.
    """
    points = {one.since for one in terms}
    later = {after(one.freeze_at) for one in terms if one.freeze_at}
    if phase.shown_from is not None and phase.shows_private(now):
        later.add(after(phase.shown_from))
    points |= {point for first in terms[:1] for point in later if first.since < point <= now}
    return sorted(points)


def after(moment: datetime) -> datetime:
    """Return the first time after `moment` on a clock with a resolution of one millisecond."""
    return whole_millisecond(moment) + timedelta(milliseconds=1)


def spans(shown: Sequence[Period], *, teams: Collection[int] | None = None) -> Iterator[Span]:
    """Yield the shown scores of the given teams, or of all teams, in no particular order."""
    boards = {period.board.pk for period in shown if period.board}
    # If `teams` is given, the query does not filter by leaderboard, because SQLite might use a slower index for that.
    # Entries of other leaderboards are ignored below.
    entries = Entry.objects.filter(board__in=boards) if teams is None else Entry.objects.filter(team__in=teams)
    rows: dict[int, list[tuple[int, bool, float, datetime, datetime | None]]] = {}
    columns = ("team", "is_baseline", "score", "valid_from", "valid_until")
    for board, *row in entries.order_by("pk").values_list("board", *columns):
        rows.setdefault(board, []).append((row[0], row[1], row[2], row[3], row[4]))
    frozen = next((period.board.phase_id for period in shown if period.board and period.frozen), None)
    removed = removals_of(frozen) if frozen else {}
    for period in shown:
        for team, is_baseline, score, valid_from, valid_until in rows.get(period.board.pk, []) if period.board else []:
            if period.frozen is None:
                parts = [(max(valid_from, period.since), earlier_end(valid_until, period.until))]
            elif valid_from <= period.frozen and (valid_until is None or valid_until > period.frozen):
                parts = list(outside(period.since, period.until, removed.get(team, [])))
            else:
                continue
            for since, until in parts:
                if until is None or since < until:
                    yield Span(team, is_baseline, score, since, until, period.access)


def earlier_end(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the earlier of two end times. None means no end, which is later than any time."""
    return min(one, other) if one and other else one or other
