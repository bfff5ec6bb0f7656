"""Renders the entries of a leaderboard as table rows."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from html import escape
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.core.paginator import Page
from django.urls import reverse
from django.utils.safestring import SafeString

from evaluator.catalog import Metric
from evaluator.digits import Interval
from evaluator.report_page.score_digits import score_digits
from server.leaderboards.earlier_ranks import compared_since, with_changes
from server.leaderboards.listing import Listing
from server.leaderboards.queries import BoardRow
from server.leaderboards.validators import content_key, fingerprint
from server.pages.formatting.inline import (
    digits_html,
    interval_html,
    medal_html,
    rank_interval_html,
    share_html,
    time_html,
)
from server.pages.formatting.svg import field_range, is_beyond
from server.pages.formatting.units import date
from server.pages.leaderboard.rank_changes import change_html


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """A leaderboard entry with everything needed to render its table row.

    `tag` is a label such as "you" or "baseline". `change` is the HTML that marks a change of the rank or score. `note`
    is read out only by screen readers, after the rank.
    """

    row: BoardRow
    classes: str
    tag: str
    note: str
    change: SafeString
    metrics: list[tuple[Metric, float | None]]
    # `link` is the URL of the leaderboard page that contains the entry. It is set only for a pinned entry, which is
    # also shown on the other pages of the leaderboard.
    link: str = ""


@dataclass(frozen=True, slots=True)
class ListedRows:
    """The rows on one page of a leaderboard, and their HTML.

    The HTML is the same for all viewers whose team is not on the page, so it can be cached.
    """

    rows: list[BoardRow]
    html: list[SafeString]
    terms: "RowTerms"
    has_ties: bool
    has_untested: bool
    has_cut: bool
    has_intervals: bool
    has_individual: bool
    has_changes: bool

    def html_for(self, team_id: int | None) -> list[SafeString]:
        """Return the HTML of the leaderboard rows, with the row of the viewer's team marked."""
        own = next((index for index, row in enumerate(self.rows) if row.team_id == team_id), None)
        if own is None:
            return self.html
        entry = shown_entry(self.rows[own], self.terms, team_id=team_id)
        return [*self.html[:own], entry_html(entry, self.terms), *self.html[own + 1 :]]


@dataclass(frozen=True, slots=True)
class RowTerms:
    """Properties that all rows on a leaderboard page share.

    `axis` is the axis on which confidence intervals are drawn. `metrics` are the metrics shown in addition to the
    headline metric. `compared` is true if the page shows ties, and `has_leading` is true if several teams could have
    the first rank. Rank changes are shown relative to the time `since`. `team_url` is the escaped URL of a team's
    public page up to the team id.
    """

    axis: Interval | None
    decimals: int | None
    metrics: list[Metric]
    compared: bool
    has_leading: bool
    since: datetime | None
    team_url: str


def shown_entry(row: BoardRow, terms: RowTerms, *, team_id: int | None = None, link: str = "") -> ShownEntry:
    """Return a leaderboard entry with everything needed to render it.

    `link` is the URL of the leaderboard page that contains the entry. It is set only for a pinned entry: the viewer's
    own entry, which is also shown on the other pages of the leaderboard.
    """
    untested = terms.compared and not link and row.tied is None and not row.baseline
    mine = row.team_id == team_id and not row.baseline
    # Brackets connect tied entries in adjacent rows. The neighbours of a pinned entry are on another page, so it has no
    # bracket.
    bracket = "" if link else "tied" if row.joined else "untested" if untested else ""
    first = "leading" if terms.has_leading and is_leading(row) and not link else ""
    note = "not compared yet" if untested else ""
    return ShownEntry(
        row=row,
        classes=" ".join(filter(None, ("baseline" if row.baseline else "mine" if mine else "", bracket, first))),
        tag="baseline" if row.baseline else "you" if mine else "",
        note="not significantly different from the first team of its group" if row.tied else note,
        change=change_html(row, terms.since, terms.decimals),
        metrics=[(metric, row.scores.get(metric.name)) for metric in terms.metrics],
        link=link,
    )


def is_leading(row: BoardRow) -> bool:
    """Return whether the confidence interval for a team's rank includes the first rank."""
    return row.rank_interval is not None and row.rank_interval.low == 1


def listed_rows(listing: Listing, page: "Page[Any]", metrics: list[Metric]) -> ListedRows:
    """Return the rendered rows of a leaderboard page.

    They are cached until the leaderboard changes, unless the page shows a search or the teams of one country.
    """
    board, selection = listing.board, listing.selection
    address = team_url(board.phase.challenge.slug)
    key = fingerprint("rows", content_key(board), page.number, selection, metrics, address, rendered_by())
    found: ListedRows | None = caches["boards"].get(key) if selection.may_be_cached else None
    if found is None:
        rows = with_changes(board, listing.page(page.start_index() - 1, page.end_index()))
        found = rendered_rows(listing, rows, metrics)
        if selection.may_be_cached:
            caches["boards"].set(key, found)
    return found


def rendered_rows(listing: Listing, rows: list[BoardRow], metrics: list[Metric]) -> ListedRows:
    axis = field_range(row.interval for row in rows if not row.baseline)
    ranges = [row.rank_interval for row in rows if row.rank_interval]
    board = listing.board
    terms = RowTerms(
        axis,
        board.access.decimals,
        metrics,
        compared=axis is not None and has_ties(listing),
        has_leading=sum(map(is_leading, rows)) > 1,
        since=compared_since(board),
        team_url=escape(team_url(board.phase.challenge.slug)),
    )
    entries = [shown_entry(row, terms) for row in rows]
    return ListedRows(
        rows=rows,
        html=[entry_html(entry, terms) for entry in entries],
        terms=terms,
        has_ties=any(row.tied for row in rows),
        has_untested=terms.compared and any(row.tied is None for row in rows if not row.baseline),
        has_cut=any(is_beyond(row.interval, axis) for row in rows),
        has_intervals=bool(ranges),
        has_individual=any(found.individual for found in ranges),
        has_changes=any(entry.change for entry in entries),
    )


def has_ties(listing: Listing) -> bool:
    """Return whether the leaderboard page marks ties.

    Ties are not shown for past leaderboards, for filtered or sorted entries, or in phases with ladder feedback, which
    hides small score differences.
    """
    board = listing.board
    return listing.selection.is_everything and board.past is None and not board.access.ladder


def entry_html(entry: ShownEntry, terms: RowTerms) -> SafeString:
    """Return the HTML of a leaderboard entry's table row. For speed, no template is used (see `formatting.inline`)."""
    row = entry.row
    note = f'<span class="reader-only">({entry.note})</span>' if entry.note else ""
    anchor = ' id="mine"' if entry.tag == "you" and not entry.link else ""
    tag = f'<span class="tag">{entry.tag}</span>' if entry.tag else ""
    link = f'<a class="small nowrap" href="{escape(entry.link)}">Go to entry</a>' if entry.link else ""
    rank = medal_html(row.rank) + rank_interval_html(row.rank_interval)
    score = digits_html(score_digits(row.score, row.interval, decimals=terms.decimals), row.interval)
    bar = f'<td class="interval-cell">{interval_html(row.score, row.interval, terms.axis)}</td>' if terms.axis else ""
    others = "".join(
        f'<td class="number other" data-label="{escape(metric.brief)}">'
        f"{'' if value is None else share_html(value, terms.decimals)}</td>"
        for metric, value in entry.metrics
    )
    submitted = row.submitted_at.replace(microsecond=0)
    name = f'<a class="quiet-link" href="{terms.team_url}{row.team_id}"><bdi>{escape(row.team)}</bdi></a>'
    return SafeString(
        f'<tr class="{entry.classes}"{anchor}><td class="rank">{rank}{note}</td>\n'
        f'<th scope="row" class="team">{name}{tag}{entry.change} {link}</th>'
        f'<td class="number score">{score}</td>{bar}{others}'
        f'<td class="number" data-label="Submissions:">{row.entries:,}</td>'
        f'<td class="number" data-label="Submitted">{time_html(submitted, date(submitted), "since")}</td></tr>\n'
    )


@cache
def team_url(slug: str) -> str:
    """Return the URL of a team's public page up to the team id, which has to be appended."""
    return reverse("public_team", args=[slug, 0]).removesuffix("0")


@cache
def rendered_by() -> str:
    """Return a fingerprint of the pages' code.

    It is part of cache keys, because another version of the code may render rows differently.
    """
    folders = [settings.BASE_DIR / "server" / name for name in ("templates", "pages", "static")]
    folders.append(settings.BASE_DIR / "evaluator" / "report_page")
    files = sorted(file for folder in folders for file in folder.rglob("*.*") if file.suffix != ".pyc")
    return fingerprint(*(file.read_bytes() for file in files if file.is_file()))
