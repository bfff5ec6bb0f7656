"""The entries of a leaderboard as its page shows them."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.core.paginator import Page
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from evaluator.catalog import Metric, Track
from evaluator.digits import Interval
from server.leaderboards.queries import BoardRow, ShownBoard
from server.leaderboards.ties import with_ties
from server.leaderboards.validators import content_key, fingerprint
from server.pages.formatting.svg import common_range

KEPT_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry with its CSS classes, its tag, and the note that screen readers read after its rank."""

    row: BoardRow
    classes: str
    tag: str
    note: str
    metrics: list[tuple[Metric, float | None]]
    link: str = ""  # to the page of the leaderboard with this entry, where it is pinned on another page


@dataclass(frozen=True, slots=True)
class ListedRows:
    """The rows of one page of a leaderboard, and their HTML for viewers who have none of them."""

    rows: list[BoardRow]
    html: list[SafeString]
    terms: "RowTerms"
    has_ties: bool
    has_untested: bool

    def html_for(self, team_id: int | None, track: Track) -> list[SafeString]:
        """Return the HTML of the rows; the one of the viewer's team is marked."""
        own = next((index for index, row in enumerate(self.rows) if row.team_id == team_id), None)
        if own is None:
            return self.html
        return [*self.html[:own], entry_html(self.rows[own], track, self.terms, team_id), *self.html[own + 1 :]]


@dataclass(frozen=True, slots=True)
class RowTerms:
    """What the rows of a page have in common: the range of their intervals, decimals, whether ties are tested."""

    range: Interval | None
    decimals: int | None
    compared: bool


def shown_entry(row: BoardRow, track: Track, *, team_id: int | None, compared: bool, link: str = "") -> ShownEntry:
    """Return an entry to show. `compared`: whether neighbouring entries of this leaderboard are tested for ties."""
    untested = compared and row.tied is None and not row.baseline
    mine = row.team_id == team_id and not row.baseline
    bracket = "tied" if row.joined else "untested" if untested else ""
    note = "not compared with the team above yet" if untested else ""
    return ShownEntry(
        row=row,
        classes=" ".join(filter(None, ("baseline" if row.baseline else "mine" if mine else "", bracket))),
        tag="baseline" if row.baseline else "you" if mine else "",
        note="not significantly different from the team above" if row.tied else note,
        metrics=[(metric, row.scores.get(metric.name)) for metric in track.board_metrics],
        link=link,
    )


def listed_rows(board: ShownBoard, page: "Page[Any]", track: Track) -> ListedRows:
    """Return the rows of a page. They are kept in the cache until the leaderboard changes."""
    key = fingerprint("rows", content_key(board), page.number, rendered_by())
    found: ListedRows | None = caches["boards"].get(key)
    if found is None:
        found = rendered_rows(with_ties(board, page.start_index() - 1, page.end_index()), board, track)
        caches["boards"].set(key, found, KEPT_SECONDS)
    return found


def rendered_rows(rows: list[BoardRow], board: ShownBoard, track: Track) -> ListedRows:
    within = common_range(row.interval for row in rows if not row.baseline)
    terms = RowTerms(within, board.access.decimals, compared=within is not None and not board.access.ladder)
    return ListedRows(
        rows=rows,
        html=[entry_html(row, track, terms) for row in rows],
        terms=terms,
        has_ties=any(row.tied for row in rows),
        has_untested=terms.compared and any(row.tied is None for row in rows if not row.baseline),
    )


def entry_html(row: BoardRow, track: Track, terms: RowTerms, team_id: int | None = None) -> SafeString:
    """Return the row of a table."""
    entry = shown_entry(row, track, team_id=team_id, compared=terms.compared)
    context = {"entry": entry, "row": row, "range": terms.range, "decimals": terms.decimals}
    return render_to_string("leaderboard/entry.html", context)


@cache
def rendered_by() -> str:
    """Return a fingerprint of the templates. Another version of the service may render the same rows differently."""
    templates = sorted((settings.BASE_DIR / "server" / "templates").rglob("*.html"))
    return fingerprint(*(template.read_bytes() for template in templates))
