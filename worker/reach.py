"""Whether this worker can read the stored files. One that cannot takes no work, and others go on.

A file that it alone cannot read says that its storage is not the others' (not mounted, another machine's, forbidden). A
file that differs from what was uploaded is damaged. Both are the platform's fault, which no submission may pay for.
"""

import logging
import os
import time
from collections.abc import Callable
from datetime import timedelta
from hashlib import file_digest
from pathlib import Path

from django.conf import settings

from server.challenges.models import Truth
from server.submissions.models import Submission
from worker.shared import AWAY

log = logging.getLogger(__name__)

SAMPLE = 20  # of the newest files
LOST_SHARE = 0.25  # of the sample: fewer are single lost files, which another worker would not find either
HOLD_SECONDS = 2.0  # between two looks, while the storage is away


class Unreachable(Exception):
    """This worker cannot read what a row names: its file is missing, unreadable or changed."""


def refuse_unreadable(*paths: Path) -> None:
    """Raise Unreachable for the first that cannot be read."""
    for path in paths:
        if not can_be_read(path):
            raise Unreachable(f"{path} cannot be read")


def refuse_changed(submission: Submission) -> None:
    """Raise Unreachable where the stored file is not the one that was uploaded."""
    path = Path(submission.file.path)
    try:
        with path.open("rb") as file:
            is_same = (
                os.fstat(file.fileno()).st_size == submission.size_bytes
                and file_digest(file, "sha256").hexdigest() == submission.sha256
            )
    except OSError as error:
        raise Unreachable(f"{path} cannot be read") from error
    if not is_same:
        raise Unreachable(f"{path} is damaged, its sha256 is not that of the upload")


def can_be_read(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError:
        return False
    return True


def stored_files() -> list[Path]:
    """Return the newest uploads, and the truths they are scored against."""
    newest = list(Submission.objects.stored().order_by("-received_at").only("file", "phase")[:SAMPLE])
    truths = Truth.objects.filter(active=True, phase__in={one.phase_id for one in newest})
    return [Path(one.file.path) for one in newest] + [Path(one.prepared.path) for one in truths]


def storage_is_away() -> bool:
    """Look at a sample of what should be there."""
    sample = stored_files()
    unreadable = sum(not can_be_read(path) for path in sample)
    return unreadable > 0 and unreadable >= LOST_SHARE * len(sample)


def pause_after(error: Unreachable, what: str) -> timedelta | None:
    """Look at the storage after a file could not be read. Either this worker stops, and others go on at once (None),
    or only this file is missing or damaged: then another attempt waits for a while.
    """
    log.error("alarm: %s cannot be scored here: %s", what, error)
    if storage_is_away():
        AWAY[0] = 1
        return None
    return timedelta(seconds=settings.RESEND_SECONDS)


def takes_work() -> bool:
    """Tell whether this worker can score: always, unless it has stopped and cannot read the stored files yet."""
    if not AWAY[0]:
        return True
    if storage_is_away():
        return False
    AWAY[0] = 0
    log.warning("this worker can read the stored files again and takes work")
    return True


def hold(pass_on: Callable[[], None]) -> None:
    """Leave a message to another worker, and wait before the next."""
    log.error("alarm: this worker cannot read the stored files in %s and takes no work", settings.MEDIA_ROOT)
    pass_on()
    time.sleep(HOLD_SECONDS)
