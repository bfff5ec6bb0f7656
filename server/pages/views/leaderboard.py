"""The leaderboard of a phase, now or at an earlier time, as a page and as CSV."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from server.leaderboards import queries
from server.leaderboards.export import as_csv, csv_name
from server.leaderboards.queries import ShownBoard
from server.leaderboards.ties import with_ties
from server.pages.challenge.leaderboard_entries import ShownEntry, shown_entry
from server.pages.challenge.splits import SPLIT_TITLES, SplitLink, split_links
from server.pages.challenge_context import ChallengeContext, find_context
from server.pages.formatting.svg import common_range
from server.pages.forms import LeaderboardForm
from server.submissions import feedback
from server.submissions.models import Score

PER_PAGE = 100


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
    """Parse the query string; values that are not valid count as missing."""
    form = LeaderboardForm(request.GET)
    form.is_valid()
    given = form.cleaned_data
    phase = current.required_phase().slug if current.has_several_phases else ""
    return LeaderboardQuery(phase, given.get("split") or "public", given.get("at"), given.get("page") or 1)


@require_safe
def leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    current = find_context(request, slug)
    phase = current.required_phase()
    track, team_id = phase.declared_track, current.team.pk if current.team else None
    query = parse_query(request, current)
    sight = feedback.score_access(phase, viewer=request.user, now=current.now)
    board = queries.board(phase, split=query.split, at=query.at, viewer=request.user)
    pages: Page[Any] = Paginator(range(board.count), PER_PAGE).get_page(query.page)
    rows = with_ties(board, pages.start_index() - 1, pages.end_index())
    intervals = common_range(row.interval for row in rows if not row.baseline)
    compared = intervals is not None and not sight.ladder
    has_private = Score.objects.filter(evaluation__submission__phase=phase, split="private").exists()
    context = {
        "current": current,
        "now": current.now,
        "board": board,
        "query": query,
        "track": track,
        "splits": visible_splits(query, sight) if has_private else [],
        "opens_later": has_private and "private" not in sight.splits,
        "pages": pages,
        "entries": [shown_entry(row, track, team_id=team_id, compared=compared) for row in rows],
        "has_ties": any(row.tied for row in rows),
        "has_untested": compared and any(row.tied is None for row in rows if not row.baseline),
        "range": intervals,
        "decimals": sight.decimals,
        "teams": board.teams,
        "pinned": pinned_entry(current, query, board, pages),
        "csv_url": f"{reverse('leaderboard_csv', args=[slug])}{query.query_string()}",
        "page_query": f"{query.query_string()}&",
    }
    return render(request, "leaderboard/leaderboard.html", context)


def visible_splits(query: LeaderboardQuery, sight: feedback.ScoreAccess) -> list[SplitLink]:
    """Return the links to the splits that the viewer may see; none if there is only one."""
    splits = [split for split in SPLIT_TITLES if split in sight.splits]
    links = split_links(splits, current=query.split, query=lambda split: query.query_string(split=split))
    return links if len(links) > 1 else []


def pinned_entry(
    current: ChallengeContext, query: LeaderboardQuery, board: ShownBoard, pages: "Page[Any]"
) -> ShownEntry | None:
    """Return the entry of the viewer's team with a link to its page, if it is not on this page."""
    team_id = current.team.pk if current.team else None
    index = board.index_of(team_id)
    page = None if index is None else index // PER_PAGE + 1
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
    board = queries.board(phase, split=query.split, at=query.at, viewer=request.user)
    return StreamingHttpResponse(
        as_csv(board.chunks(), metrics=[metric.name for metric in phase.declared_track.metrics]),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{csv_name(board, phase)}"'},
    )
