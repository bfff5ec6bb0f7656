"""The entries of a leaderboard as its page shows them."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.core.paginator import Page
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from evaluator.catalog import Metric, Track
from evaluator.digits import Interval
from server.leaderboards.queries import BoardRow, ShownBoard
from server.leaderboards.ties import with_ties
from server.leaderboards.validators import content_key, fingerprint
from server.pages.formatting.inline import digits_html, interval_html, medal_html, share_html, time_html
from server.pages.formatting.score_digits import score_digits
from server.pages.formatting.svg import field_range, is_beyond
from server.pages.formatting.units import date

KEPT_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """A leaderboard entry with its CSS classes, its tag, and the note that screen readers read after its rank."""

    row: BoardRow
    classes: str
    tag: str
    note: str
    metrics: list[tuple[Metric, float | None]]
    # Set for a pinned entry, which is shown on other pages of the leaderboard too: the URL of its own page.
    link: str = ""


@dataclass(frozen=True, slots=True)
class ListedRows:
    """The rows of one page of a leaderboard, and their HTML for viewers whose team is not among them."""

    rows: list[BoardRow]
    html: list[SafeString]
    terms: "RowTerms"
    has_ties: bool
    has_untested: bool
    has_cut: bool

    def html_for(self, team_id: int | None, track: Track) -> list[SafeString]:
        """Return the HTML of the rows, with the row of the viewer's team marked."""
        own = next((index for index, row in enumerate(self.rows) if row.team_id == team_id), None)
        if own is None:
            return self.html
        entry = shown_entry(self.rows[own], track, team_id=team_id, compared=self.terms.compared)
        return [*self.html[:own], entry_html(entry, self.terms), *self.html[own + 1 :]]


@dataclass(frozen=True, slots=True)
class RowTerms:
    """The properties that all rows of a page share: axis of the intervals, decimals, and whether ties are tested."""

    axis: Interval | None
    decimals: int | None
    compared: bool


def shown_entry(
    row: BoardRow, track: Track, *, compared: bool, team_id: int | None = None, link: str = ""
) -> ShownEntry:
    """Return an entry as the page shows it. `compared` is whether this leaderboard tests neighbours for ties."""
    untested = compared and row.tied is None and not row.baseline
    mine = row.team_id == team_id and not row.baseline
    bracket = "tied" if row.joined else "untested" if untested else ""
    note = "not compared yet" if untested else ""
    return ShownEntry(
        row=row,
        classes=" ".join(filter(None, ("baseline" if row.baseline else "mine" if mine else "", bracket))),
        tag="baseline" if row.baseline else "you" if mine else "",
        note="not significantly different from the first team of its group" if row.tied else note,
        metrics=[(metric, row.scores.get(metric.name)) for metric in track.board_metrics],
        link=link,
    )


def listed_rows(board: ShownBoard, page: "Page[Any]", track: Track) -> ListedRows:
    """Return the rows of a page. They are cached until the leaderboard changes."""
    key = fingerprint("rows", content_key(board), page.number, rendered_by())
    found: ListedRows | None = caches["boards"].get(key)
    if found is None:
        found = rendered_rows(with_ties(board, page.start_index() - 1, page.end_index()), board, track)
        caches["boards"].set(key, found, KEPT_SECONDS)
    return found


def rendered_rows(rows: list[BoardRow], board: ShownBoard, track: Track) -> ListedRows:
    axis = field_range(row.interval for row in rows if not row.baseline)
    terms = RowTerms(axis, board.access.decimals, compared=axis is not None and not board.access.ladder)
    return ListedRows(
        rows=rows,
        html=[entry_html(shown_entry(row, track, compared=terms.compared), terms) for row in rows],
        terms=terms,
        has_ties=any(row.tied for row in rows),
        has_untested=terms.compared and any(row.tied is None for row in rows if not row.baseline),
        has_cut=any(is_beyond(row.interval, axis) for row in rows),
    )


def entry_html(entry: ShownEntry, terms: RowTerms) -> SafeString:
    """Return the HTML of an entry, as a table row. No template is used, for the reason given in `formatting.inline`."""
    row = entry.row
    note = f'<span class="reader-only">({entry.note})</span>' if entry.note else ""
    tag = f'<span class="tag">{entry.tag}</span>' if entry.tag else ""
    link = f'<a class="small" href="{escape(entry.link)}">Go to entry</a>' if entry.link else ""
    score = digits_html(score_digits(row.score, row.interval, decimals=terms.decimals), row.interval)
    bar = f'<td class="interval-cell">{interval_html(row.score, row.interval, terms.axis)}</td>' if terms.axis else ""
    others = "".join(
        f'<td class="number other" data-label="{escape(metric.brief)}">'
        f"{'' if value is None else share_html(value, terms.decimals)}</td>"
        for metric, value in entry.metrics
    )
    submitted = row.submitted_at.replace(microsecond=0)
    return mark_safe(
        f'<tr class="{entry.classes}"><td class="rank">{medal_html(row.rank)}{note}</td>\n'
        f'<th scope="row" class="team"><bdi>{escape(row.team)}</bdi>{tag} {link}</th>'
        f'<td class="number score">{score}</td>{bar}{others}'
        f'<td class="number" data-label="Submissions:">{row.entries:,}</td>'
        f'<td class="number" data-label="Submitted">{time_html(submitted, date(submitted), "since")}</td></tr>\n'
    )


@cache
def rendered_by() -> str:
    """Return a fingerprint of the code of the pages, because another version may render these rows differently."""
    folders = (settings.BASE_DIR / "server" / name for name in ("templates", "pages", "static"))
    files = sorted(file for folder in folders for file in folder.rglob("*.*") if file.suffix != ".pyc")
    return fingerprint(*(file.read_bytes() for file in files if file.is_file()))
