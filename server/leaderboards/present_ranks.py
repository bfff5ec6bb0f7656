"""Computes the ranks of some teams on the current leaderboards, without reading whole leaderboards."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from server.challenges.models import Phase
from server.compiled_queries import compiled_query
from server.leaderboards.models import Entry, EntryQuerySet
from server.leaderboards.queries import board_seen, kind_of
from server.row_counts import ROW_COUNT
from server.submissions.feedback import ScoreAccess


def own_ranks(teams: Sequence[tuple[Phase, int]], *, now: datetime) -> dict[tuple[int, int], int]:
    """Return the ranks of some teams on the public leaderboards, keyed by the ids of phase and team.

    One query reads the ranks on all leaderboards that are not frozen. Each frozen leaderboard takes several more.
    """
    current = [(phase, team) for phase, team in teams if not phase.is_frozen(now)]
    ladders = [phase.pk for phase, _ in current if phase.has_ladder(now)]
    others = [phase.pk for phase, _ in current if phase.pk not in ladders]
    found = public_ranks(ladders=ladders, others=others, teams=[team for _, team in current]) if current else []
    ranks = {(phase, team): better + 1 for phase, team, better in found}
    for phase, team in teams:
        if phase.is_frozen(now) and (rank := frozen_rank(phase, team, now=now)):
            ranks[phase.pk, team] = rank
    return ranks


def frozen_rank(phase: Phase, team: int, *, now: datetime) -> int | None:
    """Return a team's rank on the frozen public leaderboard of a phase, or None if the team has no rank."""
    access = ScoreAccess(frozenset({"public"}), phase.feedback_decimals, False, phase.has_ladder(now))
    row = board_seen(phase, split="public", access=access, now=now).row_of(team)
    return row.rank if row else None


@compiled_query
def public_ranks(*, ladders: list[int], others: list[int], teams: list[int]) -> QuerySet[Any, Any]:
    """Return a row (phase, team, number of teams with a higher score) for each public entry of the given teams."""
    published = Q(board__kind=kind_of("public", ladder=True), board__phase__in=ladders)
    public = Q(board__kind=kind_of("public", ladder=False), board__phase__in=others)
    entries = Entry.objects.present().filter(published | public, team__in=teams, is_baseline=False)
    of_phase = entries.filter(board__signature=F("board__phase__signature"))
    return with_better(of_phase).values_list("board__phase", "team", "better")


def with_better(entries: EntryQuerySet, at: datetime | None = None, without: list[int] | None = None) -> Any:
    """Annotate entries with `better`, the number of teams with a higher score.

    For current entries, an index speeds up the count. The teams in `without` are not counted, because they were removed
    after the leaderboard was frozen.
    """
    listed = Entry.objects.present() if at is None else Entry.objects.at(at)
    if without is not None:
        listed = listed.exclude(team__in=without)
    above = listed.filter(board=OuterRef("board"), is_baseline=False, score__gt=OuterRef("score"))
    return entries.annotate(better=Subquery(above.order_by().annotate(count=ROW_COUNT).values("count")))
