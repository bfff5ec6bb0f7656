"""Pages for merging two teams: the preview of a merge, its proposal, and the decision of the other captain."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges.models import Team
from server.errors import Refused
from server.pages.challenge_context import ChallengeContext, find_context
from server.pages.rendering import render_page
from server.pages.views.team import changed, show_team
from server.teams.models import MergeProposal
from server.teams.services import merging

NO_TEAM = "There is no other team with this name. Enter it exactly as the leaderboard shows it."


@require_http_methods(FORM_METHODS)
@login_required
def merge(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the effects of merging another team into the viewer's team. A POST request proposes the merge."""
    current = find_context(request, slug)
    own = captained_team(current)
    # Null characters are replaced, because PostgreSQL rejects a query that contains one.
    name = (request.POST if request.method == "POST" else request.GET).get("team", "").replace("\0", " ").strip()
    other = current.challenge.teams.filter(name__iexact=name, is_baseline=False).exclude(pk=own.pk).first()
    if other is None:
        return show_team(request, slug, Refused("invalid", NO_TEAM))
    if request.method != "POST":
        return show_preview(request, current, own, other)

    def change(_: ChallengeContext) -> str:
        merging.propose(team=own, other=other, by=request.user)
        return f"You have proposed the merge. The captain of {other} will confirm or decline it."

    return changed(request, slug, change)


@require_http_methods(FORM_METHODS)
@login_required
def proposal(request: PersonRequest, slug: str, proposal: int) -> HttpResponse:
    """Show a proposed merge to the captains of the two teams. A POST request confirms, declines or withdraws it."""
    current = find_context(request, slug)
    own = captained_team(current)
    waiting = MergeProposal.objects.filter(Q(team=own) | Q(other=own), expires_at__gt=current.now)
    found = get_object_or_404(waiting.select_related("team__challenge", "other__challenge"), pk=proposal)
    if request.method != "POST":
        return show_preview(request, current, found.team, found.other, proposal=found)
    try:
        message = decide(request, found)
    except Refused as refusal:
        return show_preview(request, current, found.team, found.other, proposal=found, refusal=refusal)
    messages.success(request, message)
    return redirect(current.url("team"))


def decide(request: PersonRequest, found: MergeProposal) -> str:
    """Confirm, decline or withdraw a proposed merge, as the form requests. Return a message about the decision."""
    if request.POST.get("decision") == "confirm":
        team = merging.confirm(proposal=found, by=request.user)
        return f"{found.other} was merged into {team}."
    merging.close(proposal=found, by=request.user)
    return "The proposal is no longer open."


def captained_team(current: ChallengeContext) -> Team:
    """Return the viewer's team. Raises Refused if the viewer is not the captain of a team."""
    team = current.required_team()
    if current.membership is None or not current.membership.is_captain:
        raise Refused("forbidden", "Only the captain of the team can do this.")
    return team


def show_preview(
    request: PersonRequest,
    current: ChallengeContext,
    team: Team,
    other: Team,
    *,
    proposal: MergeProposal | None = None,
    refusal: Refused | None = None,
) -> HttpResponse:
    """Show the effects of merging two teams.

    Only the captain who decides on the merge sees which submissions the two teams have selected as final.
    """
    decides = proposal is not None and current.team == other
    context = {
        "current": current,
        "now": current.now,
        "team": team,
        "other": other,
        "preview": merging.preview(team, other, for_other=decides),
        "proposal": proposal,
        "decides": decides,
        "team_url": current.url("team"),
        "refusal": refusal,
    }
    return render_page(request, "team/merge.html", context)
