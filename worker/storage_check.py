"""Checks whether this worker can read the stored files. If not, this worker takes no jobs, and other workers continue.

The same applies to a worker whose evaluator has another version than that of the web part, as `liveness.py` finds out.
Leaderboards would never show its scores.

A worker may be unable to read files because the storage is not mounted, or because the wrong storage is mounted. A file
that differs from the upload is damaged. None of this is the participant's fault, so it must not cause a submission to
fail. The same applies to a rerun, which scores a submission again.
"""

import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

from django.core.files.storage import default_storage
from django.db.models import Q
from django.db.models.fields.files import FieldFile

from evaluator import __version__
from server.challenges.models import Truth
from server.stored_files.copies import in_objects, is_local, title_of
from server.submissions.models import Submission
from worker.liveness import OTHER_VERSION, STOPPED

log = logging.getLogger(__name__)

SAMPLE = 20  # Number of the newest uploads, and of the newest ground truths, whose files are checked.
# If the folders can be opened, the storage is considered missing only if at least this many files are unreadable. A
# single lost file must never stop a worker.
SEVERAL = 2
LOST_UPLOADS = 0.25  # The storage of uploads is considered missing if at least this fraction of them is unreadable.
# The storage of ground truths is considered missing only if all of them are unreadable, because the loss of one ground
# truth affects only one phase.
LOST_TRUTHS = 1.0
PAUSE_SECONDS = 2.0  # Seconds between two messages that a worker takes from the queue while the storage is missing.


class Unreadable(Exception):
    """Raised if the file of a submission or ground truth is missing, has changed, or cannot be read by this worker."""


def refuse_unreadable(*paths: Path) -> None:
    """Raise Unreadable for the first of the given files that cannot be read."""
    for path in paths:
        if not is_readable(path):
            raise Unreadable(f"{path} cannot be read")


def is_readable(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError:
        return False
    return True


def can_open(file: FieldFile) -> bool:
    """Return whether this worker can read a stored file, on disk or in an object store."""
    if is_local(file.storage):
        return is_readable(Path(file.path))
    try:
        return file.storage.exists(str(file.name))
    except OSError:
        return False


def is_reachable(file: FieldFile) -> bool:
    """Return whether this worker can use the folder or the object store in which a file is expected."""
    if is_local(file.storage):
        return os.access(Path(file.path).parent, os.X_OK)
    try:
        in_objects(file.storage).check()
    except OSError:
        return False
    return True


def newest_uploads() -> list[FieldFile]:
    return [one.file for one in Submission.objects.stored().order_by("-received_at").only("file")[:SAMPLE]]


def newest_truths() -> list[FieldFile]:
    """Return the prepared files of the newest ground truths that jobs may need.

    These are the active ground truths, and the ground truths that reruns (jobs that score a submission again) use.
    """
    needed = Truth.objects.filter(Q(active=True) | Q(reruns__isnull=False)).distinct().order_by("-pk")[:SAMPLE]
    return [one.prepared for one in needed]


def is_storage_missing() -> bool:
    """Return whether a large part of the newest uploads, or all of the newest ground truths, cannot be read."""
    return is_lost(newest_uploads(), LOST_UPLOADS) or is_lost(newest_truths(), LOST_TRUTHS)


def is_lost(files: list[FieldFile], share: float) -> bool:
    """Return whether the whole storage of the given files is missing, rather than some individual files.

    The storage counts as missing if the folder of an unreadable file cannot be opened, or if the object store does
    not respond. It also counts as missing if at least two of the files, and at least the fraction `share` of them, are
    unreadable.
    """
    unreadable = 0
    for file in files:
        if not can_open(file):
            # If one file cannot be reached, the others are not tried, because each attempt would wait for a timeout.
            if not is_reachable(file):
                return True
            unreadable += 1
    return unreadable >= max(SEVERAL, share * len(files))


def stop_if_missing() -> bool:
    """Stop taking jobs if the storage is missing. Return whether this worker has stopped taking jobs."""
    if is_storage_missing():
        STOPPED[0] = 1
    return bool(STOPPED[0])


def can_work() -> bool:
    """Return whether this worker has the evaluator of the web part, can read the stored files, and so may take jobs.

    If the worker has stopped taking jobs after a failed check, the storage is checked again.
    """
    if OTHER_VERSION[0]:
        return False
    if not STOPPED[0]:
        return True
    if is_storage_missing():
        return False
    STOPPED[0] = 0
    log.warning("this worker can read the stored files again, so it takes jobs again")
    return True


def pass_on(send_again: Callable[[], None]) -> None:
    """Return a message to the queue for another worker, and pause before this worker takes the next message."""
    if OTHER_VERSION[0]:
        log.error("alarm: the web part has another evaluator than this worker (%s), so it takes no jobs", __version__)
    else:
        place = title_of(default_storage)
        log.error("alarm: this worker cannot read the stored files in %s, so it takes no jobs", place)
    send_again()
    time.sleep(PAUSE_SECONDS)
