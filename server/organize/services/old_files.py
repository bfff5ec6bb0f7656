"""Removes the files of scored submissions that affect no leaderboard, some days after private scores are shown."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db.models import Exists, OuterRef, QuerySet
from django.dispatch import receiver

from server.challenges.models import Phase
from server.clock import database_now
from server.leaderboards.models import Board, Entry
from server.leaderboards.scored_entries import read_scores
from server.organize.models import Rescoring
from server.submissions.models import Rerun, Status, Submission
from server.submissions.services import retention
from server.submissions.signals import files_swept

log = logging.getLogger(__name__)

PRIVATE = (Board.Kind.PRIVATE, Board.Kind.ALL)
PAUSE_SECONDS = 24 * 3600


@receiver(files_swept)
def follow_sweep(**signal: Any) -> None:
    """Remove expired files after a run of the sweeper, but at most once a day, even if several sweepers run."""
    if settings.SCORED_FILE_DAYS and cache.add("scored_files", value=True, timeout=PAUSE_SECONDS):
        removed = remove_expired()
        if removed:
            log.info("removed %d files of scored submissions that do not count", removed)


def remove_expired() -> int:
    """Remove the files of all removable submissions, and return the number of removed files.

    Each row is updated before its file is removed, so that no row refers to a missing file.
    """
    removed = 0
    for phase in final_phases(database_now()):
        for submission in removable(phase).only("file").iterator():
            name = str(submission.file.name)
            if removable_rows(phase).filter(pk=submission.pk, file=name).update(file=""):
                removed += retention.remove(name)
    return removed


def final_phases(now: datetime) -> Iterator[Phase]:
    """Yield the phases whose private scores have been shown for more than SCORED_FILE_DAYS days."""
    before = now - timedelta(days=settings.SCORED_FILE_DAYS)
    for phase in Phase.objects.select_related("challenge"):
        if phase.shown_from is not None and phase.shown_from < before:
            yield phase


def removable(phase: Phase) -> QuerySet[Submission]:
    """Return the submissions to a final phase whose files are no longer needed.

    A file is kept if the submission has ever been a leaderboard entry, was selected as final by its team, counts on the
    private leaderboard, belongs to a baseline, or is being scored again. While a rescoring of the phase is open, all
    files are kept.
    """
    rows = removable_rows(phase)
    return rows.exclude(evaluations__in=counting(phase)) if rows.exists() else rows


def removable_rows(phase: Phase) -> QuerySet[Submission]:
    """Return the submissions that meet the conditions of `removable`, as far as an UPDATE statement can check them."""
    entries = Entry.objects.filter(evaluation__submission=OuterRef("pk"))
    rescoring = Rescoring.objects.filter(phase=OuterRef("phase"), applied_at=None)
    stored = Submission.objects.stored().filter(phase=phase, status=Status.SCORED, final=False, team__is_baseline=False)
    reruns = Rerun.objects.filter(submission=OuterRef("pk"))
    return stored.exclude(Exists(entries)).exclude(Exists(reruns)).exclude(Exists(rescoring))


def counting(phase: Phase) -> list[int]:
    """Return the ids of the evaluations that can determine a team's entry on the private leaderboard.

    A team can have several such evaluations, but the leaderboard shows only the best one.
    """
    teams = [*phase.challenge.teams.values_list("pk", flat=True)]
    scores = read_scores(phase, signature=phase.signature, teams=teams)
    return [one.evaluation_id for found in scores.values() if found.kind in PRIVATE for one in found.counting]
