"""The template context for the team page, for members and for people without a team."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import Q

from server.accounts.models import User
from server.challenges.models import Membership, Team
from server.pages.challenge_context import ChallengeContext
from server.submissions.services import quota
from server.teams.facts import facts_of
from server.teams.models import Invitation, MergeProposal, TeamProfile
from server.teams.rules import Invite, Leave, Remove, reasons_against
from server.teams.services.changes import present_terms

PER_PAGE = 50


def member_context(current: ChallengeContext, membership: Membership, *, page: str | None) -> dict[str, Any]:
    """Return the template context of the team page for a member. `page` is the page number in the quota history."""
    team = membership.team
    facts, terms = facts_of(team), present_terms(current.challenge)
    proposals = MergeProposal.objects.filter(expires_at__gt=current.now).select_related("team", "other")
    context: dict[str, Any] = {
        "current": current,
        "now": current.now,
        "me": membership,
        "members": list(team.memberships.select_related("user")),
        "is_bound": facts.is_bound,
        "invitations": waiting_invitations(team, current),
        "against_growth": next(reasons_against(Invite(facts), terms), ""),
        "against_leaving": next(reasons_against(Leave(facts, is_captain=membership.is_captain), terms), ""),
        "against_removal": next(reasons_against(Remove(facts), terms), ""),
        "proposals": list(proposals.filter(Q(team=team) | Q(other=team))),
        "profile": TeamProfile.objects.filter(team=team).first() or TeamProfile(team=team),
    }
    if current.phase:
        changes = Paginator(quota.statement(team=team, phase=current.phase), PER_PAGE)
        state = quota.state(team=team, phase=current.phase, now=current.now)
        context |= {
            "quota": state,
            "grants": quota.grants_of(team=team, phase=current.phase),
            "quota_changes": changes.get_page(page),
        }
    return context


def waiting_invitations(team: Team, current: ChallengeContext) -> list[Invitation]:
    return list(Invitation.objects.waiting(current.now).filter(team=team).select_related("user"))


def outsider_context(current: ChallengeContext, user: User) -> dict[str, Any]:
    """Return the template context of the team page for a person without a team.

    It contains the person's invitations and requests to join a team.
    """
    waiting = Invitation.objects.waiting(current.now).filter(user=user, team__challenge=current.challenge)
    return {
        "current": current,
        "now": current.now,
        "join_state": current.join_state,
        "invitations": list(waiting.select_related("team")),
    }
