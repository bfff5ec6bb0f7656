"""A challenge's front: what it is about, when it ends, what to do next, who leads."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from server.leaderboards import queries
from server.pages import place
from server.pages.next_step import next_step

TOP = 5


@require_safe
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    here = place.find(request, slug)
    board = queries.board(here.phase, split="public", viewer=request.user) if here.phase else None
    rows = board.rows if board else []
    context = {
        "place": here,
        "now": here.now,
        "phase": here.phase,
        "track": here.phase.declared_track if here.phase else None,
        "step": next_step(here, request.user),
        "top": [row for row in rows if not row.baseline][:TOP],
        "decimals": here.phase.feedback_decimals if here.phase else None,
        "teams": sum(not row.baseline for row in rows),
        "team_id": here.team.pk if here.team else None,
    }
    return render(request, "challenge/overview.html", context)
