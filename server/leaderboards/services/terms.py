"""Records changes in leaderboard terms: feedback settings, and the evaluation signature of the scores that count.

An evaluation signature identifies the ground truth, the parameters and the evaluator version.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import F, OuterRef, QuerySet, Subquery

from server.challenges.locks import lock_phase, lock_teams
from server.challenges.models import Phase
from server.clock import database_now
from server.compiled_queries import compiled_query
from server.leaderboards.models import BoardTerms
from server.leaderboards.services.comparisons import forget
from server.leaderboards.services.entries import refresh_locked, teams_of


@transaction.atomic
def follow_phase(key: int) -> None:
    """Record a phase's leaderboard terms (feedback settings and evaluation signature) if they have changed.

    If the number of decimals has changed, the entries of the phase are compared again. If organizers have changed how
    many final submissions a team may select, `apply_finals` records the change later.
    """
    # The Phase object that was just saved may contain outdated values, so the phase is read from the database again.
    phase = Phase.objects.get(pk=key)
    last = terms_at(phase, None)
    append(phase, last, finals=last.finals if last else phase.finals)
    if last is not None and last.decimals != phase.feedback_decimals:
        forget(phase)


def append(phase: Phase, last: BoardTerms | None, *, finals: int) -> None:
    """Record a phase's leaderboard terms (feedback settings and evaluation signature) unless they equal `last`."""
    values = {
        "signature": phase.signature,
        "finals": finals,
        "ladder": phase.is_ladder,
        "decimals": phase.feedback_decimals,
        "freeze_at": phase.freeze_at,
    }
    if last is None or any(getattr(last, name) != value for name, value in values.items()):
        now = database_now()
        since = max(now, last.since) if last else now
        BoardTerms.objects.create(phase=phase, since=since, **values)


def apply_finals() -> None:
    """Update the entries of phases in which teams may now select a different number of final submissions.

    The sweeper (a periodic task) calls this function. The request that changes the number does not, because it would
    have to read all scores of the phase. Until the sweeper runs, entries are computed with the previous number.
    """
    last = BoardTerms.objects.filter(phase=OuterRef("pk")).order_by("-since", "-pk").values("finals")[:1]
    changed = Phase.objects.annotate(applied=Subquery(last)).exclude(applied=F("finals")).order_by("pk")
    for key in changed.values_list("pk", flat=True):
        apply_finals_of(key)


@transaction.atomic
def apply_finals_of(key: int) -> None:
    """Update the entries of one phase in one transaction.

    Teams are locked before leaderboards, as in all transactions, so that no deadlock can occur.
    """
    lock_phase(key)
    phase = Phase.objects.get(pk=key)
    teams = teams_of(phase)
    lock_teams(teams)
    append(phase, terms_at(phase, None), finals=phase.finals)
    refresh_locked(phase, teams)


def terms_at(phase: Phase, moment: datetime | None) -> BoardTerms | None:
    """Return the signature and feedback settings of a phase's leaderboards at a time (by default, now).

    Return None if no terms had been recorded by then.
    """
    return next(iter(last_terms(phase=phase.pk, moment=moment)), None)


@compiled_query
def last_terms(*, phase: int, moment: datetime | None) -> QuerySet[BoardTerms]:
    terms = BoardTerms.objects.filter(phase=phase).order_by("-since", "-pk")
    return terms[:1] if moment is None else terms.filter(since__lte=moment)[:1]
