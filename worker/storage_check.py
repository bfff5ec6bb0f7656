"""Checks whether this worker can read the stored files. If not, this worker takes no jobs, and other workers continue.

If only this worker cannot read a file, the storage is not mounted, or the wrong storage is mounted. If a file differs
from the upload, the file is damaged. Neither is the participant's fault, so no submission may fail for this reason, and
neither may a rerun, which scores a submission again.
"""

import logging
import mmap
import os
import time
from collections.abc import Callable
from hashlib import file_digest
from pathlib import Path

from django.conf import settings
from django.db.models import Q

from server.challenges.models import Truth
from server.submissions.models import Submission

log = logging.getLogger(__name__)

SAMPLE = 20  # Number of uploads, and number of ground truths, whose files are checked, newest first.
SEVERAL = 2  # Minimum number of unreadable files. A single lost file must never stop a worker.
LOST_UPLOADS = 0.25  # The storage is considered missing if at least this fraction of the uploads is unreadable.
# The storage is considered missing only if all ground truths are unreadable, because the loss of one ground truth
# affects only one phase.
LOST_TRUTHS = 1.0
PAUSE_SECONDS = 2.0  # Pause between two messages from the queue while the storage is missing.

# This byte is 1 while the worker takes no jobs because the storage is missing. Celery imports this module before it
# forks the pool, so all processes of a worker share the byte.
STOPPED = mmap.mmap(-1, 1)


class Unreadable(Exception):
    """Raised if the file of a submission or ground truth is missing, has changed, or cannot be read by this worker."""


def refuse_unreadable(*paths: Path) -> None:
    """Raise Unreadable for the first of the given files that cannot be read."""
    for path in paths:
        if not is_readable(path):
            raise Unreadable(f"{path} cannot be read")


def refuse_changed(submission: Submission) -> None:
    """Raise Unreadable if the stored file of a submission differs from the upload."""
    path = Path(submission.file.path)
    try:
        with path.open("rb") as file:
            is_same = (
                os.fstat(file.fileno()).st_size == submission.size_bytes
                and file_digest(file, "sha256").hexdigest() == submission.sha256
            )
    except OSError as error:
        raise Unreadable(f"{path} cannot be read") from error
    if not is_same:
        raise Unreadable(f"{path} is damaged: its sha256 differs from that of the upload")


def is_readable(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError:
        return False
    return True


def newest_uploads() -> list[Path]:
    newest = Submission.objects.stored().order_by("-received_at").only("file")[:SAMPLE]
    return [Path(one.file.path) for one in newest]


def newest_truths() -> list[Path]:
    """Return the prepared files of the newest ground truths that jobs need.

    These are the active ground truths, and those of reruns, which score a submission again.
    """
    needed = Truth.objects.filter(Q(active=True) | Q(reruns__isnull=False)).distinct().order_by("-pk")[:SAMPLE]
    return [Path(one.prepared.path) for one in needed]


def is_storage_missing() -> bool:
    """Return whether a large part of the newest uploads, or all of the newest ground truths, cannot be read."""
    return is_lost(newest_uploads(), LOST_UPLOADS) or is_lost(newest_truths(), LOST_TRUTHS)


def is_lost(files: list[Path], share: float) -> bool:
    """Return whether the whole storage of the given files is missing, rather than some individual files.

    The storage counts as missing if none of the folders with unreadable files can be opened. It also counts as missing
    if at least two of the files, and at least the fraction `share` of them, are unreadable.
    """
    unreadable = [path for path in files if not is_readable(path)]
    if unreadable and not any(os.access(path.parent, os.X_OK) for path in unreadable):
        return True
    return len(unreadable) >= max(SEVERAL, share * len(files))


def stop_if_missing() -> bool:
    """Stop taking jobs if the storage is missing. Return whether this worker has stopped taking jobs."""
    if is_storage_missing():
        STOPPED[0] = 1
    return bool(STOPPED[0])


def can_work() -> bool:
    """Return whether this worker may take jobs.

    If the worker has stopped taking jobs after a failed check, the storage is checked again.
    """
    if not STOPPED[0]:
        return True
    if is_storage_missing():
        return False
    STOPPED[0] = 0
    log.warning("this worker can read the stored files again, so it takes jobs again")
    return True


def pass_on(send_again: Callable[[], None]) -> None:
    """Return a message to the queue for another worker, and pause before this worker takes the next message."""
    log.error("alarm: this worker cannot read the stored files in %s, so it takes no jobs", settings.MEDIA_ROOT)
    send_again()
    time.sleep(PAUSE_SECONDS)
