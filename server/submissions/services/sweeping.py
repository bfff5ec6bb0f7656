"""Cleans up after crashes: ends expired leases, resends lost messages, and quarantines files without a database row."""

import time
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.dispatch import Signal

from server.clock import database_now
from server.submissions import limits, queue
from server.submissions.models import Failure, Fault, Rerun, Submission
from server.submissions.services import leases, lifecycle, object_quarantine, quarantine, reruns, retention
from server.submissions.services.leases import Job
from server.submissions.signals import files_swept, swept
from server.submissions.upload_handler import upload_folder

# A partial upload or import that has not changed for this long counts as abandoned. Ages are measured by the file
# system's clock.
ABANDONED_SECONDS = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The number of changes of each kind that were made in one run of the sweeper, which cleans up periodically."""

    requeued: int = 0
    failed: int = 0
    resent: int = 0
    quarantined: int = 0
    restored: int = 0
    removed: int = 0


def sweep(*, files: bool = True) -> SweepResult:
    """Clean up once. Several sweepers may run at the same time. If `files` is false, only database rows are checked.

    Files are checked last, because the rest does not depend on the storage.
    """
    requeued, failed = end_expired_leases()
    resent = resend_lost_messages(Submission) + resend_lost_messages(Rerun)
    try:
        send(swept)
    finally:
        found = sweep_files() if files else SweepResult()
    return replace(found, requeued=requeued, failed=failed, resent=resent)


def send(signal: Signal) -> None:
    """Call all receivers of a signal. If some of them raise exceptions, raise the first one afterwards."""
    for _, result in signal.send_robust(Submission):
        if isinstance(result, Exception):
            raise result


def end_expired_leases() -> tuple[int, int]:
    """End the attempts of workers that have died.

    Return how many jobs (submissions and reruns) were queued again and how many failed permanently.
    """
    now = database_now()
    submissions = Submission.objects.running().filter(lease_until__lt=now)
    expired = Rerun.objects.running().filter(lease_until__lt=now)
    ended = [one.attempts for one in submissions if end_submission(one)]
    ended += [one.attempts for one in expired if end_rerun(one)]
    failed = sum(attempts >= settings.EVALUATION_ATTEMPTS for attempts in ended)
    return len(ended) - failed, failed


@transaction.atomic
def end_submission(submission: Submission) -> bool:
    """End an attempt at a submission whose worker died.

    Return False if the worker has renewed the lease in the meantime.

    The first death may be the fault of the worker. After the second one, the submission counts against the quota, but
    it is still tried EVALUATION_ATTEMPTS times in total. After the first death, the file no longer counts as small,
    because small files have to finish quickly, and this one was held by a dead worker until the lease expired.
    """
    if not leases.lock_expired(submission):
        return False
    losses = submission.losses + 1
    Submission.objects.filter(pk=submission.pk).update(losses=losses, small=False)
    fault = Fault.PARTICIPANT if losses >= lifecycle.LOSSES_UNTIL_CHARGED else Fault.PLATFORM
    times = "once" if losses == 1 else f"{losses} times"
    quota = limits.CHARGED if fault == Fault.PARTICIPANT else "This does not count against your quota."
    sentence = f"Its worker stopped {times} while scoring it, perhaps because it ran out of memory."
    sentence = f"{sentence} {limits.ADVICE} {quota}"
    return lifecycle.fail(submission, code=Failure.WORKER_LOST, sentence=sentence, final=False, fault=fault)


@transaction.atomic
def end_rerun(rerun: Rerun) -> bool:
    """End an attempt at a rerun (a job that scores a submission again) whose worker died.

    Return False if the worker has renewed the lease in the meantime.
    """
    key = leases.lock_submission(rerun)
    if not leases.lock_expired(rerun):
        return False
    Submission.objects.filter(pk=key).update(small=False)
    return reruns.fail(rerun, sentence=f"its worker stopped {rerun.attempts} times", final=False)


def resend_lost_messages(kind: type[Job]) -> int:
    """Resend messages for jobs that have been waiting for a long time. Return the number of messages sent.

    Messages have been lost if the broker has fewer messages than there are queued jobs. If the queue is merely long,
    the broker still has all of its messages, so nothing is resent.
    """
    now, queued = database_now(), kind.objects.queued()
    late = queued.filter(enqueued_at__lt=now - timedelta(seconds=settings.RESEND_SECONDS))
    if not late.exists() or (waiting := queue.waiting(kind)) is None:
        return 0
    missing = max(0, queued.count() - waiting)
    sent = 0
    for job in late.order_by("enqueued_at")[:missing]:
        if late.filter(pk=job.pk, enqueued_at=job.enqueued_at).update(enqueued_at=now):
            queue.enqueue(kind, job.pk)
            sent += 1
    return sent


def sweep_files() -> SweepResult:
    """Move files without a database row to quarantine. Remove abandoned uploads and old files that were not scored."""
    quarantined, restored, deleted = object_quarantine.sweep() if settings.OBJECT_STORE else quarantine.sweep()
    before = time.time() - ABANDONED_SECONDS
    abandoned = sum(remove_if_older(path, before) for path in upload_folder().iterdir())
    removed = retention.remove_expired() + deleted + abandoned
    send(files_swept)
    return SweepResult(quarantined=quarantined, restored=restored, removed=removed)


def remove_if_older(path: Path, before: float) -> bool:
    """Remove a file or folder unless it has changed since `before`. Another process may remove it at the same time."""
    return quarantine.last_changed(path) < before and quarantine.removed(path)
