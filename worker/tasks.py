"""Defines the worker's tasks: `evaluate` scores a submission, `rerun` scores it again for intervals or explanations.

`compare` compares the entries of a leaderboard with each other. Each task claims the next job, computes its outcome and
records it. The services in `server/submissions` and `server/leaderboards` define the effect of each outcome.
"""

import logging
from collections.abc import Callable
from functools import partial
from time import monotonic, process_time
from uuid import UUID

from celery import shared_task
from django.conf import settings

from evaluator.problems import InvalidParameters, InvalidSubmission, InvalidTruth
from evaluator.request import ReportOptions
from server import logs, metrics
from server.errors import full_disk
from server.leaderboards.models import Comparison
from server.leaderboards.services import comparisons
from server.leaderboards.services.comparisons import COMPARE
from server.organize.services.truths import Unrestorable
from server.submissions import queue
from server.submissions.limits import ADVICE, CHARGED
from server.submissions.models import Failure, Rerun, Submission
from server.submissions.queue import EVALUATE, RERUN
from server.submissions.services import leases, lifecycle, reruns, scheduling
from server.submissions.services.evaluations import NotReproducible
from server.submissions.services.leases import Job
from worker import limits, reasons, scorer, storage_check, time_shares
from worker.comparisons.comparing import compared
from worker.heartbeat import Heartbeat, LeaseLost
from worker.large_files import LargeFileSlot
from worker.limits import OutOfTime
from worker.shutdown import claim
from worker.storage_check import Unreadable
from worker.truths import UNUSABLE_TRUTH, active_truth, fault_codes

log = logging.getLogger(__name__)

# A rerun (a job that scores a submission again) is not retried after these errors, because they would occur again.
FINAL_ERRORS = (InvalidSubmission, InvalidTruth, InvalidParameters, MemoryError, OutOfTime, NotReproducible)
# Errors caused by stored files, by a ground truth that cannot be restored, or by the worker's disk. An attempt that
# ends with one of these errors does not count.
FILE_FAULTS = (Unreadable, Unrestorable, OSError)


@shared_task(name=EVALUATE)
def evaluate(submission_id: str) -> None:
    """Score the next submission in the queue.

    After that, this task runs one rerun if the time share of reruns requires it. If no job of higher priority than
    reruns is waiting, this task also runs reruns of small files, without waiting for messages about them.
    """
    runs_reruns = "reruns" in settings.WORKER_QUEUES
    alone = runs_reruns and queue.is_empty_above(Rerun)
    scored = work(Submission, UUID(submission_id), evaluate_claimed, notify=not alone)
    if runs_reruns and time_shares.of_reruns.is_due and not work_on_rerun():
        time_shares.of_reruns.forgive()
    if scored and alone:
        complete()


def complete() -> None:
    """Run a few reruns of small files while no job of higher priority is waiting.

    The maximum number of reruns is the number of values of `Rerun.Purpose`. This is usually enough to compute the
    intervals and the explanation of the file that this task has just scored.
    """
    try:
        for _ in Rerun.Purpose:
            if not (queue.is_empty_above(Rerun) and work_on_rerun(only_small=True, notify=False)):
                return
    finally:
        scheduling.wake(Rerun)


def work_on_rerun(*, only_small: bool = False, notify: bool = True) -> bool:
    """Run the next rerun without waiting for a message. Return False if there is none that this process may take."""
    first = scheduling.first_queued(Rerun)
    return first is not None and work(Rerun, first, rerun_claimed, only_small=only_small, notify=notify)


@shared_task(name=RERUN)
def rerun(rerun_id: int) -> None:
    """Take the next rerun from the queue, and score its submission again for confidence intervals or an explanation."""
    work(Rerun, rerun_id, rerun_claimed)


@shared_task(name=COMPARE)
def compare(board_id: int) -> None:
    """Compare the entries of the next leaderboard that is due. This needs no stored files, only the database."""
    if storage_check.OTHER_VERSION[0]:
        storage_check.pass_on(partial(queue.enqueue, Comparison, board_id))
        return
    with claim(comparisons.claim_next, comparisons.release) as claimed:
        if claimed is None:
            return
        try:
            compare_claimed(claimed)
        finally:
            scheduling.wake(Submission)
            scheduling.wake(Rerun)
            comparisons.wake()


def work(
    kind: type[Job],
    key: UUID | int,
    score_claimed: Callable[[Job, bool], None],
    *,
    only_small: bool = False,
    notify: bool = True,
) -> bool:
    """Claim the next job in the queue and score it. Return False if there is no job that this process may take.

    The message that started this task contains the id of a job. It only wakes this worker, which may claim a different
    job. A message can arrive twice, late or never.

    If `only_small` is true, no large file is taken. If `notify` is false, no worker is woken for reruns, because this
    process takes one itself next.
    """
    if not storage_check.can_work():
        storage_check.pass_on(partial(queue.enqueue, kind, key))
        return False
    late = time_shares.of_late_reruns.is_due
    with (
        LargeFileSlot() as slot,
        claim(
            lambda: scheduling.claim_next(kind, large=slot.is_held and not only_small, late=late), leases.release
        ) as job,
    ):
        if job is None:
            return False
        try:
            with logs.bound(**log_fields(job)):
                note_claim(job)
                started = monotonic()
                score_claimed(job, notify)
                seconds = monotonic() - started
                time_shares.count(job, seconds)
                metrics.stage_seconds.labels(stage_of(job)).observe(seconds)
                log.info("attempt ended", extra={"seconds": round(seconds, 3)})
        finally:
            slot.release()
            scheduling.wake(Submission)
            if notify:
                scheduling.wake(Rerun)
    return True


def note_claim(job: Submission | Rerun) -> None:
    """Log that a job was claimed. For a first attempt, also record how long the submission has waited."""
    log.info("claimed", extra={"attempt": job.attempts})
    if isinstance(job, Submission) and job.attempts == 1 and job.started_at:
        metrics.stage_seconds.labels("waiting").observe((job.started_at - job.received_at).total_seconds())


def stage_of(job: Submission | Rerun) -> str:
    return "scoring" if isinstance(job, Submission) else job.purpose


def log_fields(job: Submission | Rerun) -> dict[str, object]:
    """Return the fields that identify a job in all log lines that are written while the job is processed."""
    if isinstance(job, Submission):
        return {"submission": str(job.pk)}
    return {"submission": str(job.submission_id), "rerun": job.pk, "purpose": job.purpose}


def evaluate_claimed(submission: Submission, notify: bool) -> None:
    """Score a claimed submission and record the outcome. Nothing is recorded if the worker has lost its claim.

    If `notify` is false, no worker is woken for the intervals.
    """
    name, phase, started = f"submission {submission.pk}", submission.phase, process_time()
    try:
        truth = active_truth(phase)
        with Heartbeat(name, partial(lifecycle.report_progress, submission)) as heartbeat:
            report = scorer.score(submission, truth, ReportOptions(), heartbeat.progress, first=True)
        result, seconds = report.as_dict(), process_time() - started
        lifecycle.record(submission, truth=truth, report=result, cpu_seconds=seconds, notify=notify)
    except InvalidSubmission as error:
        lifecycle.reject(submission, findings=error.findings.as_dict())
    except (InvalidTruth, InvalidParameters) as error:
        # An unusable ground truth is not the participant's fault, so the details are logged and the participant sees a
        # generic message.
        log.error("%s cannot be scored: %s", phase, fault_codes(error))
        lifecycle.fail(submission, code=Failure.UNUSABLE_TRUTH, sentence=UNUSABLE_TRUTH, final=True)
    except (MemoryError, OutOfTime) as error:
        end_exceeded(submission, error)
    except LeaseLost:
        log.info("%s was cancelled or taken over; its result is discarded", name)
    except FILE_FAULTS as error:
        postpone(submission, error, name)
    # The platform, not the participant, is at fault, so try again, and raise an alarm after the last attempt.
    except Exception as error:
        lifecycle.fail(submission, code=Failure.ACCIDENT, sentence=limits.accident_text(error), final=False)
        raise


def end_exceeded(submission: Submission, error: MemoryError | OutOfTime) -> None:
    """Fail a submission that exceeded a limit.

    If the submission exceeded only the shorter time limit for small files, queue it as large instead.
    """
    if submission.small and isinstance(error, OutOfTime):
        leases.release_as_large(submission)
        return
    code = Failure.OUT_OF_MEMORY if isinstance(error, MemoryError) else Failure.OUT_OF_TIME
    lifecycle.fail(submission, code=code, sentence=f"{limits.exceeded_text(error)} {ADVICE} {CHARGED}", final=True)


def rerun_claimed(claimed: Rerun, notify: bool) -> None:
    """Score the submission of a rerun again and record the result. If this fails, the submission keeps its score.

    If `notify` is false, no worker is woken for the explanation.
    """
    name, started = f"rerun {claimed.pk}", process_time()
    try:
        with Heartbeat(name, lambda **progress: leases.prolong(claimed)) as heartbeat:
            options = scorer.rerun_options(claimed)
            report = scorer.score(claimed.submission, claimed.truth, options, heartbeat.progress)
        result = report.as_dict()
        if claimed.purpose == Rerun.Purpose.EXPLANATION:
            reruns.record_explanation(claimed, report=result, contents=scorer.explanations(report))
        else:
            replicates, seconds = scorer.headline_replicates(report), process_time() - started
            reruns.record(claimed, report=result, replicates=replicates, cpu_seconds=seconds, notify=notify)
    except FINAL_ERRORS as error:
        give_up(claimed, error)
    except LeaseLost:
        log.info("%s was taken over; its result is discarded", name)
    except FILE_FAULTS as error:
        postpone(claimed, error, name)
    except Exception as error:
        reruns.fail(claimed, sentence=f"{type(error).__name__} while scoring again", final=False)
        raise


def compare_claimed(claimed: Comparison) -> None:
    """Compare the entries of a leaderboard and record the result, unless the worker has lost its claim to this job."""
    started = monotonic()
    try:
        with Heartbeat(str(claimed), lambda **progress: leases.prolong(claimed)), limits.limited_memory():
            found = compared(claimed)
        comparisons.record(claimed, found, seconds=monotonic() - started)
    except MemoryError:
        comparisons.fail(claimed, sentence="it needs more memory than a worker is allowed to use", final=True)
    except Exception as error:
        comparisons.fail(claimed, sentence=f"{type(error).__name__} while comparing", final=False)
        raise


def postpone(job: Job, error: Exception, name: str) -> None:
    """Put a job back into the queue after an error caused by stored files or the disk. The attempt does not count.

    If the storage is missing, this worker takes no more jobs, and another worker can score the job immediately.
    Otherwise, only this file or ground truth is unusable, and the next attempt is delayed. If the disk is full, the
    file may have filled it, so cancelling the submission does not give its quota back.
    """
    metrics.storage_errors.inc()
    log.error("alarm: %s cannot be scored here: %s", name, error)
    if storage_check.stop_if_missing():
        leases.release(job)
    else:
        leases.postpone(job, reason=reasons.obstacle(error), has_begun=full_disk(error) is not None)


def give_up(claimed: Rerun, error: Exception) -> None:
    """Abandon a rerun (a job that scores a submission again) after an error that would occur again.

    If the rerun exceeded only the shorter time limit for small files, queue it as large instead.
    """
    if claimed.submission.small and isinstance(error, OutOfTime):
        leases.release_as_large(claimed)
    else:
        reruns.fail(claimed, sentence=reasons.reason(error), final=True, alarm=not reasons.is_too_large(error))
