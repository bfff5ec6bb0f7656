"""Computes the ranks of some teams on the current leaderboards, without reading whole leaderboards."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from server.challenges.models import Phase
from server.compiled_queries import compiled_query
from server.leaderboards.models import Entry, EntryQuerySet
from server.leaderboards.queries import kind_of


def own_ranks(teams: Sequence[tuple[Phase, int]], *, now: datetime) -> dict[tuple[int, int], int]:
    """Return the ranks of some teams on the public leaderboards, by phase and team, with one query."""
    ladders = [phase.pk for phase, _ in teams if phase.has_ladder(now)]
    others = [phase.pk for phase, _ in teams if phase.pk not in ladders]
    found = public_ranks(ladders=ladders, others=others, teams=[team for _, team in teams]) if teams else []
    return {(phase, team): better + 1 for phase, team, better in found}


@compiled_query
def public_ranks(*, ladders: list[int], others: list[int], teams: list[int]) -> QuerySet[Any, Any]:
    """Return the phase and team of each entry on a public leaderboard, and how many teams have a higher score."""
    published = Q(board__kind=kind_of("public", ladder=True), board__phase__in=ladders)
    public = Q(board__kind=kind_of("public", ladder=False), board__phase__in=others)
    entries = Entry.objects.present().filter(published | public, team__in=teams, is_baseline=False)
    of_phase = entries.filter(board__signature=F("board__phase__signature"))
    return with_better(of_phase).values_list("board__phase", "team", "better")


def with_better(entries: EntryQuerySet) -> Any:
    """Annotate current entries with `better`, the number of teams with a higher score. An index speeds up the count."""
    above = Entry.objects.present().filter(board=OuterRef("board"), is_baseline=False, score__gt=OuterRef("score"))
    counts = above.order_by().values("board").annotate(count=Count("*")).values("count")
    return entries.annotate(better=Coalesce(Subquery(counts), 0))
