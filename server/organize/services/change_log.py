"""The public change log of a phase: when and why its leaderboards started to use each ground truth."""

from django.db import transaction
from django.db.models import QuerySet

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Phase
from server.organize.models import Rescoring
from server.organize.services import rescoring


def applied(phase: Phase) -> QuerySet[Rescoring]:
    """Return the applied rescorings of a phase, newest first. Other rescorings are not public."""
    return phase.rescorings.exclude(applied_at=None).select_related("truth").order_by("-applied_at")


@transaction.atomic
def explain(*, found: Rescoring, by: User | None, reason: str, signed: str) -> Rescoring:
    """Store the reason for a rescoring and the organizer's name in the public change log.

    Raises Refused if the rescoring was discarded or replaced.
    """
    current = rescoring.reload(found)
    if (current.reason, current.signed) != (reason, signed):
        current.reason, current.signed = reason, signed
        current.save(update_fields=["reason", "signed"])
        detail = {"reason": reason, "signed": signed}
        audit.record(actor=by, action="rescoring.explained", subject=f"phase {current.phase}", detail=detail)
    return current
