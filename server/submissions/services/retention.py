"""Removes the files of unscored submissions after some days, and computes the storage that a team uses."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import Min, Q, QuerySet, Sum

from evaluator.texts import counted
from server.challenges.models import Team
from server.clock import database_now
from server.compiled_queries import compiled_query
from server.stored_files.copies import is_local
from server.submissions.models import UNSCORED, Submission
from server.submissions.services import quarantine


@dataclass(frozen=True, slots=True)
class StorageUse:
    """The storage that a team uses and its limit, in bytes.

    `frees_at` is the time at which the next file will be removed.
    """

    used: int
    allowed: int
    frees_at: datetime | None


def storage_use(team: Team) -> StorageUse:
    """Return the storage that a team uses in all phases of its challenge."""
    used, first = next(iter(stored_by(team=team.pk)), (0, None))
    return StorageUse(used, settings.TEAM_STORAGE_BYTES, first and removal_after(first))


@compiled_query
def stored_by(*, team: int) -> QuerySet[Any, Any]:
    """Return one row: the total size of a team's stored files, and the earliest finish time of an unscored submission.

    Return no row if the team has no stored files. Unscored submissions were rejected, cancelled, or failed.
    """
    sums = {"used": Sum("size_bytes"), "first": Min("finished_at", filter=Q(status__in=UNSCORED))}
    return Submission.objects.stored().order_by().filter(team=team).values("team").annotate(**sums).values_list(*sums)


def removal_time(submission: Submission) -> datetime | None:
    """Return the time at which a submission's file will be removed, or None if it is kept or has been removed."""
    if submission.status not in UNSCORED or not submission.file or submission.finished_at is None:
        return None
    return removal_after(submission.finished_at)


def removal_after(finished: datetime) -> datetime:
    """Return the removal time for the file of a submission that finished without a score at `finished`."""
    return finished + timedelta(days=settings.UNSCORED_FILE_DAYS)


def removal_text(submission: Submission) -> str:
    """Return why the file of a submission has been removed."""
    if submission.status in UNSCORED:
        return f"The file was removed after {counted(settings.UNSCORED_FILE_DAYS, 'day')}, because it was not scored."
    return "The file was removed, because the results are final and this submission does not count."


def expired() -> QuerySet[Submission]:
    """Return rejected, failed and cancelled submissions whose files have been kept for UNSCORED_FILE_DAYS."""
    before = database_now() - timedelta(days=settings.UNSCORED_FILE_DAYS)
    return Submission.objects.stored().filter(status__in=UNSCORED, finished_at__lt=before)


def remove_expired() -> int:
    """Remove the files of unscored submissions whose retention period is over, and return their number.

    Rows are updated first, so that no row ever refers to a missing file.
    """
    removed = 0
    for submission in expired().only("file"):
        name = str(submission.file.name)
        # If the submission has been requeued in the meantime, no row is updated, and the file is kept.
        if expired().filter(pk=submission.pk, file=name).update(file=""):
            removed += remove(name)
    return removed


def remove(name: str) -> bool:
    """Remove the file of a submission. Return False if it is gone or cannot be removed."""
    if is_local(default_storage):
        return quarantine.removed(Path(default_storage.path(name)))
    default_storage.delete(name)
    return True
