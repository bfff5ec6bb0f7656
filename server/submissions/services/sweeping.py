"""What a crash leaves behind is picked up here: leases of dead workers, lost messages, files without rows."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import Storage, default_storage
from django.db import transaction
from django.db.models import Q, QuerySet

from server.challenges.models import Truth, truth_storage
from server.clock import database_now
from server.submissions import limits, queue
from server.submissions.models import Failure, Fault, Rerun, Status, Submission
from server.submissions.services import lifecycle, reruns

UPLOADS = "submissions"
# Ages of files, in seconds by the clock that stamps them, which need not be the database's
ABANDONED = 3600.0  # lies where it belongs; its row is written within moments
HALF_WAY = 24 * 3600.0  # an upload may be slow, a truth may take long to be prepared
LOSSES_CHARGED = 2  # of the workers of one file
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
    now = database_now()
    submissions = Submission.objects.filter(status=Status.RUNNING, lease_until__lt=now)
    later = Rerun.objects.filter(lease_until__lt=now)
    ended = [one.attempts for one in submissions if end_lease(one)] + [one.attempts for one in later if end_rerun(one)]
    failed = sum(attempts >= settings.EVALUATION_ATTEMPTS for attempts in ended)
    return len(ended) - failed, failed


def end_lease(submission: Submission) -> bool:
    """End the attempt, unless its worker has prolonged the lease since it was read.

    One loss may be the worker's own. A file that is there at a second one pays for what it costs.
    """
    losses = submission.losses + 1
    fault = Fault.PARTICIPANT if losses >= LOSSES_CHARGED else Fault.PLATFORM
    times = "once" if losses == 1 else f"{losses} times"
    paid = limits.CHARGED if fault == Fault.PARTICIPANT else "Your quota was given back."
    sentence = f"Its worker stopped {times} while scoring it, perhaps for want of memory. {limits.ADVICE} {paid}"
    with transaction.atomic():
        still = lifecycle.held(submission).filter(lease_until=submission.lease_until)
        still.update(losses=losses)
        return lifecycle.give_up(
            still, submission, code=Failure.WORKER_LOST, fault=fault, sentence=sentence, final=False
        )


def end_rerun(rerun: Rerun) -> bool:
    """The same for a scoring after the first."""
    still = reruns.held(rerun).filter(lease_until=rerun.lease_until)
    return reruns.give_up(still, rerun, sentence=f"its worker stopped {rerun.attempts} times", final=False)


def resend() -> int:
    """Send again what has waited long."""
    queued = Submission.objects.filter(status=Status.QUEUED)
    later = Rerun.objects.waiting()
    return resend_late(queued, queue.enqueue, queue.FIRST) + resend_late(later, queue.enqueue_rerun, queue.LATER)


def resend_late(rows: QuerySet[Any], send: Callable[[Any], None], priority: int) -> int:
    """Send again as far as the broker holds fewer messages of this priority than there are `rows` waiting.

    A long queue alone is no reason: its messages are all there, and sending them again would only pile up more.
    """
    now = database_now()
    late = rows.filter(enqueued_at__lt=now - timedelta(seconds=settings.RESEND_SECONDS))
    if not late.exists() or (waiting := queue.waiting(priority)) is None:
        return 0
    missing = max(0, rows.count() - waiting)
    sent = 0
    for row in late.order_by("enqueued_at")[:missing]:
        if late.filter(pk=row.pk, enqueued_at=row.enqueued_at).update(enqueued_at=now):
            send(row.pk)
            sent += 1
    return sent


def remove_abandoned_files() -> int:
    """Remove stored files that never became a row, and what interrupted uploads and imports left half-way."""
    lost = [(default_storage, name) for name in strays(default_storage, UPLOADS, upload_names, age=ABANDONED)]
    lost += [(truth_storage(), name) for name in strays(truth_storage(), "", truth_names, age=HALF_WAY)]
    for storage, name in lost:
        storage.delete(name)
    before = time.time() - HALF_WAY
    half_way = [*Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir(), *stray_draws()]
    return len(lost) + sum(remove_if_older(part, before) for part in half_way)


def stray_draws() -> list[Path]:
    """Return the folders of draws whose truth is gone."""
    folders = {f"{folder.stem}.podium": folder for folder in Path(truth_storage().location).glob("*.draws")}
    known = truth_names(list(folders))
    return [folder for name, folder in folders.items() if name not in known]


def remove_if_older(part: Path, before: float) -> bool:
    """Remove a file, or a folder in which nothing was touched since; what vanishes meanwhile is its owner's doing."""
    with suppress(FileNotFoundError):
        if max(path.stat().st_mtime for path in (part, *part.rglob("*"))) < before:
            shutil.rmtree(part) if part.is_dir() else part.unlink()
            return True
    return False


def upload_names(names: list[str]) -> set[str]:
    return set(Submission.objects.filter(file__in=names).values_list("file", flat=True))


def truth_names(names: list[str]) -> set[str]:
    rows = Truth.objects.filter(Q(prepared__in=names) | Q(source__in=names)).values_list("prepared", "source")
    return {name for row in rows for name in row}


def strays(storage: Storage, folder: str, known: Callable[[list[str]], set[str]], *, age: float) -> Iterator[str]:
    """Yield stored files, older than `age`, that no row knows."""
    if not storage.exists(folder):
        return
    before = time.time() - age
    stored = [f"{folder}/{name}" if folder else name for name in storage.listdir(folder)[1]]
    for start in range(0, len(stored), CHUNK):
        names = stored[start : start + CHUNK]
        unknown = set(names) - known(names)
        yield from (name for name in names if name in unknown and is_older(storage, name, before))


def is_older(storage: Storage, name: str, before: float) -> bool:
    """Tell by the file's own clock; what vanishes meanwhile was its upload's to remove."""
    with suppress(FileNotFoundError):
        return storage.get_modified_time(name).timestamp() < before
    return False
