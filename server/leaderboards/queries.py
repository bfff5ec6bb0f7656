"""Leaderboards as one person may see them, at present or at an earlier time. A page reads only its own entries."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from evaluator.digits import Interval
from server.challenges.models import Phase
from server.clock import database_now
from server.errors import Refused
from server.leaderboards import ranking
from server.leaderboards.models import Board, BoardTerms, Entry, EntryQuerySet
from server.leaderboards.services.terms import terms_at
from server.submissions.feedback import ScoreAccess, score_access
from server.submissions.models import Score, Status

ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A team's entry on a leaderboard, or a baseline's, which has no rank."""

    rank: int | None
    team: str
    team_id: int
    score: float
    interval: Interval | None
    scores: dict[str, float | None]
    entries: int
    submitted_at: datetime
    baseline: bool
    submission_id: UUID | None  # None: it was removed since
    evaluation_id: int | None
    tied: bool | None = None  # whether it is in the tie group of the team above; None: not tested (see `ties`)
    joined: bool = False  # whether the line of a tie group connects it to the row above


@dataclass(frozen=True)
class ShownBoard:
    """The leaderboard of one split as one person may see it, at the time `at`.

    `past` is the same time if it is earlier than now, otherwise None. `kept` is None before the first entry.
    """

    phase: Phase
    split: str
    signature: str
    at: datetime
    past: datetime | None
    access: ScoreAccess
    kept: Board | None
    reconstructed: bool = False

    @property
    def entries(self) -> EntryQuerySet:
        """The entries of this leaderboard at its time."""
        entries = Entry.objects.filter(board=self.kept) if self.kept else Entry.objects.none()
        return entries.present() if self.past is None else entries.at(self.past)

    @cached_property
    def size(self) -> tuple[int, int]:
        """The number of entries with and without baselines."""
        if self.kept is None:
            return 0, 0
        if self.past is None:
            return self.kept.listed, self.kept.ranked
        counts = self.entries.aggregate(listed=Count("pk"), ranked=Count("pk", filter=Q(is_baseline=False)))
        return counts["listed"], counts["ranked"]

    @property
    def count(self) -> int:
        return self.size[0]

    @property
    def teams(self) -> int:
        return self.size[1]

    def page(self, start: int, stop: int) -> list[BoardRow]:
        """Return the rows from `start` to before `stop`."""
        return self._consecutive(list(self._named()[start:stop]), at_top=start == 0)

    def top(self, count: int) -> list[BoardRow]:
        """Return the first rows of teams, without baselines."""
        return self._consecutive(list(self._named().filter(is_baseline=False)[:count]), at_top=True)

    def page_to_next_team(self, start: int, stop: int) -> list[BoardRow]:
        """Return the rows from `start` to before `stop`; if they end with a baseline, the next team follows."""
        page = list(self._named()[start:stop])
        ends_with_baseline = bool(page) and page[-1].is_baseline
        below = list(self._named().filter(is_baseline=False).after(page[-1])[:1]) if ends_with_baseline else []
        return self._consecutive([*page, *below], at_top=start == 0)

    def row_named(self, team: str) -> BoardRow | None:
        """Return the row of the team with this name; None if it has none."""
        return next(iter(self._consecutive(list(self._named().filter(team__name=team)))), None)

    def row_of(self, team_id: int | None) -> BoardRow | None:
        """Return a team's row; None if it has none."""
        return next(iter(self._consecutive(list(self._named().filter(team=team_id)))), None)

    def index_of(self, team_id: int | None) -> int | None:
        """Return the index of a team's row; None if it has none."""
        own = self.entries.filter(team=team_id).first()
        return self.entries.before(own).count() if own else None

    def chunks(self) -> Iterator[list[BoardRow]]:
        """Yield all rows, some at a time. All are of the same moment, however slowly they are read."""
        lines = list(self.entries.in_order().values_list("pk", "score", "is_baseline"))
        ranks = ranking.ranks([(score, baseline) for _, score, baseline in lines])
        for start in range(0, len(lines), ROWS_AT_ONCE):
            keys = [key for key, _, _ in lines[start : start + ROWS_AT_ONCE]]
            entries = named(Entry.objects.filter(pk__in=keys))
            yield self._rows(list(entries), ranks[start : start + ROWS_AT_ONCE])

    @property
    def rows(self) -> list[BoardRow]:
        """All rows. For a large leaderboard, read pages or chunks instead."""
        return [row for chunk in self.chunks() for row in chunk]

    def _named(self) -> EntryQuerySet:
        return named(self.entries)

    def _consecutive(self, entries: Sequence[Any], *, at_top: bool = False) -> list[BoardRow]:
        """Return the rows of consecutive entries, with the rank of the first one counted unless they are at the top."""
        better = before = 0
        if first := None if at_top else next((entry for entry in entries if not entry.is_baseline), None):
            above = self.entries.filter(is_baseline=False).before(first)
            counts = above.aggregate(before=Count("pk"), better=Count("pk", filter=Q(score__gt=first.score)))
            better, before = counts["better"], counts["before"]
        lines = [(entry.score, entry.is_baseline) for entry in entries]
        return self._rows(entries, ranking.ranks(lines, better=better, before=before))

    def _rows(self, entries: Sequence[Any], ranks: Sequence[int | None]) -> list[BoardRow]:
        metrics = _all_metrics([entry.evaluation_id for entry in entries if entry.evaluation_id], self.split)
        counts = self._submissions_then([entry.team_id for entry in entries]) if self.past else {}
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
                submission_id=entry.submission_id,
                evaluation_id=entry.evaluation_id,
            )
            for entry, rank in zip(entries, ranks, strict=True)
        ]

    def _submissions_then(self, teams: list[int]) -> dict[int, int]:
        """Return how many scored submissions teams had at the time of this leaderboard."""
        scores = Score.objects.filter(
            split=self.split,
            metric=self.phase.declared_track.headline,
            value__isnull=False,
            evaluation__signature=self.signature,
            evaluation__created_at__lte=self.past,
            evaluation__submission__phase=self.phase,
            evaluation__submission__team__in=teams,
            evaluation__submission__status=Status.SCORED,
        )
        counts = scores.values_list("evaluation__submission__team").annotate(count=Count("pk"))
        return dict(counts.order_by())


def named(entries: EntryQuerySet) -> Any:
    """Return entries in order, with the team's present name and the submission."""
    return entries.in_order().annotate(team_name=F("team__name"), submission_id=F("evaluation__submission"))


def board(phase: Phase, *, split: str, at: datetime | None = None, viewer: Any) -> ShownBoard:
    """Return the leaderboard of one split, as it is or as it was served at a time.

    Raises Refused if the viewer may not see this split yet.
    """
    now = database_now()
    return board_seen(phase, split=split, at=at, access=score_access(phase, viewer=viewer, now=now), now=now)


def board_seen(
    phase: Phase, *, split: str, at: datetime | None = None, access: ScoreAccess, now: datetime
) -> ShownBoard:
    """Return the same as `board`, where it is known what the viewer may see."""
    if split not in access.splits:
        raise Refused("forbidden", _closed_until(phase, split))
    if at is None or at >= now:
        kept = kept_board(phase, split=split, ladder=access.ladder, signature=phase.signature)
        return ShownBoard(phase, split, phase.signature, at or now, None, access, kept)
    terms = terms_at(phase, at)
    if terms is None:
        return ShownBoard(phase, split, "", at, at, access, None)
    then = access_then(access, terms, is_over=phase.has_closed(at))
    kept = kept_board(phase, split=split, ladder=then.ladder, signature=terms.signature)
    return ShownBoard(phase, split, terms.signature, at, at, then, kept, terms.reconstructed)


def access_then(access: ScoreAccess, terms: BoardTerms, *, is_over: bool) -> ScoreAccess:
    """Return what participants could see at an earlier time, and no more than they may see now."""
    if access.exact_ends:  # an organizer
        return access
    decimals = [number for number in (access.decimals, terms.decimals) if number is not None]
    return replace(access, ladder=access.ladder or (terms.ladder and not is_over), decimals=min(decimals, default=None))


def kept_board(phase: Phase, *, split: str, ladder: bool, signature: str) -> Board | None:
    """Return the row of a leaderboard; None before its first entry."""
    return Board.objects.filter(phase=phase, kind=kind_of(split, ladder=ladder), signature=signature).first()


def has_private(phase: Phase) -> bool:
    """Tell whether the phase has or had entries on private images."""
    return Board.objects.filter(phase=phase, kind=Board.Kind.PRIVATE, version__gt=0).exists()


def kind_of(split: str, *, ladder: bool) -> str:
    return Board.Kind.PUBLISHED if ladder and split == "public" else Board.Kind(split)


def own_ranks(teams: Iterable[tuple[Phase, int]], *, now: datetime) -> dict[tuple[int, int], int]:
    """Return the ranks of some teams on the public leaderboards, by phase and team, with one query."""
    asked = Q(pk__in=[])
    for phase, team in teams:
        kind = kind_of("public", ladder=phase.has_ladder(now))
        asked |= Q(board__phase=phase, board__kind=kind, board__signature=phase.signature, team=team)
    found = with_better(Entry.objects.present().filter(asked, is_baseline=False))
    return {(phase, team): better + 1 for phase, team, better in found.values_list("board__phase", "team", "better")}


def with_better(entries: EntryQuerySet) -> Any:
    """Annotate present entries with `better`, the number of teams with a higher score. They are counted by index."""
    above = Entry.objects.present().filter(board=OuterRef("board"), is_baseline=False, score__gt=OuterRef("score"))
    counts = above.order_by().values("board").annotate(count=Count("pk")).values("count")
    return entries.annotate(better=Coalesce(Subquery(counts), 0))


def all_ranks(phase: Phase, *, split: str, signature: str) -> dict[str, tuple[int | None, float]]:
    """Return rank and score of every present entry of a signature, by team name, in the order of the leaderboard."""
    entries = Entry.objects.present().filter(board__phase=phase, board__kind=split, board__signature=signature)
    lines = list(entries.in_order().values_list("team__name", "score", "is_baseline"))
    ranks = ranking.ranks([(score, baseline) for _, score, baseline in lines])
    return {team: (rank, score) for (team, score, _), rank in zip(lines, ranks, strict=True)}


def _closed_until(phase: Phase, split: str) -> str:
    when = f"is over, at {phase.closing:%Y-%m-%d %H:%M} UTC" if phase.closing else "has been closed by its organizers"
    name = "leaderboard of all images" if split == "all" else f"{split} leaderboard"
    return f"The {name} opens when the phase {when}. Until then, read the public one."


def _all_metrics(evaluations: list[int], split: str) -> dict[int, dict[str, float | None]]:
    metrics: dict[int, dict[str, float | None]] = {}
    scores = Score.objects.filter(evaluation__in=evaluations, split=split).order_by("pk")
    for evaluation, metric, value in scores.values_list("evaluation_id", "metric", "value"):
        metrics.setdefault(evaluation, {})[metric] = value
    return metrics
