"""Adds and removes organizers of a challenge, and changes their roles. The last owner of a challenge cannot be removed.

A user who is in a team of the challenge is not added immediately, but receives an offer. If the user accepts it, the
team is removed from the leaderboards, because organizers can read the private leaderboard.
"""

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.disqualification import take_off
from server.challenges.models import Challenge, Organizer, RoleOffer
from server.challenges.reading import membership_of
from server.challenges.roles import Right, Role, refuse_archived, refuse_without
from server.challenges.services import competing, lock_organized
from server.clock import database_now
from server.errors import Refused

TAKEN_OFF = "A member of the team became an organizer of this challenge, and can read the private leaderboard."
NO_ORGANIZER = "This person is no longer an organizer."
NO_OFFER = "This offer is no longer open: it was withdrawn, accepted or declined."
LAST_OWNER = "A challenge needs an owner. Make someone else an owner first."


@transaction.atomic
def add(*, challenge: Challenge, by: User | None, username: str, role: str) -> Organizer | RoleOffer:
    """Make a user an organizer of a challenge. If the user is in a team of the challenge, offer the role instead."""
    locked = lock_organized(challenge.pk, by=by, right=Right.OWN)
    user = User.objects.filter(username__iexact=username.strip(), is_active=True).first()
    if user is None:
        raise Refused("invalid", "username: there is no account with this name.")
    if Organizer.objects.filter(challenge=locked, user=user).exists():
        raise Refused("invalid", f"username: {user} is already an organizer.")
    if competing(locked, [user]):
        return offer(locked, user, role, by)
    return save(Organizer(challenge=locked, user=user), role, by, action="organizer.added")


def offer(challenge: Challenge, user: User, role: str, by: User | None) -> RoleOffer:
    """Offer an organizer role to a user who is in a team. A new offer replaces the previous one."""
    values = {"role": checked(role), "offered_at": database_now()}
    found, _ = RoleOffer.objects.update_or_create(challenge=challenge, user=user, defaults=values)
    record(found, by, action="organizer.offered")
    return found


@transaction.atomic
def accept(*, offer: RoleOffer) -> Organizer:
    """Accept an offer: the user becomes an organizer, and the user's team is removed from the leaderboards."""
    found = close(offer)
    member = membership_of(found.user, found.challenge)
    if member and member.team.disqualified_at is None:
        take_off(team=member.team, by=found.user, reason=TAKEN_OFF)
    organizer = Organizer(challenge=found.challenge, user=found.user)
    return save(organizer, found.role, found.user, action="organizer.added")


@transaction.atomic
def decline(*, offer: RoleOffer, by: User) -> RoleOffer:
    """Delete the offer of a role, because the user declines it or an owner of the challenge withdraws it."""
    found = close(offer)
    if found.user != by:
        refuse_without(Right.OWN, by=by, challenge=found.challenge)
    record(found, by, action="organizer.offer_closed")
    return found


def close(offer: RoleOffer) -> RoleOffer:
    """Lock the challenge of an offer, and delete the offer.

    Raises Refused if the offer no longer exists or the challenge is archived.
    """
    locked = Challenge.objects.select_for_update(no_key=True).get(pk=offer.challenge_id)
    refuse_archived(locked)
    found = RoleOffer.objects.select_related("user").filter(pk=offer.pk).first()
    if found is None:
        raise Refused("not_found", NO_OFFER)
    RoleOffer.objects.filter(pk=found.pk).delete()
    found.challenge = locked
    return found


@transaction.atomic
def change_role(*, organizer: Organizer, by: User | None, role: str) -> Organizer:
    """Give an organizer another role. Raises Refused if the challenge would have no owner."""
    lock_organized(organizer.challenge_id, by=by, right=Right.OWN)
    found = reload(organizer)
    if role != Role.OWNER:
        refuse_last_owner(found)
    return found if found.role == role else save(found, role, by, action="organizer.changed")


@transaction.atomic
def remove(*, organizer: Organizer, by: User | None) -> None:
    """Remove an organizer from a challenge. Raises Refused if the challenge would have no owner."""
    lock_organized(organizer.challenge_id, by=by, right=Right.OWN)
    found = reload(organizer)
    refuse_last_owner(found)
    found.delete()
    record(found, by, action="organizer.removed")


def reload(organizer: Organizer) -> Organizer:
    found = Organizer.objects.select_related("challenge", "user").filter(pk=organizer.pk).first()
    if found is None:
        raise Refused("not_found", NO_ORGANIZER)
    return found


def refuse_last_owner(organizer: Organizer) -> None:
    owners = Organizer.objects.filter(challenge=organizer.challenge_id, role=Role.OWNER)
    if organizer.role == Role.OWNER and not owners.exclude(pk=organizer.pk).exists():
        raise Refused("change_refused", LAST_OWNER)


def save(organizer: Organizer, role: str, by: User | None, *, action: str) -> Organizer:
    """Save the role of an organizer, and write an audit entry.

    The organizer is notified if another user assigned the role; see `given_at`.
    """
    organizer.role, organizer.given_at = checked(role), None if organizer.user == by else database_now()
    organizer.save()
    record(organizer, by, action=action)
    return organizer


def checked(role: str) -> str:
    if role not in Role.values:
        raise Refused("invalid", f"role: choose one of {', '.join(Role.values)}.")
    return role


def record(organizer: Organizer | RoleOffer, by: User | None, *, action: str) -> None:
    detail = {"user": organizer.user_id, "role": str(organizer.role)}
    audit.record(actor=by, action=action, subject=f"challenge {organizer.challenge.slug}", detail=detail)
