"""The overview page of a challenge: metric, deadline, the viewer's next step, and the best teams."""

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
    board = queries.board(phase, split="public", viewer=request.user) if phase else None
    ranked = [row for row in board.rows if not row.baseline] if board else []
    context = {
        "current": current,
        "now": current.now,
        "phase": phase,
        "track": phase.declared_track if phase else None,
        "button": main_button(current, request.user),
        "top": ranked[:TOP],
        "decimals": phase.feedback_decimals if phase else None,
        "teams": len(ranked),
        "team_id": current.team.pk if current.team else None,
    }
    return render(request, "challenge/overview.html", context)
