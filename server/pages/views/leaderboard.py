"""A phase's boards: ranked by exact scores, as of any time, one hundred lines at a time."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from server.leaderboards import queries
from server.leaderboards.export import as_csv
from server.leaderboards.queries import Board
from server.leaderboards.ties import with_ties
from server.pages import board_lines, drawing, place
from server.pages.choices import Choice
from server.pages.forms import BoardForm
from server.pages.results import SPLITS
from server.submissions import feedback
from server.submissions.models import Score

PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class Wish:
    """What the address asks for."""

    split: str
    at: datetime | None
    page: int


def wish_of(request: HttpRequest) -> Wish:
    form = BoardForm(request.GET)
    form.is_valid()
    asked = form.cleaned_data
    return Wish(asked.get("split") or "public", asked.get("at"), asked.get("page") or 1)


@require_safe
def leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    here = place.find(request, slug)
    phase = here.open_phase()
    track, team_id = phase.declared_track, here.team.pk if here.team else None
    wish = wish_of(request)
    sight = feedback.sight(phase, viewer=request.user, now=here.now)
    board = queries.board(phase, split=wish.split, at=wish.at, viewer=request.user)
    pages: Page[Any] = Paginator(board.rows, PER_PAGE).get_page(wish.page)
    rows = with_ties(board, pages.start_index() - 1, pages.end_index())
    intervals = drawing.range_of(row.interval for row in rows if not row.baseline)
    compared = intervals is not None and not sight.ladder
    context = {
        "place": here,
        "now": here.now,
        "board": board,
        "wish": wish,
        "track": track,
        **splits_of(here, wish, sight),
        "pages": pages,
        "lines": [board_lines.line_of(row, track, team_id=team_id, compared=compared) for row in rows],
        "ties": any(row.tied for row in rows),
        "untested": compared and any(row.tied is None for row in rows if not row.baseline),
        "range": intervals,
        "decimals": sight.decimals,
        "teams": sum(not row.baseline for row in board.rows),
        "pinned": pinned(here, wish, board, pages, team_id),
        "csv": f"{reverse('leaderboard_csv', args=[slug])}{address(here, wish)}",
        "link": f"{address(here, wish)}&",
    }
    return render(request, "challenge/leaderboard.html", context)


def address(here: place.Place, wish: Wish, **changes: str) -> str:
    """The same board with something changed."""
    at = wish.at.replace(tzinfo=None).isoformat(timespec="seconds") if wish.at else ""
    phase = here.phase.slug if here.phase and here.query else ""
    values = {"phase": phase, "split": wish.split, "at": at} | changes
    return "?" + urlencode({name: value for name, value in values.items() if value})


def splits_of(here: place.Place, wish: Wish, sight: feedback.Sight) -> dict[str, Any]:
    """The splits to switch between; none where every image is public."""
    scored = Score.objects.filter(evaluation__submission__phase=here.phase, split="private")
    if not scored.exists():
        return {"splits": [], "private_later": False}
    choices = [
        Choice(title, address(here, wish, split=name), name == wish.split)
        for name, title in SPLITS.items()
        if name in sight.splits
    ]
    return {"splits": choices, "private_later": "private" not in sight.splits}


def pinned(
    here: place.Place, wish: Wish, board: Board, pages: "Page[Any]", team_id: int | None
) -> board_lines.BoardLine | None:
    """The team's line, to be pinned on top where it is not on this page, with a link to its page."""
    found = board.place_of(team_id)
    page = None if found is None else found // PER_PAGE + 1
    if found is None or page == pages.number:
        return None
    track, link = here.open_phase().declared_track, f"{address(here, wish)}&page={page}"
    return board_lines.line_of(board.rows[found], track, team_id=team_id, compared=False, link=link)


@require_safe
def board_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The whole board with full digits, as a file."""
    phase = place.find(request, slug).open_phase()
    wish = wish_of(request)
    board = queries.board(phase, split=wish.split, at=wish.at, viewer=request.user)
    content = as_csv(board, metrics=[metric.name for metric in phase.declared_track.metrics])
    name = f"{phase.challenge.slug}-{phase.slug}-{board.split}.csv"
    return HttpResponse(
        content,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
