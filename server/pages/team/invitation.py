"""The template context for the pages where a person accepts an invitation to a team."""

from typing import Any

from server.challenges.models import Challenge
from server.challenges.reading import membership_of
from server.clock import database_now
from server.teams.facts import facts_of
from server.teams.models import Invitation
from server.teams.services.members import reasons_against_entering


def invitation_context(invitation: Invitation, user: Any) -> dict[str, Any]:
    """Return the template context for an invitation: the team, the effects of joining it, and what prevents joining.

    `user` is the invited person, who can be anonymous.
    """
    team = invitation.team
    own = membership_of(user, team.challenge)
    return {
        "now": database_now(),
        "invitation": invitation,
        "team": team,
        "challenge": team.challenge,
        "members": list(team.memberships.select_related("user")),
        "own": own.team if own else None,
        "is_mine": own is not None and own.team_id == team.pk,
        "is_bound": facts_of(team).is_bound,
        "reasons": reasons_against_entering(user, team) if user.is_authenticated else [],
    }


def readable_invitation(token: str, user: Any) -> Invitation | None:
    """Return the invitation that belongs to the token in an invitation link.

    Return None if the token is not valid or if the user may not see the challenge.
    """
    found = Invitation.objects.of_token(token).waiting(database_now()).select_related("team__challenge").first()
    if found is None or not Challenge.objects.readable_by(user).filter(pk=found.team.challenge_id).exists():
        return None
    return found
