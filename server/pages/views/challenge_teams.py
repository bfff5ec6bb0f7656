"""The page where organizers find the teams of a challenge, and approve or decline requests to join it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges import approval
from server.challenges.models import Challenge, JoinRequest
from server.challenges.search_names import searchable
from server.errors import Refused
from server.pages.challenge_context import ChallengeContext
from server.pages.rendering import render_page
from server.pages.views.organize import organized_context
from server.submissions.models import Submission

ROWS, REQUESTS = 50, 100


@require_http_methods(FORM_METHODS)
@login_required
def teams(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the teams of a challenge and the requests to join it. A POST request approves or declines a request."""
    current = organized_context(request, slug)
    if request.method != "POST":
        return show(request, current)
    try:
        said = decide(request, current)
    except Refused as refusal:
        return show(request, current, refusal)
    messages.success(request, said)
    return redirect("organize_teams", slug)


def decide(request: PersonRequest, current: ChallengeContext) -> str:
    """Approve or decline a request to join, as the form requests. Return a message about the decision."""
    act, key = request.POST.get("act"), request.POST.get("request", "")
    if act not in ("approve", "decline") or not key.isdecimal():
        raise Refused("invalid", "Choose a request to approve or decline.")
    found = JoinRequest.objects.select_related("user").filter(challenge=current.challenge, pk=key).first()
    if found is None:
        raise Refused("not_found", "This request has already been approved, or the person has joined another team.")
    if act == "approve":
        team = approval.approve(request=found, by=request.user).team
        return f"{found.user} joined the challenge with the team {team.name}."
    approval.decline(request=found, by=request.user)
    return f"The request from {found.user} was declined. You can still approve it."


def show(request: PersonRequest, current: ChallengeContext, refusal: Refused | None = None) -> HttpResponse:
    search = " ".join(request.GET.get("q", "").replace("\0", "").split())
    requests = current.challenge.join_requests.select_related("user").order_by("-status", "requested_at", "pk")
    pages = Paginator(found_teams(current.challenge, search), ROWS).get_page(request.GET.get("page"))
    submitted = submitted_by([team.pk for team in pages])
    context: dict[str, Any] = {
        "current": current,
        "now": current.now,
        "search": search,
        "pages": pages,
        "rows": [(team, submitted.get(team.pk, 0)) for team in pages],
        "query": f"{current.page_query}{urlencode({'q': search})}&" if search else current.page_query,
        "requests": requests[:REQUESTS],
        "request_count": requests.count(),
        "may_edit": current.may_edit,
        "refusal": refusal,
    }
    return render_page(request, "console/teams.html", context)


def found_teams(challenge: Challenge, search: str) -> Any:
    """Return the teams of a challenge whose names contain the given text, without baselines and merged teams."""
    found = challenge.teams.filter(is_baseline=False, merged_into=None, search_name__contains=searchable(search))
    return found.annotate(members=Count("memberships")).order_by("search_name", "pk")


def submitted_by(teams: list[int]) -> dict[int, int]:
    """Return the number of submissions of each team to all phases of its challenge."""
    counted = Submission.objects.filter(team__in=teams).order_by().values_list("team").annotate(Count("pk"))
    return dict(counted)
