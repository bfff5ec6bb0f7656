"""Turns maintenance mode on and off, and refuses requests that change data while it is on."""

from datetime import datetime, timedelta
from math import ceil
from typing import Any

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.clock import database_now, time_text, utc_text
from server.errors import Refused
from server.maintenance.models import Maintenance

OVERDUE_RETRY_SECONDS = 60
SUBJECT = "service"


def current() -> Maintenance | None:
    return Maintenance.objects.first()


@transaction.atomic
def begin(*, minutes: int, reason: str, by: User | None) -> Maintenance:
    """Turn maintenance mode on. If it is already on, change its expected end and its reason."""
    now = database_now()
    started = current()
    fields = {"started_at": started.started_at if started else now, "until": now + timedelta(minutes=minutes)}
    found, _ = Maintenance.objects.update_or_create(pk=Maintenance.ONLY, defaults={**fields, "reason": reason})
    detail = {"until": time_text(found.until), "reason": reason}
    audit.record(actor=by, action="maintenance.started", subject=SUBJECT, detail=detail)
    return found


@transaction.atomic
def end(*, by: User | None) -> bool:
    """Turn maintenance mode off. Return False if it was not on."""
    removed, _ = Maintenance.objects.all().delete()
    if removed:
        audit.record(actor=by, action="maintenance.ended", subject=SUBJECT)
    return bool(removed)


def refuse_changes() -> None:
    """Raise Refused if maintenance mode is on.

    The mode is read from the database for each request, so a change of the mode takes effect immediately.
    """
    found = current()
    if found is not None:
        raise refusal(found, database_now())


def refusal(found: Maintenance, now: datetime) -> Refused:
    left = ceil((found.until - now).total_seconds())
    detail = (
        f"The service is under maintenance {sentence(found, now)} You can read everything, but you "
        "cannot change anything. No quota was used. Try again when the maintenance is over."
    )
    retry = left if left > 0 else OVERDUE_RETRY_SECONDS
    return Refused("maintenance", detail, until=found.until, retry_after=retry)


def sentence(found: Maintenance, now: datetime) -> str:
    """Return the second half of a sentence: how long the maintenance will take, and the reason for it."""
    reason = f": {found.reason.rstrip('.')}" if found.reason else ""
    if found.until > now:
        return f"until about {utc_text(found.until)}{reason}."
    return f"for longer than planned (expected end: {utc_text(found.until)}){reason}."


def as_dict(found: Maintenance | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"since": time_text(found.started_at), "until": time_text(found.until), "reason": found.reason}
