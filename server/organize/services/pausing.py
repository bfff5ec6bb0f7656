"""Pauses and resumes the submissions to a phase. During a pause, files that were submitted earlier are still scored."""

from django.db import transaction

from evaluator.texts import one_line
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Phase
from server.challenges.roles import Right
from server.challenges.services import lock_organized
from server.clock import database_now
from server.errors import Refused

REASON_CHARACTERS = 300


@transaction.atomic
def pause(*, phase: Phase, by: User | None, reason: str) -> Phase:
    """Refuse new submissions from now on.

    Participants can read the reason, and a new reason replaces the previous one.
    """
    locked = lock(phase, by)
    try:
        locked.pause_reason = one_line(reason, REASON_CHARACTERS)
    except ValueError as error:
        raise Refused("invalid", f"reason: {error}.") from None
    if not locked.is_paused:
        locked.paused_at, locked.resumed_at = database_now(), None
    return save(locked, by, action="phase.paused", detail={"reason": locked.pause_reason})


@transaction.atomic
def resume(*, phase: Phase, by: User | None) -> Phase:
    """Accept submissions again. Raises Refused if submissions are not paused."""
    locked = lock(phase, by)
    if not locked.is_paused:
        raise Refused("invalid", "Submissions are not paused.")
    locked.resumed_at = database_now()
    return save(locked, by, action="phase.resumed", detail={})


def lock(phase: Phase, by: User | None) -> Phase:
    """Lock the phase. Raises Refused if this person may not act as an organizer of its challenge."""
    lock_organized(phase.challenge_id, by=by, right=Right.EDIT)
    return Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)


def save(phase: Phase, by: User | None, *, action: str, detail: dict[str, str]) -> Phase:
    phase.save(update_fields=["paused_at", "resumed_at", "pause_reason"])
    audit.record(actor=by, action=action, subject=f"phase {phase.pk}", detail=detail)
    return phase
