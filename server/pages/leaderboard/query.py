"""Reads and writes the query string in the URL of the leaderboard page."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils.http import urlencode

from evaluator.catalog import Metric, Track
from server.leaderboards.listing import EVERYTHING, SEARCH_CHARACTERS, Selection, sort_metric
from server.pages.challenge_context import ChallengeContext
from server.pages.forms import LeaderboardForm

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class LeaderboardQuery:
    """The parsed query string of a leaderboard page.

    `phase` is empty if the challenge has only one phase. `at` is None for the current leaderboard. `columns` contains
    the names of the metrics to show in addition to the headline metric; None means all of them.
    """

    phase: str
    split: str
    at: datetime | None
    page: int
    selection: Selection = EVERYTHING
    columns: tuple[str, ...] | None = None

    def pairs(self, **changes: str) -> Pairs:
        """Return the query parameters as (name, value) pairs, with the given changes and without the page number."""
        at = self.at.replace(tzinfo=None).isoformat(timespec="seconds") if self.at else ""
        values = {"phase": self.phase, "split": self.split, "at": at}
        asked = self.selection
        values |= {"q": asked.search, "baselines": asked.baselines, "sort": asked.sort, "country": asked.country}
        values |= changes
        columns = () if self.columns is None else self.columns or ("",)
        return [pair for pair in values.items() if pair[1]] + [("columns", name) for name in columns]

    def query_string(self, **changes: str) -> str:
        """Return the query string for the same leaderboard page with the given changes."""
        return "?" + urlencode(self.pairs(**changes))

    def pairs_without(self, *names: str) -> Pairs:
        """Return the query parameters that a form must contain as hidden fields.

        `names` are the parameters for which the form has visible fields.
        """
        return [pair for pair in self.pairs() if pair[0] not in names]

    @property
    def whole(self) -> "LeaderboardQuery":
        """This query without filters and sorting: the first page of all leaderboard entries, ordered by rank."""
        return LeaderboardQuery(self.phase, self.split, self.at, 1, columns=self.columns)

    def metrics(self, track: Track) -> list[Metric]:
        """Return the metrics that the leaderboard page shows in addition to the headline metric."""
        return [metric for metric in track.board_metrics if self.columns is None or metric.name in self.columns]


def parse_query(request: HttpRequest, current: ChallengeContext) -> LeaderboardQuery:
    """Parse the query string of a leaderboard page. Invalid values are ignored."""
    given, track = values_of(request), current.required_phase().declared_track
    return LeaderboardQuery(
        phase=current.required_phase().slug if current.has_several_phases else "",
        split=given.get("split") or "public",
        at=given.get("at"),
        page=given.get("page") or 1,
        selection=Selection(
            search=given.get("q", "")[:SEARCH_CHARACTERS].strip(),
            baselines=given.get("baselines", ""),
            sort=sort_metric(track, given.get("sort", "")),
            country=given.get("country", ""),
        ),
        columns=chosen_columns(request, track),
    )


def chosen_columns(request: HttpRequest, track: Track) -> tuple[str, ...] | None:
    """Return the names of the metrics selected by the query string, or None if it does not contain a selection."""
    if "columns" not in request.GET:
        return None
    chosen = request.GET.getlist("columns")
    return tuple(metric.name for metric in track.board_metrics if metric.name in chosen)


def values_of(request: HttpRequest) -> dict[str, Any]:
    """Return the valid values in the query string of a leaderboard page.

    For speed, no Django form is created if the query string is empty.
    """
    if not request.GET:
        return {}
    form = LeaderboardForm(request.GET)
    form.is_valid()
    return form.cleaned_data
