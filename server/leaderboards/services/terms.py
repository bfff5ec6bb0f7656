"""Keeps what leaderboards showed at which time: the signature that counted, and the feedback."""

from datetime import datetime

from django.db import transaction

from server.challenges.models import Phase
from server.clock import database_now
from server.leaderboards.models import BoardTerms
from server.leaderboards.services.entries import rebuild


@transaction.atomic
def follow_phase(key: int) -> None:
    """Append terms if a phase's differ from its last ones. Another number of finals rebuilds its entries."""
    phase = Phase.objects.get(pk=key)  # the saved object may have been read before other changes
    last = terms_at(phase, None)
    values = {
        "signature": phase.signature,
        "finals": phase.finals,
        "ladder": phase.is_ladder,
        "decimals": phase.feedback_decimals,
    }
    if last is not None and all(getattr(last, name) == value for name, value in values.items()):
        return
    now = database_now()
    since = max(now, last.since) if last else now
    BoardTerms.objects.create(phase=phase, since=since, **values)
    if last is not None and last.finals != phase.finals:
        rebuild(phase)


def terms_at(phase: Phase, moment: datetime | None) -> BoardTerms | None:
    """Return the terms of a time, by default the last ones; None before the first ones."""
    terms = BoardTerms.objects.filter(phase=phase)
    if moment is not None:
        terms = terms.filter(since__lte=moment)
    return terms.order_by("-since", "-pk").first()
