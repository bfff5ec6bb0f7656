"""Joining a challenge by approval: a user becomes a member only after an organizer approves the request.

A request creates neither a team nor a membership, so no other code has to handle members that are not approved yet.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Challenge, JoinRequest, Membership, Team
from server.challenges.reading import membership_of, request_of
from server.challenges.roles import Right
from server.challenges.services import (
    add_member,
    check_admission,
    chosen_name,
    declined,
    free_name,
    join,
    lock_challenge,
    lock_organized,
    refuse_blocked,
    taken_names,
)
from server.errors import Refused

Status = JoinRequest.Status


class Decide(Protocol):
    """The signature of :func:`approve` and :func:`decline`, which decide on a request to join."""

    def __call__(self, *, request: JoinRequest, by: User | None) -> Any: ...


def not_a_member(user: Any, challenge: Challenge, *, advice: str) -> Refused:
    """Return the exception to raise for a user who is not a member of a challenge.

    The message depends on whether the user has requested to join.
    """
    request = request_of(user, challenge)
    if request is None:
        return Refused("not_a_member", f"You are not in a team of this challenge. {advice}")
    if request.status == Status.DECLINED:
        return declined()
    return Refused("awaiting_approval", "Your request to join is waiting for approval by an organizer.")


@transaction.atomic
def enter(*, user: User, challenge: Challenge, accept_rules: bool, team_name: str = "") -> Membership | JoinRequest:
    """Join a challenge, or request to join it if organizers approve members.

    If the user is already a member or has already requested to join, nothing changes.
    """
    locked = lock_challenge(challenge, user)
    if membership_of(user, locked) or locked.registration == Challenge.Registration.OPEN:
        return join(user=user, challenge=locked, accept_rules=accept_rules, team_name=team_name)
    if known := request_of(user, locked):
        if known.status == Status.DECLINED:
            raise declined()
        return known
    now = check_admission(locked, user, accept_rules=accept_rules)
    name = chosen_name(team_name, taken_names(locked)) if team_name.strip() else ""
    request = JoinRequest.objects.create(challenge=locked, user=user, team_name=name, rules_accepted_at=now)
    audit.record(actor=user, action="registration.requested", subject=f"challenge {locked.slug}")
    return request


@transaction.atomic
def approve(*, request: JoinRequest, by: User | None) -> Membership:
    """Approve a request to join a challenge. The user becomes the captain of a new team.

    `by` is the organizer who approves the request, or None for the operator of the server.
    """
    waiting, challenge = decide(request, by=by, action="registration.approved")
    if challenge.has_organizer(waiting.user):
        raise Refused(
            "forbidden",
            f"{waiting.user} is staff or an organizer of this challenge, and can read its private leaderboard, "
            "so this person cannot take part. Decline the request.",
        )
    refuse_blocked(waiting.user, challenge)
    taken, wanted = taken_names(challenge), waiting.team_name
    name = free_name(wanted or waiting.user.get_username(), taken)
    team = Team.objects.create(challenge=challenge, name=name)
    return add_member(waiting.user, team, now=waiting.rules_accepted_at, is_captain=True)


@transaction.atomic
def decline(*, request: JoinRequest, by: User | None) -> None:
    """Decline a request to join a challenge.

    The request is kept, so that the user cannot make another one. It can still be approved later.
    """
    waiting, _ = decide(request, by=by, action="registration.declined")
    JoinRequest.objects.filter(pk=waiting.pk).update(status=Status.DECLINED)


def decide_each(
    decision: Decide, requests: Iterable[JoinRequest], *, by: User | None
) -> Iterator[tuple[JoinRequest, Refused | None]]:
    """Approve or decline each of the given requests to join, by calling `decision` (`approve` or `decline`).

    Yield each request with the exception that prevented the decision, or with None on success.
    """
    for request in requests:
        try:
            decision(request=request, by=by)
        except Refused as refusal:
            yield request, refusal
        else:
            yield request, None


def decide(request: JoinRequest, *, by: User | None, action: str) -> tuple[JoinRequest, Challenge]:
    """Lock the challenge of a request to join, reload the request, and write an audit entry about the decision.

    Raises Refused if the user `by` may not decide on requests, or if the request no longer exists.
    """
    challenge = lock_organized(request.challenge_id, by=by, right=Right.EDIT)
    waiting = JoinRequest.objects.select_related("user").filter(pk=request.pk).first()
    if waiting is None:
        raise Refused("not_found", "This request has already been approved.")
    detail = {"user": waiting.user_id}
    audit.record(actor=by, action=action, subject=f"challenge {challenge.slug}", detail=detail)
    return waiting, challenge
