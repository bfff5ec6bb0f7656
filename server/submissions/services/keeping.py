"""How long files are kept, and how many of a team: those that were not scored go after some days, their rows stay."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import QuerySet, Sum

from server.challenges.models import Team
from server.clock import database_now
from server.submissions.models import UNSCORED, Submission


@dataclass(frozen=True, slots=True)
class Share:
    """What a team's files take of the storage, in bytes; `frees_at` is when the next file is removed by itself."""

    used: int
    allowed: int
    frees_at: datetime | None


def share_of(team: Team) -> Share:
    """Count the stored files of all phases of the team's challenge."""
    stored = Submission.objects.stored().filter(team=team)
    used = stored.aggregate(used=Sum("size_bytes", default=0))["used"]
    first = stored.filter(status__in=UNSCORED).order_by("finished_at").first()
    return Share(used, settings.TEAM_STORAGE_BYTES, removal_of(first) if first else None)


def removal_of(submission: Submission) -> datetime | None:
    """Return when its file is removed; None for one that stays, and for one that is gone."""
    if submission.status not in UNSCORED or not submission.file or submission.finished_at is None:
        return None
    return submission.finished_at + timedelta(days=settings.UNSCORED_FILE_DAYS)


def overdue() -> QuerySet[Submission]:
    """Those whose file is to be removed now."""
    before = database_now() - timedelta(days=settings.UNSCORED_FILE_DAYS)
    return Submission.objects.stored().filter(status__in=UNSCORED, finished_at__lt=before)


def remove_overdue() -> int:
    """Remove the files of what was not scored: the row first, so that none names a file that is gone."""
    removed = 0
    for submission in overdue().only("file"):
        name = str(submission.file.name)
        if overdue().filter(pk=submission.pk, file=name).update(file=""):  # else it was queued again meanwhile
            default_storage.delete(name)
            removed += 1
    return removed
