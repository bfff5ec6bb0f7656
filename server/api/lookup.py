"""Looks up the objects identified by the URL of an API request.

If the user may not see an object, the response has status 404, as if the object did not exist.
"""

from uuid import UUID

from django.http import Http404
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from server.challenges.approval import not_a_member
from server.challenges.models import Challenge, Membership, Phase, Team
from server.challenges.reading import ReadChallenge, membership_of
from server.challenges.roles import Right, refuse_archived, refuse_without
from server.errors import Refused
from server.leaderboards.reading import read_with_boards
from server.submissions.reading import ReadSubmission, read_submission

TWO_FACTOR_REQUIRED = (
    "This challenge requires its organizers to use two-factor authentication. Turn it on in your account, and "
    "try again."
)


def challenge_at(request: Request, slug: str) -> Challenge:
    return read_challenge_at(request, slug).challenge


def read_challenge_at(request: Request, slug: str, *, archived: bool = False) -> ReadChallenge:
    """Return the challenge with the given slug, and whether the user organizes it. Raises Http404 if there is none.

    If the challenge is archived, a request that could change data raises Refused, unless `archived` is true.
    """
    found = read_with_boards(request.user, slug)
    if found is None:
        raise Http404
    if request.method not in SAFE_METHODS and not archived:
        refuse_archived(found.challenge)
    return found


def phase_at(request: Request, slug: str, phase: str) -> Phase:
    return read_phase_at(request, slug, phase)[0]


def read_phase_at(request: Request, slug: str, phase: str) -> tuple[Phase, ReadChallenge]:
    """Look up a phase and its challenge by their slugs.

    The returned `ReadChallenge` contains the challenge, the database's current time, and whether the user
    organizes the challenge. Raises Http404 if the user may not see the phase.
    """
    read = read_challenge_at(request, slug)
    found = next((one for one in read.phases if one.slug == phase), None)
    if found is None:
        raise Http404
    return found, read


def organized_phase_at(request: Request, slug: str, phase: str) -> Phase:
    """Look up a phase by its slug and the slug of its challenge. Raises Refused if the user is not an organizer."""
    found = phase_at(request, slug, phase)
    require_organizer(request, found.challenge)
    return found


def organized_challenge_at(request: Request, slug: str, *, archived: bool = False) -> Challenge:
    """Return the challenge with the given slug. Raises Refused if the user does not organize the challenge."""
    found = read_challenge_at(request, slug, archived=archived).challenge
    require_organizer(request, found, archived=archived)
    return found


def require_organizer(request: Request, challenge: Challenge, *, archived: bool = False) -> None:
    """Raise Refused unless the user is an organizer with the right that the request requires.

    Safe HTTP methods require the right to read, and all others the right to edit.
    """
    is_locked = request.user.is_authenticated and not challenge.is_organized_by(request.user)
    if is_locked and challenge.has_organizer(request.user):
        raise Refused("two_factor_required", TWO_FACTOR_REQUIRED)
    right = Right.READ if request.method in SAFE_METHODS else Right.EDIT
    refuse_without(right, by=request.user, challenge=challenge, archived=archived)


def submission_at(request: Request, submission_id: UUID) -> ReadSubmission:
    found = read_submission(request.user, submission_id)
    if found is None:
        raise Http404
    return found


def own_team(request: Request, phase: Phase) -> Team:
    """Return the user's team in the challenge of a phase. Raises Refused if the user has no team."""
    return own_membership(request, phase.challenge).team


def own_membership(request: Request, challenge: Challenge) -> Membership:
    """Return the user's membership in a challenge. Raises Refused if the user has no team."""
    found = membership_of(request.user, challenge)
    if found is None:
        advice = f"Join the challenge first: POST /api/v1/challenges/{challenge.slug}/join."
        raise not_a_member(request.user, challenge, advice=advice)
    return found


def team_named(challenge: Challenge, name: str) -> Team:
    """Return the team with the given name in a challenge, ignoring letter case. Raises Refused if there is none."""
    found = challenge.teams.filter(name__iexact=name.strip(), is_baseline=False).first()
    if found is None:
        raise Refused("invalid", "There is no team with this name. Write the name exactly as the leaderboard shows it.")
    return found
