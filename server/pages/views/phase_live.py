"""The organizers' page about a phase, with live figures and links to the other organizer pages of the phase."""

from dataclasses import replace
from hashlib import sha256
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from server.accounts.requests import PersonRequest
from server.challenges.roles import Right
from server.leaderboards.earlier_ranks import compared_since, with_changes
from server.leaderboards.queries import board_seen
from server.organize.services import overview
from server.organize.services.live import live_figures
from server.pages.challenge_context import ChallengeContext
from server.pages.console.day_chart import day_chart
from server.pages.leaderboard.rank_changes import change_html
from server.pages.rendering import render_page
from server.pages.views.organize import organized_context

NO_CONTENT, UNAUTHORIZED = 204, 401
TOP = 10


def organized_phase(request: HttpRequest, slug: str, phase: str, right: Right | None = None) -> ChallengeContext:
    """Return the template context for an organizer page about a phase.

    Raises Refused if the user is not an organizer, and Http404 if there is no such phase.
    """
    current = organized_context(request, slug, right)
    found = next((one for one in current.phases if one.slug == phase), None)
    if found is None:
        raise Http404("no such phase")
    return replace(current, phase=found)


@require_safe
@login_required
def live(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show the live figures of a phase, with links to its other organizer pages."""
    context = panel_context(organized_phase(request, slug, phase))
    return render_page(request, "console/live.html", context)


@require_safe
def panel(request: HttpRequest, slug: str, phase: str) -> HttpResponse:
    """Return the panel with the live figures of a phase, or status 204 if the page already shows these figures."""
    if not request.user.is_authenticated:
        login = f"{reverse('account_login')}?{urlencode({'next': reverse('organize_live', args=[slug, phase])})}"
        return HttpResponse(status=UNAUTHORIZED, headers={"HX-Redirect": login})
    context = panel_context(organized_phase(request, slug, phase))
    if request.GET.get("seen") == context["key"]:
        return HttpResponse(status=NO_CONTENT)
    return render(request, "console/panel.html", context)


def panel_context(current: ChallengeContext) -> dict[str, Any]:
    """Return the template context for the live figures of a phase. `key` changes if and only if the figures change."""
    phase = current.required_phase()
    figures = live_figures(phase, now=current.now)
    access = current.score_access
    board = board_seen(phase, split="public", access=access, now=current.now)
    since, rows = compared_since(board), with_changes(board, board.top(TOP))
    top = [(row, change_html(row, since, access.decimals)) for row in rows]
    state, next_date = overview.state_of(phase, current.now), overview.next_date(phase, current.now)
    return {
        "current": current,
        "now": current.now,
        "route": "organize_live",
        "figures": figures,
        "state": state,
        "next_date": next_date,
        "chart": day_chart(figures.days),
        "top": top,
        "decimals": access.decimals,
        "key": sha256(repr((figures, top, state, next_date)).encode()).hexdigest()[:16],
    }
