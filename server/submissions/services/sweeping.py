"""What a crash leaves behind is picked up here: leases of dead workers, lost messages, files without rows."""

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from server.clock import database_now
from server.submissions import limits, queue
from server.submissions.arriving import incoming
from server.submissions.models import Failure, Fault, Rerun, Status, Submission
from server.submissions.services import keeping, lifecycle, quarantine, reruns

HALF_WAY = 24 * 3600.0  # an upload may be slow, an import may take long; by the clock that stamps files


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep did."""

    requeued: int = 0
    failed: int = 0
    resent: int = 0
    quarantined: int = 0
    restored: int = 0
    removed: int = 0


def sweep(*, files: bool = True) -> Swept:
    """Put right what can be put right now. Any number of sweepers may run at once, at any time."""
    requeued, failed = end_overdue_leases()
    rows = Swept(requeued, failed, resend())
    return replace(keep_order(), requeued=requeued, failed=failed, resent=rows.resent) if files else rows


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

    One loss may be the worker's own. A file that is there at a second one pays for what it costs, and is still tried
    EVALUATION_ATTEMPTS times. After the first it is not small any more: a lease outlasts what a small file may take.
    """
    losses = submission.losses + 1
    fault = Fault.PARTICIPANT if losses >= lifecycle.LOSSES_CHARGED else Fault.PLATFORM
    times = "once" if losses == 1 else f"{losses} times"
    paid = limits.CHARGED if fault == Fault.PARTICIPANT else "Your quota was given back."
    sentence = f"Its worker stopped {times} while scoring it, perhaps for want of memory. {limits.ADVICE} {paid}"
    with transaction.atomic():
        still = lifecycle.held(submission).filter(lease_until=submission.lease_until)
        still.update(losses=losses, small=False)
        return lifecycle.give_up(
            still, submission, code=Failure.WORKER_LOST, fault=fault, sentence=sentence, final=False
        )


def end_rerun(rerun: Rerun) -> bool:
    """The same for a scoring after the first."""
    sentence = f"its worker stopped {rerun.attempts} times"
    with transaction.atomic():
        still = reruns.held(rerun).filter(lease_until=rerun.lease_until)
        ended = reruns.give_up(still, rerun, sentence=sentence, final=False)
        if ended:
            reruns.no_longer_small(rerun)
    return ended


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


def keep_order() -> Swept:
    """Files that no row knows go aside, those that were not scored go after some days, halves of uploads after one."""
    quarantined, restored, deleted = quarantine.sweep()
    before = time.time() - HALF_WAY
    parts = sum(remove_if_older(part, before) for part in incoming().iterdir())
    removed = keeping.remove_overdue() + deleted + parts
    return Swept(quarantined=quarantined, restored=restored, removed=removed)


def remove_if_older(part: Path, before: float) -> bool:
    """Remove a file, or a folder in which nothing was touched since; what vanishes meanwhile is its owner's doing."""
    with suppress(FileNotFoundError):
        if max(path.stat().st_mtime for path in (part, *part.rglob("*"))) < before:
            shutil.rmtree(part) if part.is_dir() else part.unlink()
            return True
    return False
