"""Publishes the announcements that organizers write."""

from typing import Any

from django.db import transaction

from evaluator.texts import one_line
from server.audit import services as audit
from server.challenges.models import Challenge
from server.challenges.roles import Right, refuse_without
from server.clock import database_now
from server.errors import Refused
from server.notices.models import Announcement

TITLE_CHARACTERS, TEXT_CHARACTERS = 120, 5000


def refuse_others(challenge: Challenge, by: Any) -> None:
    """Raise Refused if a user may not edit the challenge as an organizer."""
    refuse_without(Right.EDIT, by=by, challenge=challenge)


@transaction.atomic
def announce(*, challenge: Challenge, by: Any, title: str, text: str, with_mail: bool = True) -> Announcement:
    """Publish an announcement. All participants get a notice after the next run of the sweeper.

    If `with_mail` is false, nobody gets an email, not even users who want emails about announcements.
    """
    refuse_others(challenge, by)
    try:
        title = one_line(title, TITLE_CHARACTERS)
    except ValueError as error:
        raise Refused("invalid", f"title: {error}.") from None
    if not 1 <= len(text) <= TEXT_CHARACTERS:
        raise Refused("invalid", f"The text must have 1 to {TEXT_CHARACTERS} characters.")
    found = Announcement.objects.create(
        challenge=challenge,
        title=title,
        text=text,
        with_mail=with_mail,
        announced_at=database_now(),
        announced_by=by,
    )
    audit.record(actor=by, action="challenge.announced", subject=f"challenge {challenge.slug}", detail={"id": found.pk})
    return found
