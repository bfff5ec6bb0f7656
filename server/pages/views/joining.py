"""Rules, joining by accepting them, and the team that one is in afterwards."""

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
from server.pages import place
from server.pages.answers import answer
from server.pages.forms import JoinForm
from server.pages.next_step import page
from server.submissions.services import quota

PER_PAGE = 50


@require_safe
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    return show_rules(request, place.find(request, slug), JoinForm())


def show_rules(request: HttpRequest, here: place.Place, form: JoinForm, refusal: Refused | None = None) -> HttpResponse:
    context = {"place": here, "now": here.now, "form": form, "refusal": refusal}
    return answer(request, "challenge/rules.html", context)


@require_POST
@login_required
def join(request: PersonRequest, slug: str) -> HttpResponse:
    here = place.find(request, slug)
    form = JoinForm(request.POST)
    if not form.is_valid():
        return show_rules(request, here, form, Refused("invalid", "Fix the problems below and submit again."))
    try:
        joined = approval.enter(
            user=request.user,
            challenge=here.challenge,
            accept_rules=form.cleaned_data["accept_rules"],
            team_name=form.cleaned_data["team_name"],
        )
    except Refused as refusal:
        return show_rules(request, here, form, refusal)
    if isinstance(joined, JoinRequest):
        messages.success(request, "Your request to join is waiting for approval by an organizer.")
    else:
        messages.success(request, f"You joined {here.challenge.title} as {joined.team.name}.")
    return redirect(page("challenge", here))


@require_safe
@login_required
def team(request: PersonRequest, slug: str) -> HttpResponse:
    here = place.find(request, slug)
    own = here.own_team()
    context = {"place": here, "now": here.now, "members": own.memberships.select_related("user")}
    if here.phase:
        lines = Paginator(quota.statement(team=own, phase=here.phase), PER_PAGE)
        context |= {
            "quota": quota.state(team=own, phase=here.phase, now=here.now),
            "statement": lines.get_page(request.GET.get("page")),
            "statement_link": f"{here.query}&" if here.query else "?",
        }
    return render(request, "challenge/team.html", context)
