"""Selects the part of a leaderboard to list: teams by name or country, with or without baselines, in a chosen order.

The rank of an entry is always its rank on the whole leaderboard.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain
from math import inf
from typing import Any

from django.db import connection
from django.db.models import OuterRef, QuerySet, Subquery

from evaluator import ranking
from evaluator.catalog import Track
from server.challenges.models import Membership, Team
from server.challenges.search_names import searchable
from server.leaderboards.metric_order import keys_in_order
from server.leaderboards.models import Entry, EntryQuerySet, MetricValue
from server.leaderboards.past_facts import past_scores
from server.leaderboards.queries import ROWS_AT_ONCE, BoardRow, ShownBoard

SEARCH_ROWS = 1000  # the maximum number of search results, which limits the cost of a search
SEARCH_CHARACTERS = 80  # the maximum length of a search string, because no team name is longer
BASELINES = ("only", "hide")

# For each given pair of numbers, this query counts the teams whose score is above the first number and not above the
# second. The pairs describe ranges that do not overlap, so each leaderboard entry is read from the index at most once.
COUNT_IN_RANGES = """
WITH asked(above, up_to) AS (VALUES {pairs})
SELECT (
    SELECT COUNT(*) FROM leaderboards_entry AS entry
    WHERE entry.board_id = %s AND entry.valid_until IS NULL AND NOT entry.is_baseline
    AND entry.score > asked.above AND entry.score <= asked.up_to
) FROM asked
"""
PAIR = "(CAST(%s AS double precision), CAST(%s AS double precision))"


@dataclass(frozen=True, slots=True)
class Selection:
    """The entries of a leaderboard that a request selects, and their order.

    `search` is a part of a team's name. `baselines` is "only", "hide", or empty for all entries. `sort` is a metric
    other than the headline metric; if it is empty, entries are in rank order. Leaderboards as of an earlier time are
    always in rank order. `country` is a country code, or empty for all entries; see `teams_from`.
    """

    search: str = ""
    baselines: str = ""
    sort: str = ""
    country: str = ""

    @property
    def is_everything(self) -> bool:
        return self == EVERYTHING

    @property
    def may_be_cached(self) -> bool:
        """Whether the rows may be cached until the leaderboard changes.

        Searches are not cached. A list for one country is not cached either, because it also depends on user profiles.
        """
        return not (self.search or self.country)


EVERYTHING = Selection()


def sort_metric(track: Track, name: str) -> str:
    """Return the requested metric, or an empty string if leaderboards of the track cannot be sorted by it."""
    return name if name in {metric.name for metric in track.board_metrics} else ""


def teams_from(challenge: int, country: str) -> list[int]:
    """Return the teams with a member from a country. Only members whose names are shown on the team page count.

    If other members counted, the filter would reveal their country.
    """
    shown = Membership.objects.filter(challenge=challenge, is_shown=True, user__country=country)
    return sorted(shown.order_by().values_list("team", flat=True).distinct())


def listing_of(board: ShownBoard, selection: Selection) -> "Listing":
    """Return the entries that match a selection. `sort` is ignored on a leaderboard as of an earlier time."""
    return Listing(board, replace(selection, sort="") if board.past else selection)


@dataclass(frozen=True)
class Listing:
    """The entries of a leaderboard that match a selection, such as a search for team names."""

    board: ShownBoard
    selection: Selection

    @cached_property
    def count(self) -> int:
        if self.selection.search:
            return len(self._found)
        if self.selection.country:
            return self._entries.count()
        listed, ranked = self.board.size
        return {"only": listed - ranked, "hide": ranked}.get(self.selection.baselines, listed)

    @property
    def is_cut(self) -> bool:
        """Whether the list may be incomplete because the search reached its maximum number of results."""
        return bool(self.selection.search) and self.count == SEARCH_ROWS

    def page(self, start: int, stop: int) -> list[BoardRow]:
        """Return the rows from `start` up to, but not including, `stop`.

        Tie groups (adjacent teams whose scores do not differ significantly) are set only if all entries are listed in
        rank order.
        """
        if self.selection.is_everything:
            return self.board.page(start, stop)
        entries = self._named(self._keys(max(start, 0), stop))  # A paginator passes -1 as `start` for an empty page.
        ranks = ranks_of(self.board, {entry.score for entry in entries if not entry.is_baseline})
        known = [None if entry.is_baseline else ranks[entry.score] for entry in entries]
        return self.board.rows_of(entries, known, consecutive=False)

    def chunks(self) -> Iterator[list[BoardRow]]:
        """Yield the rows of all requested entries in chunks."""
        if self.selection.is_everything:
            yield from self.board.chunks()
            return
        lines = list(self.board.entries.in_order().values_list("pk", "score", "is_baseline"))
        ranks = ranking.ranks([(score, baseline) for _, score, baseline in lines])
        known = {key: rank for (key, _, _), rank in zip(lines, ranks, strict=True)}
        keys = [key for key in self._keys(0, self.count) if key in known]
        for start in range(0, len(keys), ROWS_AT_ONCE):
            entries = self._named(keys[start : start + ROWS_AT_ONCE])
            yield self.board.rows_of(entries, [known[entry.pk] for entry in entries], consecutive=False)

    @cached_property
    def teams(self) -> list[int]:
        """The teams from the requested country, or an empty list if no country is requested."""
        country = self.selection.country
        return teams_from(self.board.phase.challenge_id, country) if country else []

    @cached_property
    def _entries(self) -> EntryQuerySet:
        """The entries that match the baseline and country filters, before the search is applied."""
        entries = self.board.entries
        if self.selection.country:
            entries = entries.filter(team__in=self.teams)
        return entries.filter(is_baseline=self.selection.baselines == "only") if self.selection.baselines else entries

    @cached_property
    def _found(self) -> list[int]:
        """The primary keys of the entries whose team name contains the search string, in rank order."""
        text = searchable(self.selection.search)
        teams = Team.objects.filter(challenge=self.board.phase.challenge_id, search_name__contains=text).order_by()
        entries = self._entries
        # On the current leaderboard, a subquery finds the entry of each team quickly, because it uses a unique index.
        if self.board.past is None:
            present = entries.filter(team=OuterRef("pk")).values("pk")
            some = list(teams.annotate(entry=Subquery(present)).values_list("entry", flat=True)[: SEARCH_ROWS + 1])
            few = Entry.objects.filter(pk__in=[key for key in some if key is not None])
        else:
            some = list(teams.values_list("pk", flat=True)[: SEARCH_ROWS + 1])
            few = entries.filter(team__in=some)
        found = few if len(some) <= SEARCH_ROWS else entries.filter(team__search_name__contains=text)
        return list(found.in_order().values_list("pk", flat=True)[:SEARCH_ROWS])

    @property
    def _values(self) -> QuerySet[MetricValue]:
        """The stored values of the sort metric for the selected entries."""
        values = MetricValue.objects.filter(board=self.board.kept, metric=self.selection.sort)
        if self.selection.country:
            values = values.filter(entry__team__in=self.teams)
        if self.selection.search:
            return values.filter(entry__in=self._found)
        is_baseline = self.selection.baselines == "only"
        return values.filter(entry__is_baseline=is_baseline) if self.selection.baselines else values

    def _keys(self, start: int, stop: int) -> list[int]:
        if self.selection.sort:
            return keys_in_order(self._values, self.board.access, start, stop)
        if self.selection.search:
            return self._found[start:stop]
        return list(self._entries.in_order().values_list("pk", flat=True)[start:stop])

    def _named(self, keys: Sequence[int]) -> list[Any]:
        """Return the entries with the given primary keys, including columns of related tables that a page displays."""
        found = {entry.pk: entry for entry in self.board.with_keys([*keys])}
        return [found[key] for key in keys if key in found]


def ranks_of(board: ShownBoard, scores: Collection[float]) -> dict[float, int]:
    """Return the rank that each of the given scores has on a leaderboard, keyed by score."""
    if not scores:
        return {}
    if board.past is not None:
        teams = past_scores(board)
        return {score: len(teams) - bisect_right(teams, score) + 1 for score in scores}
    assert board.kept is not None
    distinct = sorted(set(scores), reverse=True)
    ends = chain.from_iterable(zip(distinct, [inf, *distinct], strict=False))
    with connection.cursor() as cursor:
        cursor.execute(COUNT_IN_RANGES.format(pairs=", ".join([PAIR] * len(distinct))), [*ends, board.kept.pk])
        between = [count for (count,) in cursor.fetchall()]
    return {score: better + 1 for score, better in zip(distinct, accumulate(between), strict=True)}
