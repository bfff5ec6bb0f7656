"""Adds and removes the organizers of a challenge, and changes their roles. A challenge always has an owner."""

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Challenge, Organizer
from server.challenges.roles import Right, Role
from server.challenges.services import competing, lock_organized
from server.clock import database_now
from server.errors import Refused

LAST_OWNER = "A challenge needs an owner. Make somebody else an owner first."


@transaction.atomic
def add(*, challenge: Challenge, by: User | None, username: str, role: str) -> Organizer:
    """Make a person an organizer. Raises Refused for participants, because organizers read the private leaderboard."""
    locked = lock_organized(challenge.pk, by=by, right=Right.OWN)
    user = User.objects.filter(username__iexact=username.strip(), is_active=True).first()
    if user is None:
        raise Refused("invalid", "username: there is no account with this name.")
    if Organizer.objects.filter(challenge=locked, user=user).exists():
        raise Refused("invalid", f"username: {user} is already an organizer.")
    if members := competing(locked, [user]):
        raise Refused("invalid", f"username: {members[0]}. Organizers can read the private leaderboard.")
    found = Organizer(challenge=locked, user=user)
    return save(found, role, by, action="organizer.added")


@transaction.atomic
def change_role(*, organizer: Organizer, by: User | None, role: str) -> Organizer:
    """Give an organizer another role. Raises Refused for the last owner."""
    lock_organized(organizer.challenge_id, by=by, right=Right.OWN)
    found = reload(organizer)
    if role != Role.OWNER:
        refuse_last_owner(found)
    return found if found.role == role else save(found, role, by, action="organizer.changed")


@transaction.atomic
def remove(*, organizer: Organizer, by: User | None) -> None:
    """Take the role of an organizer away. Raises Refused for the last owner."""
    lock_organized(organizer.challenge_id, by=by, right=Right.OWN)
    found = reload(organizer)
    refuse_last_owner(found)
    found.delete()
    record(found, by, action="organizer.removed")


def reload(organizer: Organizer) -> Organizer:
    found = Organizer.objects.select_related("challenge", "user").filter(pk=organizer.pk).first()
    if found is None:
        raise Refused("not_found", "This person is no longer an organizer.")
    return found


def refuse_last_owner(organizer: Organizer) -> None:
    owners = Organizer.objects.filter(challenge=organizer.challenge_id, role=Role.OWNER)
    if organizer.role == Role.OWNER and not owners.exclude(pk=organizer.pk).exists():
        raise Refused("change_refused", LAST_OWNER)


def save(organizer: Organizer, role: str, by: User | None, *, action: str) -> Organizer:
    """Store the role with an audit entry. The person gets a notice, unless they gave the role to themselves."""
    if role not in Role.values:
        raise Refused("invalid", f"role: choose one of {', '.join(Role.values)}.")
    organizer.role, organizer.given_at = role, None if organizer.user == by else database_now()
    organizer.save()
    record(organizer, by, action=action)
    return organizer


def record(organizer: Organizer, by: User | None, *, action: str) -> None:
    detail = {"user": organizer.user_id, "role": str(organizer.role)}
    audit.record(actor=by, action=action, subject=f"challenge {organizer.challenge.slug}", detail=detail)
