"""Publishes a draft now or later, makes a challenge a draft again, and deletes a challenge that nobody has joined."""

from datetime import datetime

from django.db import transaction
from django.dispatch import receiver

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.gate import may_open
from server.challenges.models import Challenge
from server.challenges.roles import Right
from server.challenges.services import JOINED, has_joined, lock_organized
from server.clock import database_now, time_text
from server.errors import Refused
from server.organize.models import Publication
from server.organize.services.phases import remove
from server.submissions.signals import swept


@transaction.atomic
def publish(*, challenge: Challenge, by: User | None, visibility: str) -> Challenge:
    """Publish a draft.

    Raises Refused if the challenge has no contact address or no phase, or if the gate of a phase (checks of its ground
    truth) is not green.
    """
    locked = lock_draft(challenge, by, visibility)
    if found := obstacle(locked):
        raise found
    Publication.objects.filter(challenge=locked).delete()
    return change_visibility(locked, by, visibility)


def obstacle(challenge: Challenge) -> Refused | None:
    """Return the reason why a draft cannot be published yet, or None."""
    if not challenge.contact:
        return Refused("invalid", "Contact: enter an address for participants' questions first.")
    phases = list(challenge.phases.prefetch_related("truths"))
    if not phases:
        return Refused("invalid", "Add a phase first.")
    closed = next((phase.slug for phase in phases if not may_open(phase)), None)
    if closed is not None:
        return Refused("gate_not_green", f"The gate of phase {closed} is not green. Fix its ground truth first.")
    return None


def lock_draft(challenge: Challenge, by: User | None, visibility: str) -> Challenge:
    """Lock a draft.

    Raises Refused if the challenge is already published, or if `visibility` is not public, unlisted or private.
    """
    locked = lock_organized(challenge.pk, by=by, right=Right.EDIT)
    if locked.visibility != Challenge.Visibility.DRAFT:
        raise Refused("invalid", "This challenge is already published.")
    if visibility not in Challenge.Visibility.values or visibility == Challenge.Visibility.DRAFT:
        raise Refused("invalid", "Visibility: choose public, unlisted or private.")
    return locked


@transaction.atomic
def schedule(*, challenge: Challenge, by: User, visibility: str, at: datetime) -> Publication:
    """Schedule the publication of a draft by a periodic task, the sweeper. A new time replaces the previous one."""
    locked = lock_draft(challenge, by, visibility)
    if at <= database_now():
        raise Refused("invalid", "Time: choose a time in the future, or publish the challenge now.")
    values = {"at": at, "visibility": visibility, "failed_at": None, "failure": ""}
    found, _ = Publication.objects.update_or_create(challenge=locked, defaults=values)
    detail = {"at": time_text(at), "visibility": visibility}
    audit.record(actor=by, action="publication.scheduled", subject=f"challenge {locked.slug}", detail=detail)
    return found


@transaction.atomic
def unschedule(*, challenge: Challenge, by: User) -> None:
    """Cancel the scheduled publication of a draft, if there is one."""
    locked = lock_organized(challenge.pk, by=by, right=Right.EDIT)
    cancel_publication(locked, by)


def cancel_publication(challenge: Challenge, by: User | None) -> None:
    """Delete the scheduled publication of a locked challenge, if there is one."""
    if Publication.objects.filter(challenge=challenge).delete()[0]:
        audit.record(actor=by, action="publication.cancelled", subject=f"challenge {challenge.slug}")


@receiver(swept)
def publish_due(**signal: object) -> None:
    """Publish the draft challenges whose scheduled time of publication has passed."""
    due = Publication.objects.filter(at__lte=database_now(), failed_at=None)
    for one in due.select_related("challenge"):
        publish_scheduled(one.challenge)


@transaction.atomic
def publish_scheduled(challenge: Challenge) -> None:
    """Publish a scheduled draft. If it cannot be published, store the reason, so that the owners are notified."""
    locked = lock_organized(challenge.pk, by=None, right=Right.READ)
    found = Publication.objects.filter(challenge=locked, failed_at=None).first()
    # There is nothing to do if another sweeper has published the draft, or if its publication was cancelled.
    if found is None:
        return
    if locked.visibility != Challenge.Visibility.DRAFT:  # It was published in the admin.
        found.delete()
        return
    try:
        publish(challenge=locked, by=None, visibility=found.visibility)
    except Refused as refusal:
        found.failed_at, found.failure = database_now(), refusal.detail
        found.save(update_fields=["failed_at", "failure"])
        audit.record(actor=None, action="publication.failed", subject=f"challenge {locked.slug}")


@transaction.atomic
def unpublish(*, challenge: Challenge, by: User) -> Challenge:
    """Make a challenge a draft again. Raises Refused if it is a draft already, or if somebody has joined it."""
    locked = lock_organized(challenge.pk, by=by, right=Right.EDIT)
    if locked.visibility == Challenge.Visibility.DRAFT:
        raise Refused("invalid", "This challenge is already a draft.")
    refuse_joined(locked)
    cancel_publication(locked, by)  # It remains if the draft was published in the admin.
    return change_visibility(locked, by, Challenge.Visibility.DRAFT)


@transaction.atomic
def delete(*, challenge: Challenge, by: User, name: str) -> None:
    """Delete a challenge with its phases and ground truths. As confirmation, `name` must be its short name.

    Raises Refused if somebody has joined it or asked to join it.
    """
    locked = lock_organized(challenge.pk, by=by, right=Right.OWN)
    refuse_joined(locked)
    if name.strip() != locked.slug:
        raise Refused("invalid", f"To delete the challenge, type its short name: {locked.slug}.")
    for phase in locked.phases.all():
        remove(phase)
    pk = locked.pk
    # The remaining teams are those of baselines, because `refuse_joined` raises Refused if there are any other teams.
    locked.teams.all().delete()
    locked.delete()
    audit.record(actor=by, action="challenge.deleted", subject=f"challenge {pk}", detail={"slug": challenge.slug})


def refuse_joined(challenge: Challenge) -> None:
    if has_joined(challenge):
        raise Refused("change_refused", JOINED)


def change_visibility(challenge: Challenge, by: User | None, visibility: str) -> Challenge:
    """Store a challenge's new visibility. A later import detects the change from its entry in the audit log."""
    detail = {"fields": ["visibility"], "values": {"visibility": [challenge.visibility, visibility]}}
    challenge.visibility = visibility
    challenge.save(update_fields=["visibility"])
    audit.record(actor=by, action="challenge.changed", subject=f"challenge {challenge.pk}", detail=detail)
    return challenge
