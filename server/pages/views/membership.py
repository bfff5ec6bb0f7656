"""The rules page of a challenge, with the form for joining it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from server.accounts.requests import PersonRequest
from server.challenges import approval
from server.challenges.models import JoinRequest
from server.errors import Refused
from server.pages.challenge_context import ChallengeContext, JoinState, find_context
from server.pages.forms import JoinForm
from server.pages.rendering import render_page

JOIN_HEADINGS = {JoinState.MEMBER: "You are taking part", JoinState.WAITING: "Waiting for approval"}


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
