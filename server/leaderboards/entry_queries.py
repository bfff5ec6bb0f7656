"""Queries for the entries of one leaderboard, either now (`at` is None) or at an earlier time."""

from datetime import datetime
from typing import Any

from django.db.models import Count, F, QuerySet

from server.compiled_queries import compiled_query
from server.leaderboards import compared
from server.leaderboards.models import Entry, EntryQuerySet
from server.row_counts import ROW_COUNT, rows_with
from server.submissions.models import Score, Status, Submission

# The columns of a leaderboard entry that a page displays. Reading whole model instances would take twice as long.
COLUMNS = (
    *("pk", "team_id", "is_baseline", "evaluation_id", "score", "low", "high"),
    *("submitted_at", "submissions"),
)


def entries_of(board: int, at: datetime | None, without: list[int] | None = None) -> EntryQuerySet:
    """Return the entries of a leaderboard, except those of the teams in `without`.

    These teams were removed after the leaderboard was frozen.
    """
    entries = Entry.objects.filter(board=board)
    entries = entries.present() if at is None else entries.at(at)
    return entries if without is None else entries.exclude(team__in=without)


def with_columns(entries: EntryQuerySet, at: datetime | None) -> Any:
    """Return entries in ranking order, with all columns that a page of the leaderboard displays, as named tuples.

    Entries as of an earlier time have no columns with comparisons to other entries.
    """
    related = {"team_name": F("team__name")} | ({} if at else compared.COLUMNS)
    return entries.in_order().annotate(**related).values_list(*COLUMNS, *related, named=True)


@compiled_query
def listed(
    *, board: int, at: datetime | None, without: list[int] | None, rows: range, with_baselines: bool
) -> QuerySet[Any, Any]:
    """Return the entries at a range of positions. For speed, only these entries are joined with other tables."""
    entries = entries_of(board, at, without)
    if not with_baselines:
        entries = entries.filter(is_baseline=False)
    keys = entries.in_order().values("pk")[rows.start : rows.stop]
    return with_columns(Entry.objects.filter(pk__in=keys), at)


@compiled_query
def of_team(*, board: int, at: datetime | None, without: list[int] | None, team: int) -> QuerySet[Any, Any]:
    return with_columns(entries_of(board, at, without).filter(team=team), at)


@compiled_query
def of_team_named(*, board: int, at: datetime | None, without: list[int] | None, name: str) -> QuerySet[Any, Any]:
    return with_columns(entries_of(board, at, without).filter(team__name=name), at)


@compiled_query
def with_keys(*, at: datetime | None, keys: list[int]) -> QuerySet[Any, Any]:
    return with_columns(Entry.objects.filter(pk__in=keys), at)


@compiled_query
def team_scores(*, board: int, at: datetime | None, without: list[int] | None) -> QuerySet[Any, Any]:
    """Return the scores of all teams on a leaderboard as rows with one column, in no particular order."""
    return entries_of(board, at, without).filter(is_baseline=False).order_by().values_list("score")


@compiled_query
def sizes(*, board: int, at: datetime | None, without: list[int] | None) -> QuerySet[Any, Any]:
    """Return one row with two counts: all entries of a leaderboard, and the entries that are not baselines."""
    counts = {"listed": ROW_COUNT, "ranked": rows_with(is_baseline=False)}
    return entries_of(board, at, without).order_by().annotate(**counts).values_list(*counts)


@compiled_query
def numbers_above(
    *, board: int, at: datetime | None, without: list[int] | None, score: float, submitted_at: datetime, team: int
) -> QuerySet[Any, Any]:
    """Return one row with three counts of the entries above a given entry.

    The counts are: all these entries, the entries that are not baselines and, of the latter, the entries with a higher
    score.
    """
    above = entries_of(board, at, without).before(score=score, submitted_at=submitted_at, team=team).order_by()
    better = rows_with(is_baseline=False, score__gt=score)
    counts = {"index": ROW_COUNT, "before": rows_with(is_baseline=False), "better": better}
    return above.annotate(**counts).values_list(*counts)


@compiled_query
def scores_of(*, evaluations: list[int], split: str) -> QuerySet[Any, Any]:
    """Return a database row (evaluation id, metric, value) for each score of the given evaluations on one split."""
    scores = Score.objects.filter(evaluation__in=evaluations, split=split).order_by("pk")
    return scores.values_list("evaluation_id", "metric", "value")


@compiled_query
def scored_until(*, phase: int, teams: list[int], moment: datetime) -> QuerySet[Any, Any]:
    """Count the submissions of each team that had been scored by a given time.

    The query returns rows (team, count). A team without such submissions has no row. An index covers this query.
    """
    scored = Submission.objects.filter(phase=phase, team__in=teams, status=Status.SCORED, finished_at__lte=moment)
    return scored.order_by().values_list("team").annotate(count=Count("team"))
