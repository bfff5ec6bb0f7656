"""Reads a page of a leaderboard as a given viewer may see it, now or at an earlier time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import QuerySet

from evaluator import ranking
from evaluator.digits import Interval
from server.challenges.models import Phase
from server.clock import database_now, utc_text
from server.compiled_queries import compiled_query
from server.errors import Refused
from server.leaderboards import compared, entry_queries, past_counts
from server.leaderboards.compared import Gain, RankInterval
from server.leaderboards.models import Board, BoardTerms, Entry, EntryQuerySet
from server.leaderboards.past_facts import past_fact
from server.leaderboards.ranking import Earlier
from server.leaderboards.reading import boards_read_with
from server.leaderboards.removals import removed_by
from server.leaderboards.services.terms import terms_at
from server.submissions.feedback import ScoreAccess, score_access

PAGE_ROWS = 100
ROWS_AT_ONCE = 500


class BoardRow(NamedTuple):
    """The row of a team or baseline on a leaderboard. A baseline has no rank.

    This is a named tuple, because creating the rows of a page as frozen dataclasses would take as long as reading them
    from the database.
    """

    rank: int | None
    team: str
    team_id: int
    score: float
    interval: Interval | None
    scores: dict[str, float | None]
    entries: int
    submitted_at: datetime
    baseline: bool
    evaluation_id: int | None  # id of the evaluation that produced the scores; None if it has been removed
    tied: bool | None = None  # whether the team is in the tie group of the team above; None if not compared
    # whether the page connects this row to the row above with a line, because both are in a tie group
    joined: bool = False
    rank_interval: RankInterval | None = None  # the ranks that the team could have; None if they have not been computed
    earlier: Earlier | None = None  # the team's entry a week ago; None if not compared (see `earlier_ranks`)
    gain: Gain | None = None  # the confidence interval for the change in score over the past week; None if unknown
    public_rank: int | None = None  # the team's rank on the public leaderboard; set only on a final private leaderboard


@dataclass(frozen=True)
class ShownBoard:
    """The leaderboard of one split at the time `at`, as a given viewer may see it.

    `past` equals `at` for a time in the past; otherwise it is None. `kept` is the stored leaderboard; it is None before
    the first entry. `is_frozen` is true if the viewer may not see how the leaderboard has changed since it was frozen.
    `without` contains the teams that were removed between the freeze and the requested time; None if there are none.
    """

    phase: Phase
    split: str
    signature: str
    now: datetime
    at: datetime
    past: datetime | None
    access: ScoreAccess
    kept: Board | None
    reconstructed: bool = False
    is_frozen: bool = False
    without: list[int] | None = None

    @property
    def entries(self) -> EntryQuerySet:
        """The entries of this leaderboard at the time `past`, or the current entries if `past` is None."""
        return entry_queries.entries_of(self.kept.pk, self.past, self.without) if self.kept else Entry.objects.none()

    @cached_property
    def size(self) -> tuple[int, int]:
        """The number of all entries, and the number of entries that are not baselines."""
        if self.kept is None:
            return 0, 0
        if self.past is None:
            return self.kept.listed, self.kept.ranked
        return past_fact("size", self, lambda: self.read(entry_queries.sizes)[0])

    @property
    def count(self) -> int:
        return self.size[0]

    @property
    def teams(self) -> int:
        return self.size[1]

    def page(self, start: int, stop: int) -> list[BoardRow]:
        """Return the leaderboard rows with indexes from `start` up to, but not including, `stop`."""
        rows = range(max(start, 0), stop)  # A paginator passes -1 as `start` if the page is empty.
        found = self.read(entry_queries.listed, rows=rows, with_baselines=True)
        return self._consecutive(found, at_top=rows.start == 0)

    def top(self, count: int) -> list[BoardRow]:
        """Return the rows of the first `count` teams on the leaderboard. Baselines are left out."""
        return self._consecutive(self.read(entry_queries.listed, rows=range(count), with_baselines=False), at_top=True)

    def row_named(self, team: str) -> BoardRow | None:
        """Return the row of the team with the given name, or None if there is no such row."""
        # No team name contains a null character, and PostgreSQL refuses queries that contain one.
        found = [] if "\0" in team else self.read(entry_queries.of_team_named, name=team)
        return next(iter(self._consecutive(found)), None)

    def row_of(self, team_id: int) -> BoardRow | None:
        """Return a team's row on the leaderboard, or None if the team has no row."""
        found = self.row_and_index_of(team_id)
        return found and found[0]

    def row_and_index_of(self, team_id: int) -> tuple[BoardRow, int] | None:
        """Return a team's row and its index on the leaderboard, or None if the team has no row."""
        own = self.read(entry_queries.of_team, team=team_id)
        if not own:
            return None
        index, _, better = self._numbers_above(own[0])
        (row,) = self.rows_of(own, [None if own[0].is_baseline else better + 1])
        return row, index

    def chunks(self) -> Iterator[list[BoardRow]]:
        """Yield all rows in chunks. All chunks show the same state, even if the leaderboard changes meanwhile."""
        lines = list(self.entries.in_order().values_list("pk", "score", "is_baseline"))
        ranks = ranking.ranks([(score, baseline) for _, score, baseline in lines])
        for start in range(0, len(lines), ROWS_AT_ONCE):
            keys = [key for key, _, _ in lines[start : start + ROWS_AT_ONCE]]
            yield self.rows_of(self.with_keys(keys), ranks[start : start + ROWS_AT_ONCE])

    @property
    def rows(self) -> list[BoardRow]:
        """All rows of the leaderboard. If it is large, read the rows in pages or chunks instead."""
        return [row for chunk in self.chunks() for row in chunk]

    def with_keys(self, keys: list[int]) -> list[Any]:
        """Return the entries with the given primary keys in leaderboard order, with all columns that pages display."""
        return entry_queries.with_keys(at=self.past, keys=keys)

    def read(self, query: Callable[..., list[Any]], **arguments: Any) -> list[Any]:
        return query(board=self.kept.pk, at=self.past, without=self.without, **arguments) if self.kept else []

    def _numbers_above(self, entry: Any) -> tuple[int, int, int]:
        """Return three counts for an entry: entries above it, teams above it, and teams with a higher score."""
        where = {"score": entry.score, "submitted_at": entry.submitted_at, "team": entry.team_id}
        return next(iter(self.read(entry_queries.numbers_above, **where)), (0, 0, 0))

    def _consecutive(self, entries: Sequence[Any], *, at_top: bool = False) -> list[BoardRow]:
        """Return the rows of consecutive entries.

        Ranks are derived from the number of teams above the first team in `entries`. If `at_top` is true, this number
        is known to be 0, so the teams above are not counted.
        """
        first = None if at_top else next((entry for entry in entries if not entry.is_baseline), None)
        _, before, better = self._numbers_above(first) if first else (0, 0, 0)
        lines = [(entry.score, entry.is_baseline) for entry in entries]
        return self.rows_of(entries, ranking.ranks(lines, better=better, before=before))

    def rows_of(
        self, entries: Sequence[Any], ranks: Sequence[int | None], *, consecutive: bool = True
    ) -> list[BoardRow]:
        """Return the rows of entries with the given ranks. Past or non-consecutive entries have no tie groups."""
        metrics = _all_metrics([entry.evaluation_id for entry in entries if entry.evaluation_id], self.split)
        teams = [entry.team_id for entry in entries]
        counts: dict[int, int] = {}
        if self.past:
            counts = past_counts.scored_until(self.phase, teams, self.past)
        ties = compared.ties(entries) if consecutive and not self.past else [None] * len(entries)
        return [
            BoardRow(
                rank=rank,
                team=entry.team_name,
                team_id=entry.team_id,
                score=self.access.rounded(entry.score),
                interval=self.access.interval(entry.low, entry.high),
                scores={
                    name: self.access.number(value) for name, value in metrics.get(entry.evaluation_id, {}).items()
                },
                entries=counts.get(entry.team_id, 1) if self.past else entry.submissions,
                submitted_at=entry.submitted_at,
                baseline=entry.is_baseline,
                evaluation_id=entry.evaluation_id,
                tied=None if entry.is_baseline else tie,
                joined=bool(tie),
                rank_interval=None if self.past else compared.rank_interval(entry, rank),
                gain=None if self.past else compared.gain(entry, self.access),
            )
            for entry, rank, tie in zip(entries, ranks, ties, strict=True)
        ]


def board(phase: Phase, *, split: str, at: datetime | None = None, viewer: Any) -> ShownBoard:
    """Return the leaderboard of one split, as it is now or as it was shown at an earlier time.

    Raises Refused if the viewer may not see this split yet.
    """
    now = database_now()
    return board_seen(phase, split=split, at=at, access=score_access(phase, viewer=viewer, now=now), now=now)


def board_seen(
    phase: Phase, *, split: str, at: datetime | None = None, access: ScoreAccess, now: datetime
) -> ShownBoard:
    """Return the leaderboard of one split for a viewer whose access is already known; see `board`."""
    if split not in access.splits:
        raise Refused("forbidden", _closed_until(phase, split))
    requested, is_frozen = min(at or now, now), hides_changes(phase, split=split, access=access, now=now)
    at = min(requested, phase.freeze_at) if is_frozen and phase.freeze_at else requested
    if at >= now:
        kept = kept_board(phase, split=split, ladder=access.ladder, signature=phase.signature)
        return ShownBoard(phase, split, phase.signature, now, now, None, access, kept)
    # The freeze may have been rescheduled since the requested time, so the terms recorded at that time are used.
    seen = terms_at(phase, requested) if requested < now else None
    if seen and (frozen := frozen_then(phase, seen, split=split, access=access, at=requested)):
        at = min(at, frozen)
    terms = seen if at == requested else terms_at(phase, at)
    if terms is None:
        return ShownBoard(phase, split, "", now, at, at, access, None, is_frozen=is_frozen)
    then = access_then(access, terms, is_over=phase.shows_private(at))
    kept = kept_board(phase, split=split, ladder=then.ladder, signature=terms.signature)
    without = removed_by(phase, requested) if at < requested else None
    return ShownBoard(phase, split, terms.signature, now, at, at, then, kept, terms.reconstructed, is_frozen, without)


def hides_changes(phase: Phase, *, split: str, access: ScoreAccess, now: datetime) -> bool:
    """Return whether the leaderboard is frozen and the viewer may not see changes made after the freeze.

    Organizers always see the current leaderboard.
    """
    return split == "public" and not access.exact_ends and phase.is_frozen(now)


def frozen_then(phase: Phase, terms: BoardTerms, *, split: str, access: ScoreAccess, at: datetime) -> datetime | None:
    """Return the time of the freeze if the leaderboard was frozen for the viewer at time `at`, otherwise None."""
    is_frozen = terms.freeze_at is not None and terms.freeze_at < at and not phase.shows_private(at)
    return terms.freeze_at if is_frozen and split == "public" and not access.exact_ends else None


def access_then(access: ScoreAccess, terms: BoardTerms, *, is_over: bool) -> ScoreAccess:
    """Return what the viewer may see of the scores on a leaderboard from an earlier time.

    Organizers see as much as on the current leaderboard. For participants, ladder feedback (only clear improvements are
    shown) applies if it applies now or applied then, and scores have the lower of the two numbers of decimals.
    """
    if access.exact_ends:  # Only organizers and operators see the exact endpoints of confidence intervals.
        return access
    decimals = [number for number in (access.decimals, terms.decimals) if number is not None]
    return replace(access, ladder=access.ladder or (terms.ladder and not is_over), decimals=min(decimals, default=None))


def kept_board(phase: Phase, *, split: str, ladder: bool, signature: str) -> Board | None:
    """Return the database row of a leaderboard, or None before its first entry."""
    asked = {"kind": kind_of(split, ladder=ladder), "signature": signature}
    found = boards_read_with(phase, **asked) if signature == phase.signature else None
    return next(iter(boards_of_kind(phase=phase.pk, **asked) if found is None else found), None)


@compiled_query
def boards_of_kind(*, phase: int, kind: str, signature: str) -> QuerySet[Board]:
    return Board.objects.filter(phase=phase, kind=kind, signature=signature)


def kind_of(split: str, *, ladder: bool) -> str:
    return Board.Kind.PUBLISHED if ladder and split == "public" else Board.Kind(split)


def all_ranks(phase: Phase, *, split: str, signature: str) -> dict[int, tuple[str, int | None, float]]:
    """Return (name, rank, score) of each current entry with the given signature, keyed by team id, best first.

    A signature names the track, its parameters, the ground truth and the evaluator version that produced a score.
    """
    entries = Entry.objects.present().filter(board__phase=phase, board__kind=split, board__signature=signature)
    lines = list(entries.in_order().values_list("team", "team__name", "score", "is_baseline"))
    ranks = ranking.ranks([(score, baseline) for _, _, score, baseline in lines])
    return {team: (name, rank, score) for (team, name, score, _), rank in zip(lines, ranks, strict=True)}


def _closed_until(phase: Phase, split: str) -> str:
    if shown := phase.shown_from:
        when = f"when the phase is over, at {utc_text(shown)}" if shown == phase.ending else f"at {utc_text(shown)}"
    elif phase.reveal == phase.MANUAL:
        when = "when the organizers reveal it, after the end of the phase"
    else:
        when = "when the organizers have closed the phase"
    name = "leaderboard of all images" if split == "all" else f"{split} leaderboard"
    return f"The {name} opens {when}. Until then, see the public leaderboard."


def _all_metrics(evaluations: list[int], split: str) -> dict[int, dict[str, float | None]]:
    metrics: dict[int, dict[str, float | None]] = {}
    for evaluation, metric, value in entry_queries.scores_of(evaluations=evaluations, split=split):
        metrics.setdefault(evaluation, {})[metric] = value
    return metrics
