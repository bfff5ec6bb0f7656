"""Pauses and resumes submissions to a phase. Earlier submissions are still scored during a pause."""

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Phase
from server.challenges.roles import Right
from server.challenges.services import lock_organized_phase, reason_line
from server.clock import database_now
from server.errors import Refused


@transaction.atomic
def pause(*, phase: Phase, by: User | None, reason: str) -> Phase:
    """Stop accepting submissions to a phase until it is resumed.

    Participants can read the reason, and a new reason replaces the previous one.
    """
    locked = lock_organized_phase(phase, by=by, right=Right.EDIT)
    locked.pause_reason = reason_line(reason)
    if not locked.is_paused:
        locked.paused_at, locked.resumed_at = database_now(), None
    return save(locked, by, action="phase.paused", detail={"reason": locked.pause_reason})


@transaction.atomic
def resume(*, phase: Phase, by: User | None) -> Phase:
    """Accept submissions to a paused phase again. Raises Refused if submissions are not paused."""
    locked = lock_organized_phase(phase, by=by, right=Right.EDIT)
    if not locked.is_paused:
        raise Refused("invalid", "Submissions are not paused.")
    locked.resumed_at = database_now()
    return save(locked, by, action="phase.resumed", detail={})


def save(phase: Phase, by: User | None, *, action: str, detail: dict[str, str]) -> Phase:
    phase.save(update_fields=["paused_at", "resumed_at", "pause_reason"])
    audit.record(actor=by, action=action, subject=f"phase {phase.pk}", detail=detail)
    return phase
