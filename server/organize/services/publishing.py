"""Publishes a draft, takes it back, and deletes a challenge that nobody has joined."""

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Challenge
from server.challenges.roles import Right
from server.challenges.services import lock_organized
from server.errors import Refused
from server.organize.services.phases import remove


@transaction.atomic
def publish(*, challenge: Challenge, by: User, visibility: str) -> Challenge:
    """Show a draft to participants. Raises Refused without a contact address or a phase."""
    locked = lock_organized(challenge.pk, by=by, right=Right.EDIT)
    if locked.visibility != Challenge.Visibility.DRAFT:
        raise Refused("invalid", "This challenge is already published.")
    if visibility not in Challenge.Visibility.values or visibility == Challenge.Visibility.DRAFT:
        raise Refused("invalid", "Visibility: choose public, unlisted or private.")
    if not locked.contact:
        raise Refused("invalid", "Contact: enter an address first, so that participants can ask questions.")
    if not locked.phases.exists():
        raise Refused("invalid", "Add a phase first.")
    return change_visibility(locked, by, visibility)


@transaction.atomic
def unpublish(*, challenge: Challenge, by: User) -> Challenge:
    """Make a challenge a draft again. Raises Refused if somebody has joined it."""
    locked = lock_organized(challenge.pk, by=by, right=Right.EDIT)
    refuse_joined(locked)
    return change_visibility(locked, by, Challenge.Visibility.DRAFT)


@transaction.atomic
def delete(*, challenge: Challenge, by: User, name: str) -> None:
    """Delete a challenge with its phases and ground truths. `name` must be its short name.

    Raises Refused if somebody has joined it or asked to join it.
    """
    locked = lock_organized(challenge.pk, by=by, right=Right.OWN)
    refuse_joined(locked)
    if name.strip() != locked.slug:
        raise Refused("invalid", f"To delete the challenge, type its short name: {locked.slug}.")
    for phase in locked.phases.all():
        remove(phase)
    pk = locked.pk
    locked.teams.all().delete()  # only baselines are left
    locked.delete()
    audit.record(actor=by, action="challenge.deleted", subject=f"challenge {pk}", detail={"slug": challenge.slug})


def refuse_joined(challenge: Challenge) -> None:
    teams = challenge.teams.filter(is_baseline=False)
    if challenge.memberships.exists() or challenge.join_requests.exists() or teams.exists():
        raise Refused("change_refused", "Somebody has joined or asked to join. Close the challenge instead.")


def change_visibility(challenge: Challenge, by: User, visibility: str) -> Challenge:
    """Store the visibility. An import finds the change by its audit entry, like every edit."""
    detail = {"fields": ["visibility"], "values": {"visibility": [challenge.visibility, visibility]}}
    challenge.visibility = visibility
    challenge.save(update_fields=["visibility"])
    audit.record(actor=by, action="challenge.changed", subject=f"challenge {challenge.pk}", detail=detail)
    return challenge
