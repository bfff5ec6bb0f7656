"""What a crash leaves behind is picked up here: leases of dead workers, lost messages, files without rows."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage

from server.clock import database_now
from server.submissions import queue
from server.submissions.models import Fault, Status, Submission
from server.submissions.services import lifecycle

UPLOADS = "submissions"
ABANDONED = timedelta(hours=1)
CHUNK = 500  # names in one query


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep did."""

    requeued: int = 0
    failed: int = 0
    resent: int = 0
    removed: int = 0


def sweep(*, files: bool = True) -> Swept:
    """Put right what can be put right now. Any number of sweepers may run at once, at any time."""
    requeued, failed = end_overdue_leases()
    return Swept(requeued, failed, resend(), remove_abandoned_files() if files else 0)


def end_overdue_leases() -> tuple[int, int]:
    """Give what dead workers held back to the queue, or up after too many attempts."""
    overdue = Submission.objects.filter(status=Status.RUNNING, lease_until__lt=database_now())
    ended = [submission for submission in overdue if end_lease(submission)]
    failed = sum(submission.attempts >= settings.EVALUATION_ATTEMPTS for submission in ended)
    return len(ended) - failed, failed


def end_lease(submission: Submission) -> bool:
    """End the attempt, unless its worker has prolonged the lease since it was read."""
    sentence = (
        f"Its worker stopped {submission.attempts} times while scoring it, perhaps for want of memory. "
        "Submit fewer predictions, or write to the organizers. Your quota was given back."
    )
    still = lifecycle.held(submission).filter(lease_until=submission.lease_until)
    return lifecycle.give_up(still, submission, fault=Fault.PLATFORM, sentence=sentence, final=False)


def resend() -> int:
    """Send again what has waited long, as far as the broker holds fewer messages than there are queued rows.

    A long queue alone is no reason: its messages are all there, and sending them again would only pile up more.
    """
    now = database_now()
    queued = Submission.objects.filter(status=Status.QUEUED)
    late = queued.filter(enqueued_at__lt=now - timedelta(seconds=settings.RESEND_SECONDS))
    if not late.exists() or (waiting := queue.waiting()) is None:
        return 0
    missing = max(0, queued.count() - waiting)
    sent = 0
    for submission in late.order_by("enqueued_at")[:missing]:
        if late.filter(pk=submission.pk, enqueued_at=submission.enqueued_at).update(enqueued_at=now):
            queue.enqueue(submission.pk)
            sent += 1
    return sent


def remove_abandoned_files() -> int:
    """Remove uploads that never became a row, and what interrupted uploads and imports left half-way."""
    removed = 0
    for name in strays():
        default_storage.delete(name)
        removed += 1
    before = (database_now() - ABANDONED).timestamp()
    for part in Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir():
        removed += remove_if_older(part, before)
    return removed


def remove_if_older(part: Path, before: float) -> bool:
    """Remove a file, or a folder in which nothing was touched since; what vanishes meanwhile is its owner's doing."""
    with suppress(FileNotFoundError):
        if max(path.stat().st_mtime for path in (part, *part.rglob("*"))) < before:
            shutil.rmtree(part) if part.is_dir() else part.unlink()
            return True
    return False


def strays() -> Iterator[str]:
    """Yield stored uploads, older than an hour, that no row knows."""
    if not default_storage.exists(UPLOADS):
        return
    before = database_now() - ABANDONED
    stored = [f"{UPLOADS}/{name}" for name in default_storage.listdir(UPLOADS)[1]]
    for start in range(0, len(stored), CHUNK):
        names = stored[start : start + CHUNK]
        known = set(Submission.objects.filter(file__in=names).values_list("file", flat=True))
        yield from (name for name in names if name not in known and default_storage.get_modified_time(name) < before)
