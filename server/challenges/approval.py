"""Joining by approval: a person is not a member until an organizer approves their request.

A request creates neither a team nor a membership, so no other code has to check for requests.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Challenge, JoinRequest, Membership, Team
from server.challenges.services import (
    add_member,
    check_admission,
    chosen_name,
    free_name,
    join,
    lock_challenge,
    membership_of,
    taken_names,
)
from server.errors import Refused

Status = JoinRequest.Status


class Decide(Protocol):
    """The function :func:`approve` or :func:`decline`."""

    def __call__(self, *, request: JoinRequest, by: User | None) -> Any: ...


def request_of(user: Any, challenge: Challenge) -> JoinRequest | None:
    """Return a person's waiting or declined request to join; None if there is none."""
    if not user.is_authenticated:
        return None
    return JoinRequest.objects.filter(challenge=challenge, user=user).first()


def not_a_member(user: Any, challenge: Challenge, *, advice: str) -> Refused:
    """Return the refusal for a person without a team. It depends on whether they have requested to join."""
    request = request_of(user, challenge)
    if request is None:
        return Refused("not_a_member", f"You are not in a team of this challenge. {advice}")
    if request.status == Status.DECLINED:
        return declined()
    return Refused("awaiting_approval", "Your request to join is waiting for approval by an organizer.")


def declined() -> Refused:
    return Refused("not_a_member", "The organizers declined your request to join. Write to them if this is a mistake.")


@transaction.atomic
def enter(*, user: User, challenge: Challenge, accept_rules: bool, team_name: str = "") -> Membership | JoinRequest:
    """Join, or request to join if organizers approve members. A second call changes nothing."""
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
    """Make the person a member with a team of their own. `by` is None for the operator."""
    waiting, challenge = decide(request, by=by, action="registration.approved")
    if challenge.is_organized_by(waiting.user):
        raise Refused(
            "forbidden",
            f"{waiting.user} organizes this challenge or is staff, and can read its private leaderboard, so they "
            "cannot take part. Decline the request.",
        )
    taken, wanted = taken_names(challenge), waiting.team_name
    name = free_name(wanted or waiting.user.get_username(), taken)
    team = Team.objects.create(challenge=challenge, name=name)
    return add_member(waiting.user, team, now=waiting.rules_accepted_at, is_captain=True)


@transaction.atomic
def decline(*, request: JoinRequest, by: User | None) -> None:
    """Decline the request. It is kept, so the person cannot make it again; it can still be approved."""
    waiting, _ = decide(request, by=by, action="registration.declined")
    JoinRequest.objects.filter(pk=waiting.pk).update(status=Status.DECLINED)


def decide_each(
    decision: Decide, requests: Iterable[JoinRequest], *, by: User | None
) -> Iterator[tuple[JoinRequest, Refused | None]]:
    """Approve or decline each request. Yield it with the refusal, or with None if it was approved or declined."""
    for request in requests:
        try:
            decision(request=request, by=by)
        except Refused as refusal:
            yield request, refusal
        else:
            yield request, None


def decide(request: JoinRequest, *, by: User | None, action: str) -> tuple[JoinRequest, Challenge]:
    """Lock the challenge, load the request and log the decision. Raises Refused unless `by` organizes the challenge."""
    challenge = Challenge.objects.select_for_update(no_key=True).get(pk=request.challenge_id)
    if by is not None and not challenge.is_organized_by(by):
        raise Refused("forbidden", "Only organizers of the challenge may do this.")
    waiting = JoinRequest.objects.select_related("user").filter(pk=request.pk).first()
    if waiting is None:
        raise Refused("not_found", "This request has already been approved.")
    detail = {"user": waiting.user.get_username()}
    audit.record(actor=by, action=action, subject=f"challenge {challenge.slug}", detail=detail)
    return waiting, challenge
