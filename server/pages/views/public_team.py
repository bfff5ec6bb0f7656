"""The public page of a team, with the members who agreed to be named, the leaderboard entries, and the method."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from server.challenges.models import Membership, Team
from server.leaderboards.team_entries import has_been_shown
from server.pages.challenge_context import ChallengeContext, JoinState, find_context
from server.pages.team.public_team import places_of
from server.teams.models import TeamProfile


@require_safe
def public_team(request: HttpRequest, slug: str, team: int) -> HttpResponse:
    """Show the public page of a team.

    Until the team has appeared on a leaderboard, only its members and organizers can see the page.
    """
    current = find_context(request, slug)
    found = get_object_or_404(Team.objects.select_related("merged_into"), pk=team, challenge=current.challenge)
    is_own = found == current.team
    viewer: dict[str, Any] = {"viewer": request.user, "is_organizer": current.is_organizer, "now": current.now}
    if not (is_own or current.is_organizer or has_been_shown(found, current.phases, **viewer)):
        raise Http404("no such team")
    members = list(Membership.objects.filter(team=found).select_related("user"))
    context = {
        "current": current,
        "now": current.now,
        "team": found,
        "is_own": is_own,
        "shown": [member.user for member in members if member.is_shown],
        "others": sum(not member.is_shown for member in members),
        "profile": TeamProfile.objects.filter(team=found).first(),
        "places": places_of(found, current),
        "may_ask": may_ask(found, current) and bool(members),
    }
    return render(request, "team/public_team.html", context)


def may_ask(team: Team, current: ChallengeContext) -> bool:
    """Return whether the public page of a team shows the viewer a button for requesting to join the team."""
    is_outsider = current.user.is_authenticated and current.join_state in (JoinState.OPEN, JoinState.MEMBER)
    return is_outsider and current.team != team and not current.challenge.has_closed(current.now)
