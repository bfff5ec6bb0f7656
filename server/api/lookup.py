"""Looks up the objects named in a request's URL. Objects that the user may not see are also answered with 404."""

from uuid import UUID

from django.http import Http404
from rest_framework.request import Request

from server.challenges.approval import not_a_member
from server.challenges.models import Challenge, Membership, Phase, Team
from server.errors import Refused
from server.submissions.feedback import with_scores
from server.submissions.models import Submission


def challenge_at(request: Request, slug: str) -> Challenge:
    challenge = Challenge.objects.readable_by(request.user).filter(slug=slug).first()
    if challenge is None:
        raise Http404
    return challenge


def phase_at(request: Request, slug: str, phase: str) -> Phase:
    found = Phase.objects.select_related("challenge").filter(challenge=challenge_at(request, slug), slug=phase).first()
    if found is None:
        raise Http404
    return found


def organized_phase_at(request: Request, slug: str, phase: str) -> Phase:
    """Return the phase with these slugs. Raises Refused unless the user organizes its challenge."""
    found = phase_at(request, slug, phase)
    require_organizer(request, found.challenge)
    return found


def organized_challenge_at(request: Request, slug: str) -> Challenge:
    """Return the challenge with this slug. Raises Refused unless the user organizes it."""
    found = challenge_at(request, slug)
    require_organizer(request, found)
    return found


def require_organizer(request: Request, challenge: Challenge) -> None:
    if not challenge.is_organized_by(request.user):
        raise Refused("forbidden", "Only organizers of the challenge may do this.")


def submission_at(request: Request, submission_id: UUID) -> Submission:
    visible = Submission.objects.visible_to(request.user)
    submission = with_scores(visible).filter(pk=submission_id).first()
    if submission is None:
        raise Http404
    return submission


def team_of(request: Request, phase: Phase) -> Team | None:
    """Return the user's team in the challenge of a phase, or None."""
    if not request.user.is_authenticated:
        return None
    memberships = Membership.objects.filter(user=request.user, challenge=phase.challenge_id)
    membership = memberships.select_related("team").first()
    return membership.team if membership else None


def own_team(request: Request, phase: Phase) -> Team:
    """Return the user's team in the challenge of a phase. Raises Refused if there is none."""
    team = team_of(request, phase)
    if team is None:
        advice = f"Join it first: POST /api/v1/challenges/{phase.challenge.slug}/join."
        raise not_a_member(request.user, phase.challenge, advice=advice)
    return team
