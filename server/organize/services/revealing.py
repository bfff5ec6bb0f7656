"""Reveals the private scores of a closed phase. A reveal can be cancelled until the scores are shown."""

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Phase
from server.challenges.roles import Right
from server.challenges.services import lock_organized_phase
from server.challenges.term_changes import REVEAL_DELAY
from server.clock import database_now, time_text, utc_text
from server.errors import Refused


@transaction.atomic
def reveal(*, phase: Phase, by: User | None, name: str) -> Phase:
    """Show the private scores of a closed phase to everybody after `REVEAL_DELAY`.

    As confirmation, `name` must be the short name of the phase.
    """
    locked = lock_organized_phase(phase, by=by, right=Right.OWN)
    now = database_now()
    if name.strip() != locked.slug:
        raise Refused("invalid", f"To reveal the private scores, type the short name of the phase: {locked.slug}.")
    if not locked.has_ended(now):
        raise Refused("change_refused", "This phase is not over. Its private scores can be revealed after its end.")
    if locked.shown_from is not None:
        detail = (
            "You do not need to reveal the private scores: everyone can read them from "
            f"{utc_text(locked.shown_from)} on."
        )
        raise Refused("change_refused", detail)
    locked.reveals_at = now + REVEAL_DELAY
    locked.save(update_fields=["reveals_at"])
    detail_of_entry = {"shown_from": time_text(locked.reveals_at)}
    audit.record(actor=by, action="phase.revealed", subject=f"phase {locked}", detail=detail_of_entry)
    return locked


@transaction.atomic
def take_back(*, phase: Phase, by: User | None) -> Phase:
    """Cancel the reveal of private scores that nobody can read yet. An owner can reveal them later."""
    locked = lock_organized_phase(phase, by=by, right=Right.OWN)
    now = database_now()
    if locked.shows_private(now):
        raise Refused("change_refused", "The private scores are already shown, so this cannot be undone.")
    if not is_pending(locked):
        raise Refused("change_refused", "There is no reveal to cancel.")
    changed = ["reveal"] if locked.reveal != Phase.MANUAL else []
    locked.reveal, locked.reveals_at = Phase.MANUAL, None
    locked.save(update_fields=["reveal", "reveals_at"])
    audit.record(actor=by, action="phase.reveal_taken_back", subject=f"phase {locked}")
    if changed:  # A later import reads this audit entry to detect that `reveal` was changed on the server.
        detail = {"fields": changed, "values": {"reveal": [Phase.AT_CLOSE, Phase.MANUAL]}}
        audit.record(actor=by, action="phase.changed", subject=f"phase {locked.pk}", detail=detail)
    return locked


def is_pending(phase: Phase) -> bool:
    """Return whether the private scores become visible at the time of a reveal instead of the end of the phase.

    The result remains true after that time.
    """
    return phase.reveals_at is not None and phase.shown_from == phase.reveals_at
