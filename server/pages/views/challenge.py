"""The overview page of a challenge, with the metric, the deadline, the viewer's next step, and the best teams."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from server.leaderboards import queries
from server.pages.challenge.main_button import main_button
from server.pages.challenge_context import find_context

TOP = 5


@require_safe
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    current = find_context(request, slug)
    phase = current.phase
    access, now = (current.score_access, current.now) if phase else (None, current.now)
    board = queries.board_seen(phase, split="public", access=access, now=now) if phase and access else None
    context = {
        "current": current,
        "now": current.now,
        "phase": phase,
        "track": phase.declared_track if phase else None,
        "button": main_button(current, request.user),
        "top": board.top(TOP) if board else [],
        "decimals": phase.feedback_decimals if phase else None,
        "is_frozen": board.is_frozen if board else False,
        "teams": board.teams if board else 0,
        "team_id": current.team.pk if current.team else None,
    }
    return render(request, "challenge/overview.html", context)
