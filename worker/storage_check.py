"""Checks whether this worker can read the stored files. If it cannot, it takes no work, and other workers continue.

If only this worker cannot read a file, its storage is not mounted, or is that of another machine. If a file differs
from the upload, it is damaged. Neither is the participant's fault, so no submission or rerun may fail because of it.
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

SAMPLE = 20  # number of newest files of each kind that are tried
SEVERAL = 2  # a single lost file never stops a worker, however few files there are
LOST_UPLOADS = 0.25  # from this share on the uploads are missing; below it, single files are lost for every worker
LOST_TRUTHS = 1.0  # if one truth is missing, only its phase waits, and all others are scored
PAUSE_SECONDS = 2.0  # between two messages while the storage is missing

# One byte: whether this worker has stopped because the storage is missing. Celery imports this module before it forks
# the pool, so all processes of one worker share the byte.
STOPPED = mmap.mmap(-1, 1)


class Unreadable(Exception):
    """This worker cannot read a file of a submission or truth: it is missing, changed, or its permissions forbid it."""


def refuse_unreadable(*paths: Path) -> None:
    """Raise Unreadable for the first file that cannot be read."""
    for path in paths:
        if not is_readable(path):
            raise Unreadable(f"{path} cannot be read")


def refuse_changed(submission: Submission) -> None:
    """Raise Unreadable if the stored file is not the one that was uploaded."""
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
    """Return the files of the newest truths that jobs need: the active ones, and those of waiting reruns."""
    needed = Truth.objects.filter(Q(active=True) | Q(reruns__isnull=False)).distinct().order_by("-pk")[:SAMPLE]
    return [Path(one.prepared.path) for one in needed]


def is_storage_missing() -> bool:
    """Return whether a large share of the newest uploads, or all of the newest truths, cannot be read."""
    return is_lost(newest_uploads(), LOST_UPLOADS) or is_lost(newest_truths(), LOST_TRUTHS)


def is_lost(files: list[Path], share: float) -> bool:
    """Return whether so many of these files are unreadable that not only single files are lost, or their folder is."""
    unreadable = [path for path in files if not is_readable(path)]
    if unreadable and not any(os.access(path.parent, os.X_OK) for path in unreadable):
        return True
    return len(unreadable) >= max(SEVERAL, share * len(files))


def stop_if_missing() -> bool:
    """Stop this worker if the storage is missing. Return whether it has stopped."""
    if is_storage_missing():
        STOPPED[0] = 1
    return bool(STOPPED[0])


def can_work() -> bool:
    """Return whether this worker may take work. If it has stopped, check the storage again."""
    if not STOPPED[0]:
        return True
    if is_storage_missing():
        return False
    STOPPED[0] = 0
    log.warning("this worker can read the stored files again and takes work")
    return True


def pass_on(send_again: Callable[[], None]) -> None:
    """Return a message to the queue for another worker, and pause before the next one."""
    log.error("alarm: this worker cannot read the stored files in %s and takes no work", settings.MEDIA_ROOT)
    send_again()
    time.sleep(PAUSE_SECONDS)
