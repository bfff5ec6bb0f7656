"""Removes the files of unscored submissions after some days, and computes the storage that a team uses."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import QuerySet, Sum

from server.challenges.models import Team
from server.clock import database_now
from server.submissions.models import UNSCORED, Submission
from server.submissions.services import quarantine


@dataclass(frozen=True, slots=True)
class StorageUse:
    """The storage that a team uses and its limit, in bytes. `frees_at` is when a file is next removed."""

    used: int
    allowed: int
    frees_at: datetime | None


def storage_use(team: Team) -> StorageUse:
    """Return the storage that the team uses in all phases of its challenge."""
    stored = Submission.objects.stored().filter(team=team)
    used = stored.aggregate(used=Sum("size_bytes", default=0))["used"]
    first = stored.filter(status__in=UNSCORED).order_by("finished_at").first()
    return StorageUse(used, settings.TEAM_STORAGE_BYTES, removal_time(first) if first else None)


def removal_time(submission: Submission) -> datetime | None:
    """Return when a submission's file will be removed; None if it is kept or has been removed."""
    if submission.status not in UNSCORED or not submission.file or submission.finished_at is None:
        return None
    return submission.finished_at + timedelta(days=settings.UNSCORED_FILE_DAYS)


def expired() -> QuerySet[Submission]:
    """Return submissions whose file is due for removal."""
    before = database_now() - timedelta(days=settings.UNSCORED_FILE_DAYS)
    return Submission.objects.stored().filter(status__in=UNSCORED, finished_at__lt=before)


def remove_expired() -> int:
    """Remove the files that are due for removal and return their number.

    Rows are updated first, so that no row ever refers to a missing file.
    """
    removed = 0
    for submission in expired().only("file"):
        name = str(submission.file.name)
        # No row is updated if the submission has been queued again.
        if expired().filter(pk=submission.pk, file=name).update(file=""):
            removed += quarantine.removed(Path(default_storage.path(name)))
    return removed
