"""The leaderboard of a phase, now or at an earlier time, as a page and as CSV."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.cache import caches
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from server.challenges.models import Phase
from server.leaderboards import queries
from server.leaderboards.export import as_csv, csv_name
from server.leaderboards.queries import ShownBoard
from server.leaderboards.ties import PAGE_ROWS
from server.leaderboards.validators import entity_tag, not_modified, tagged
from server.pages.challenge.leaderboard_entries import (
    KEPT_SECONDS,
    ShownEntry,
    entry_html,
    listed_rows,
    rendered_by,
    shown_entry,
)
from server.pages.challenge.splits import SPLIT_TITLES, SplitLink, split_links
from server.pages.challenge_context import ChallengeContext, find_context
from server.pages.formatting.svg import is_beyond
from server.pages.forms import LeaderboardForm
from server.submissions.feedback import ScoreAccess


@dataclass(frozen=True, slots=True)
class LeaderboardQuery:
    """The query string of a leaderboard, parsed. `at` is None for the current leaderboard."""

    phase: str  # empty if the challenge has only one
    split: str
    at: datetime | None
    page: int

    def query_string(self, **changes: str) -> str:
        """Return the query string of the same leaderboard with some parameters changed."""
        at = self.at.replace(tzinfo=None).isoformat(timespec="seconds") if self.at else ""
        values = {"phase": self.phase, "split": self.split, "at": at} | changes
        return "?" + urlencode({name: value for name, value in values.items() if value})


def parse_query(request: HttpRequest, current: ChallengeContext) -> LeaderboardQuery:
    """Parse the query string. Invalid values count as missing."""
    form = LeaderboardForm(request.GET)
    form.is_valid()
    given = form.cleaned_data
    phase = current.required_phase().slug if current.has_several_phases else ""
    return LeaderboardQuery(phase, given.get("split") or "public", given.get("at"), given.get("page") or 1)


@require_safe
def leaderboard(request: HttpRequest, slug: str) -> HttpResponseBase:
    current = find_context(request, slug)
    query = parse_query(request, current)
    board = board_of(current, query)
    if len(messages.get_messages(request)):  # shown once, so this page must not be kept
        return render(request, "leaderboard/leaderboard.html", page_context(current, query, board))
    tag = entity_tag(board, query, *page_parts(request, current))
    return not_modified(request, tag) or tagged(HttpResponse(page_html(request, current, query, board, tag)), tag)


def page_html(
    request: HttpRequest, current: ChallengeContext, query: LeaderboardQuery, board: ShownBoard, tag: str
) -> str:
    """Return the page. The one for viewers who are not logged in is kept until something on it changes."""
    kept: str | None = None if request.user.is_authenticated else caches["boards"].get(tag)
    if kept is not None:
        return kept
    html = render_to_string("leaderboard/leaderboard.html", page_context(current, query, board), request)
    if not request.user.is_authenticated:
        caches["boards"].set(tag, html, KEPT_SECONDS)
    return html


def board_of(current: ChallengeContext, query: LeaderboardQuery) -> ShownBoard:
    access = current.score_access
    return queries.board_seen(current.required_phase(), split=query.split, at=query.at, access=access, now=current.now)


def page_parts(request: HttpRequest, current: ChallengeContext) -> tuple[object, ...]:
    """Return what the page around the entries depends on: the viewer, the challenge, and the templates."""
    rows = [current.challenge, *current.phases]
    names = [[getattr(row, field.attname) for field in row._meta.concrete_fields] for row in rows]
    viewer = (request.user.pk, current.user.is_staff, request.META.get("CSRF_COOKIE", ""), current.join_state)
    is_over = current.required_phase().has_closed(current.now)
    return (viewer, current.team and current.team.pk, names, is_over, rendered_by())


def page_context(current: ChallengeContext, query: LeaderboardQuery, board: ShownBoard) -> dict[str, Any]:
    phase = current.required_phase()
    track, team_id = phase.declared_track, current.team.pk if current.team else None
    pages: Page[Any] = Paginator(range(board.count), PAGE_ROWS).get_page(query.page)
    listed = listed_rows(board, pages, track)
    pinned = pinned_entry(current, query, board, pages)
    has_private = queries.has_private(phase)
    return {
        "current": current,
        "now": current.now,
        "board": board,
        "query": query,
        "track": track,
        "splits": visible_splits(query, board.access) if has_private else [],
        "opens_later": has_private and "private" not in board.access.splits,
        "pages": pages,
        "listed": listed,
        "entries": listed.html_for(team_id, track),
        "axis": listed.terms.axis,
        "has_cut": listed.has_cut or (pinned is not None and is_beyond(pinned.row.interval, listed.terms.axis)),
        "decimals": listed.terms.decimals,
        "teams": board.teams,
        "pinned": pinned,
        "pinned_row": pinned and entry_html(pinned, listed.terms),
        "comparable": listed.terms.compared and board.count > 1,
        "csv_url": f"{reverse('leaderboard_csv', args=[current.challenge.slug])}{query.query_string()}",
        "page_query": f"{query.query_string()}&",
    }


def visible_splits(query: LeaderboardQuery, access: ScoreAccess) -> list[SplitLink]:
    """Return the links to the splits that the viewer may see; none if there is only one."""
    splits = [split for split in SPLIT_TITLES if split in access.splits]
    links = split_links(splits, current=query.split, query=lambda split: query.query_string(split=split))
    return links if len(links) > 1 else []


def pinned_entry(
    current: ChallengeContext, query: LeaderboardQuery, board: ShownBoard, pages: "Page[Any]"
) -> ShownEntry | None:
    """Return the entry of the viewer's team with a link to its page of the board; None if that is this page."""
    team_id = current.team.pk if current.team else None
    index = board.index_of(team_id)
    page = None if index is None else index // PAGE_ROWS + 1
    row = None if page in (None, pages.number) else board.row_of(team_id)
    if row is None:
        return None
    track, link = current.required_phase().declared_track, f"{query.query_string()}&page={page}"
    return shown_entry(row, track, team_id=team_id, compared=False, link=link)


@require_safe
def board_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Download the whole leaderboard with all digits."""
    current = find_context(request, slug)
    phase, query = current.required_phase(), parse_query(request, current)
    board = board_of(current, query)
    tag = entity_tag(board, "csv", query, phase.challenge.slug, phase.slug)
    return not_modified(request, tag) or tagged(csv_response(board, phase), tag)


def csv_response(board: ShownBoard, phase: Phase) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        as_csv(board.chunks(), metrics=[metric.name for metric in phase.declared_track.metrics]),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{csv_name(board)}"'},
    )
