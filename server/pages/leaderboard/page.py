"""The template context for the leaderboard page."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.core.paginator import Page, Paginator
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

from evaluator.catalog import Metric, Track
from evaluator.report_page.content import SPLIT_TITLES
from server.accounts.countries import COUNTRIES
from server.leaderboards import reading
from server.leaderboards.earlier_ranks import with_changes
from server.leaderboards.listing import Listing, listing_of
from server.leaderboards.own_entry import own_entry
from server.leaderboards.queries import PAGE_ROWS, ShownBoard
from server.pages.challenge.splits import SplitLink, split_links
from server.pages.challenge_context import ChallengeContext
from server.pages.formatting.svg import is_beyond
from server.pages.leaderboard.day_slider import day_slider
from server.pages.leaderboard.entries import ListedRows, ShownEntry, entry_html, listed_rows, shown_entry
from server.pages.leaderboard.query import LeaderboardQuery
from server.submissions.feedback import ScoreAccess

# Leaderboards with up to 10 entries fit on a screen, so they have no search field.
FEW_ENTRIES = 10
BASELINE_CHOICES = {"": "Shown", "hide": "Hidden", "only": "Only baselines"}


@dataclass(frozen=True, slots=True)
class MetricHeading:
    """The heading of a metric's column in the leaderboard table.

    `query` is the query string that sorts the table by this metric. `aria_sort` is empty unless the table is sorted by
    it.
    """

    metric: Metric
    query: str
    aria_sort: str

    @classmethod
    def of(cls, metric: Metric, query: LeaderboardQuery, listing: Listing) -> "MetricHeading":
        is_sorted = metric.name == listing.selection.sort
        return cls(metric, query.query_string(sort=metric.name), "descending" if is_sorted else "")


def page_context(current: ChallengeContext, query: LeaderboardQuery, board: ShownBoard) -> dict[str, Any]:
    phase = current.required_phase()
    track, team_id = phase.declared_track, current.team.pk if current.team else None
    listing = listing_of(board, query.selection)
    pages: Page[Any] = Paginator(range(listing.count), PAGE_ROWS).get_page(query.page)
    listed = listed_rows(listing, pages, query.metrics(track))
    pinned = pinned_entry(query, board, listed, team_id)
    mine = pinned.row if pinned else next((row for row in listed.rows if row.team_id == team_id), None)
    has_private = reading.has_private(phase)
    return {
        "current": current,
        "now": current.now,
        "board": board,
        "query": query,
        "track": track,
        "splits": visible_splits(query, board.access) if has_private else [],
        "is_frozen": board.split == "public" and phase.is_frozen(current.now),
        "opens_later": has_private and "private" not in board.access.splits,
        "listing": listing,
        "pages": pages,
        "listed": listed,
        "entries": listed.html_for(team_id),
        "axis": listed.terms.axis,
        "has_cut": listed.has_cut or (pinned is not None and is_beyond(pinned.row.interval, listed.terms.axis)),
        "decimals": listed.terms.decimals,
        "teams": board.teams,
        "me": mine and own_entry(board, mine),
        "pinned": pinned,
        "pinned_row": pinned and entry_html(pinned, listed.terms),
        "comparable": board.count > 1 and not board.access.ladder,
        "csv_url": f"{reverse('leaderboard_csv', args=[current.challenge.slug])}{query.whole.query_string()}",
        "page_query": f"{query.query_string()}&",
        "slider": day_slider(current, split=query.split, at=query.at),
        "now_query": query.query_string(at=""),
        **controls(query, listing, track),
    }


def controls(query: LeaderboardQuery, listing: Listing, track: Track) -> dict[str, Any]:
    """Return the template context for the forms above and below the leaderboard table."""
    listed, ranked = listing.board.size
    country = query.selection.country
    countries = country_options(country) if listed > FEW_ENTRIES or country else ""
    return {
        "searchable": listed > FEW_ENTRIES,
        "has_options": bool(track.board_metrics or countries) or listed > ranked,
        "metrics": query.metrics(track),
        "can_sort": listing.board.past is None,
        "headings": [MetricHeading.of(metric, query, listing) for metric in query.metrics(track)],
        "sorted_by": next((one for one in track.metrics if one.name == listing.selection.sort), None),
        "countries": countries,
        "country": COUNTRIES.get(country, ""),
        "rank_query": query.query_string(sort=""),
        "baseline_choices": BASELINE_CHOICES.items() if listed > ranked else (),
        "search_pairs": query.pairs_without("q"),
        "option_pairs": query.pairs_without("columns", "baselines", "sort", "country"),
        "at_pairs": query.pairs_without("at"),
        "whole_query": query.whole.query_string(),
    }


def visible_splits(query: LeaderboardQuery, access: ScoreAccess) -> list[SplitLink]:
    """Return a link for each split that the viewer may see, or an empty list if there is only one such split."""
    splits = [split for split in SPLIT_TITLES if split in access.splits]
    links = split_links(splits, current=query.split, query=lambda split: query.query_string(split=split))
    return links if len(links) > 1 else []


def pinned_entry(
    query: LeaderboardQuery, board: ShownBoard, listed: ListedRows, team_id: int | None
) -> ShownEntry | None:
    """Return the entry of the viewer's team if it is on another page of the leaderboard, with a link to that page.

    Return None if the team is on the current page or has no entry.
    """
    if team_id is None or any(row.team_id == team_id for row in listed.rows):
        return None
    found = board.row_and_index_of(team_id)
    if found is None:
        return None
    (row,), index = with_changes(board, [found[0]]), found[1]
    link = f"{query.whole.query_string()}&page={index // PAGE_ROWS + 1}#mine"
    return shown_entry(row, listed.terms, team_id=team_id, link=link)


@lru_cache(maxsize=8)
def country_options(chosen: str) -> SafeString:
    """Return the HTML `option` elements for all countries, with the chosen country selected.

    No template is used, because rendering it would take as long as rendering 50 rows of the leaderboard.
    """
    rows = ((code, mark_safe(" selected" if code == chosen else ""), name) for code, name in COUNTRIES.items())
    return format_html_join("\n", '<option value="{}"{}>{}</option>', rows)
