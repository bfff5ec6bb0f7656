"""The rules page of a challenge, with the form to join it, and the page of the viewer's team."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from server.accounts.requests import PersonRequest
from server.challenges import approval
from server.challenges.models import JoinRequest
from server.errors import Refused
from server.pages.challenge_context import ChallengeContext, JoinState, find_context
from server.pages.forms import JoinForm
from server.pages.rendering import render_page
from server.submissions.services import quota

PER_PAGE = 50
JOIN_HEADINGS = {JoinState.MEMBER: "You are a member", JoinState.WAITING: "Waiting for approval"}


@require_safe
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    return show_rules(request, find_context(request, slug), JoinForm())


def show_rules(
    request: HttpRequest, current: ChallengeContext, form: JoinForm, refusal: Refused | None = None
) -> HttpResponse:
    context = {
        "current": current,
        "now": current.now,
        "form": form,
        "refusal": refusal,
        "join_state": current.join_state,
        "join_heading": JOIN_HEADINGS.get(current.join_state, "Join"),
    }
    return render_page(request, "challenge/rules.html", context)


@require_POST
@login_required
def join(request: PersonRequest, slug: str) -> HttpResponse:
    current = find_context(request, slug)
    form = JoinForm(request.POST)
    if not form.is_valid():
        return show_rules(request, current, form, Refused("invalid", "Fix the problems below and submit again."))
    try:
        joined = approval.enter(
            user=request.user,
            challenge=current.challenge,
            accept_rules=form.cleaned_data["accept_rules"],
            team_name=form.cleaned_data["team_name"],
        )
    except Refused as refusal:
        return show_rules(request, current, form, refusal)
    if isinstance(joined, JoinRequest):
        messages.success(request, "Your request to join is waiting for approval by an organizer.")
    else:
        messages.success(request, f"You joined {current.challenge.title} as {joined.team.name}.")
    return redirect(current.url("challenge"))


@require_safe
@login_required
def team(request: PersonRequest, slug: str) -> HttpResponse:
    current = find_context(request, slug)
    own = current.required_team()
    context: dict[str, Any] = {
        "current": current,
        "now": current.now,
        "members": own.memberships.select_related("user"),
    }
    if current.phase:
        changes = Paginator(quota.statement(team=own, phase=current.phase), PER_PAGE)
        context |= {
            "quota": quota.state(team=own, phase=current.phase, now=current.now),
            "quota_changes": changes.get_page(request.GET.get("page")),
        }
    return render(request, "challenge/team.html", context)
