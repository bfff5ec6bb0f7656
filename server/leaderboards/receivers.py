"""Updates leaderboards when scores, phases or teams change. The receivers run in the transaction that makes the change.

Another receiver is called after each run of the sweeper (a periodic task). It updates entries if the number of final
submissions that a team may select in a phase has changed, and wakes a worker if a leaderboard has changed since its
entries were last compared.
"""

from collections.abc import Iterable
from typing import Any

from django.db.models.signals import post_save
from django.dispatch import receiver

from server.challenges.models import Phase, Team
from server.leaderboards.services import comparisons, entries, terms
from server.submissions.signals import scores_changed, swept


@receiver(scores_changed)
def follow_scores(phase: Phase, teams: Iterable[int], signature: str | None, **signal: Any) -> None:
    entries.refresh_locked(phase, [*teams], signature)


@receiver(post_save, sender=Phase)
def follow_phase(instance: Phase, raw: bool, **signal: Any) -> None:
    if not raw:
        terms.follow_phase(instance.pk)


@receiver(post_save, sender=Team)
def follow_team(instance: Team, created: bool, raw: bool, **signal: Any) -> None:
    if not (created or raw):
        entries.follow_team(instance)


@receiver(swept)
def follow_sweep(**signal: Any) -> None:
    terms.apply_finals()
    comparisons.wake()
