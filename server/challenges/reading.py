"""Reads the parts of a challenge that a user may see, and the user's membership in the challenge."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, FilteredRelation, OuterRef, Q, QuerySet

from server.challenges.models import Challenge, JoinRequest, Membership, Phase
from server.challenges.visibility import Viewer
from server.clock import DatabaseNow
from server.compiled_queries import compiled_query


@dataclass(frozen=True, slots=True)
class ReadChallenge:
    """A challenge with its phases, the viewer's membership, and the database's current time.

    `membership` is None if the viewer is not a member or not logged in.
    """

    challenge: Challenge
    phases: list[Phase]
    membership: Membership | None
    is_organizer: bool
    now: datetime


def read_challenge(user: Any, slug: str, *, phases: Callable[..., list[Any]]) -> ReadChallenge | None:
    """Return the challenge with the given slug, or None if it does not exist or the user may not see it.

    `phases` is a compiled query that returns the rows of `seen_phases`, possibly with additional annotations.
    """
    asked = {"slug": slug, "user": user.pk, "is_staff": user.is_staff}
    found = phases(**asked)
    if found:
        first = found[0]
        for phase in found:
            phase.challenge = first.challenge
        # `own` is the user's membership in a team of the challenge. The query does not set it if the user is not a
        # member.
        return ReadChallenge(first.challenge, found, getattr(first, "own", None), first.is_organizer, first.now)
    named = next(iter(challenges_named(**asked)), None)
    return named and ReadChallenge(named, [], membership_of(user, named), named.is_organizer, named.now)


def seen_phases(*, slug: str, user: int | None, is_staff: bool) -> QuerySet[Any]:
    """Return the phases of the challenge with the given slug, or no rows if the user may not see the challenge.

    If the user is a member, the attribute `own` of each phase is the user's membership, with its team.
    """
    viewer = Viewer(user, is_staff)
    seen = Phase.objects.filter(challenge__in=Challenge.objects.readable_by(viewer).filter(slug=slug)).annotate(
        is_organizer=Exists(Challenge.objects.organized_by(viewer).filter(pk=OuterRef("challenge"))),
        now=DatabaseNow(),
    )
    if user is None:
        return seen.select_related("challenge")
    own = FilteredRelation("challenge__memberships", condition=Q(challenge__memberships__user=user))
    return seen.annotate(own=own).select_related("challenge", "own__team")  # type: ignore[misc]  # `own` is no field


@compiled_query
def challenges_named(*, slug: str, user: int | None, is_staff: bool) -> QuerySet[Any]:
    """Return a list with the challenge that has the given slug, even if it has no phases.

    The list is empty if there is no such challenge or the user may not see it.
    """
    viewer = Viewer(user, is_staff)
    organized = Exists(Challenge.objects.organized_by(viewer).filter(pk=OuterRef("pk")))
    return Challenge.objects.readable_by(viewer).filter(slug=slug).annotate(is_organizer=organized, now=DatabaseNow())


def membership_of(user: Any, challenge: Challenge) -> Membership | None:
    """Return a user's membership in a challenge, or None if the user is not a member or is not logged in."""
    found = memberships(user=user.pk, challenge=challenge.pk) if user.is_authenticated else []
    return next(iter(found), None)


@compiled_query
def memberships(*, user: int, challenge: int) -> QuerySet[Membership]:
    return Membership.objects.select_related("team").filter(user=user, challenge=challenge)


def request_of(user: Any, challenge: Challenge) -> JoinRequest | None:
    """Return a user's pending or declined request to join a challenge, or None if there is no request."""
    found = join_requests(user=user.pk, challenge=challenge.pk) if user.is_authenticated else []
    return next(iter(found), None)


@compiled_query
def join_requests(*, user: int, challenge: int) -> QuerySet[JoinRequest]:
    return JoinRequest.objects.filter(user=user, challenge=challenge)
