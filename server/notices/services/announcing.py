"""Publishes the announcements that organizers write."""

from datetime import timedelta
from typing import Any

from django.db import transaction

from evaluator.texts import one_line
from server.audit import services as audit
from server.challenges.models import Challenge
from server.challenges.roles import Right, refuse_without
from server.challenges.services import lock_organized
from server.clock import database_now
from server.errors import Refused
from server.notices.models import Announcement

# If an announcement repeats one from the last minute, the organizer probably clicked the button twice.
REPEATED = timedelta(minutes=1)
TITLE_CHARACTERS, TEXT_CHARACTERS = 120, 5000


def refuse_others(challenge: Challenge, by: Any) -> None:
    """Raise Refused if a user may not edit the challenge as an organizer."""
    refuse_without(Right.EDIT, by=by, challenge=challenge)


@transaction.atomic
def announce(*, challenge: Challenge, by: Any, title: str, text: str, with_mail: bool = True) -> Announcement:
    """Publish an announcement. All participants get a notice after the next run of the sweeper.

    If `with_mail` is false, nobody gets an email, not even users who want emails about announcements. Raises Refused if
    the same announcement was published in the last minute.
    """
    locked = lock_organized(challenge.pk, by=by, right=Right.EDIT)
    try:
        title = one_line(title, TITLE_CHARACTERS)
    except ValueError as error:
        raise Refused("invalid", f"title: {error}.") from None
    if not 1 <= len(text) <= TEXT_CHARACTERS:
        raise Refused("invalid", f"The text must have 1 to {TEXT_CHARACTERS} characters.")
    now, fields = database_now(), {"challenge": locked, "title": title, "text": text, "with_mail": with_mail}
    if Announcement.objects.filter(**fields, announced_at__gt=now - REPEATED).exists():
        raise Refused(
            "change_refused", "The same announcement was published less than a minute ago. It was not published again."
        )
    found = Announcement.objects.create(**fields, announced_at=now, announced_by=by)
    audit.record(actor=by, action="challenge.announced", subject=f"challenge {challenge.slug}", detail={"id": found.pk})
    return found
