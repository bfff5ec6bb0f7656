"""The two tasks: `evaluate` scores a submission; `rerun` scores it again, for the intervals or the explanation.

Both claim the next job, score it and record the outcome. `server/submissions/services` defines the effect of each
outcome.
"""

import logging
from collections.abc import Callable
from functools import partial
from time import process_time
from uuid import UUID

from celery import shared_task
from django.conf import settings

from evaluator.problems import InvalidParameters, InvalidSubmission, InvalidTruth
from evaluator.request import ReportOptions
from server.organize.services.truths import Unrestorable
from server.submissions import queue
from server.submissions.limits import ADVICE, CHARGED
from server.submissions.models import Failure, Rerun, Submission
from server.submissions.queue import EVALUATE, RERUN
from server.submissions.services import leases, lifecycle, reruns, scheduling
from server.submissions.services.evaluations import NotReproducible
from server.submissions.services.leases import Job
from worker import limits, scorer, storage_check
from worker.heartbeat import Heartbeat, LeaseLost
from worker.large_files import LargeFileSlot
from worker.limits import OutOfTime
from worker.storage_check import Unreadable
from worker.truths import UNUSABLE_TRUTH, active_truth, fault_codes

log = logging.getLogger(__name__)

# Errors that another attempt would raise again.
FINAL_ERRORS = (InvalidSubmission, InvalidTruth, InvalidParameters, MemoryError, OutOfTime, NotReproducible)
# Faults of the stored files, of a truth that cannot be restored, or of the worker's disk: no attempt counts.
FILE_FAULTS = (Unreadable, Unrestorable, OSError)


@shared_task(name=EVALUATE)
def evaluate(submission_id: str) -> None:
    """Score the next submission."""
    work(Submission, UUID(submission_id), evaluate_claimed)


@shared_task(name=RERUN)
def rerun(rerun_id: int) -> None:
    """Score the next submission that is due for a rerun."""
    work(Rerun, rerun_id, rerun_claimed)


def work(kind: type[Job], key: UUID | int, score_claimed: Callable[[Job], None]) -> None:
    """Claim the next job and score it.

    The message, with the key of a job, only wakes this worker. It may arrive twice, late or never.
    """
    if not storage_check.can_work():
        return storage_check.pass_on(partial(queue.enqueue, kind, key))
    with LargeFileSlot() as slot:
        job = scheduling.claim_next(kind, large=slot.is_held)
        if job is None:
            return
        try:
            score_claimed(job)
        finally:
            slot.release()
            scheduling.wake(Submission)
            scheduling.wake(Rerun)


def evaluate_claimed(submission: Submission) -> None:
    """Score a submission and record the outcome. If the lease is lost, nothing is recorded."""
    name, phase, started = f"submission {submission.pk}", submission.phase, process_time()
    try:
        truth = active_truth(phase)
        with Heartbeat(name, partial(lifecycle.report_progress, submission)) as heartbeat:
            report = scorer.score(submission, truth, ReportOptions(), heartbeat.progress)
        lifecycle.record(submission, truth=truth, report=report.as_dict(), cpu_seconds=process_time() - started)
    except InvalidSubmission as error:  # the file is at fault: show its defects to the participant
        lifecycle.reject(submission, findings=error.findings.as_dict())
    except (InvalidTruth, InvalidParameters) as error:
        # This is not the participant's fault: log the details, show a generic message.
        log.error("%s cannot be scored: %s", phase, fault_codes(error))
        lifecycle.fail(submission, code=Failure.UNUSABLE_TRUTH, sentence=UNUSABLE_TRUTH, final=True)
    except (MemoryError, OutOfTime) as error:
        end_exceeded(submission, error)
    except LeaseLost:
        log.info("%s was cancelled or taken over; its result is dropped", name)
    except FILE_FAULTS as error:
        postpone(submission, error, name)
    except SystemExit:  # this worker is being stopped; another one scores the submission
        leases.release(submission)
        raise
    except Exception as error:  # the platform is at fault: try again, and raise an alarm after the last attempt
        lifecycle.fail(submission, code=Failure.ACCIDENT, sentence=limits.accident_text(error), final=False)
        raise


def end_exceeded(submission: Submission, error: MemoryError | OutOfTime) -> None:
    """Fail a submission that exceeded a limit, or queue it as large if it was the shorter time limit of small files."""
    if submission.small and isinstance(error, OutOfTime):
        leases.release_as_large(submission)
        return
    code = Failure.OUT_OF_MEMORY if isinstance(error, MemoryError) else Failure.OUT_OF_TIME
    lifecycle.fail(submission, code=code, sentence=f"{limits.exceeded_text(error)} {ADVICE} {CHARGED}", final=True)


def rerun_claimed(claimed: Rerun) -> None:
    """Score a submission again and record the result. Whatever goes wrong, the score of the submission is kept."""
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
            reruns.record(claimed, report=result, replicates=replicates, cpu_seconds=seconds)
    except FINAL_ERRORS as error:
        give_up(claimed, error)
    except LeaseLost:
        log.info("%s was taken over; its result is dropped", name)
    except FILE_FAULTS as error:
        postpone(claimed, error, name)
    except SystemExit:
        leases.release(claimed)
        raise
    except Exception as error:
        reruns.fail(claimed, sentence=f"{type(error).__name__} while scoring again", final=False)
        raise


def postpone(job: Job, error: Exception, name: str) -> None:
    """Put a job back after a fault of the files or the disk. The attempt does not count.

    If the storage is missing, this worker stops, and another one can score the job at once. Otherwise only this file or
    truth is at fault, and the next attempt waits for a while.
    """
    log.error("alarm: %s cannot be scored here: %s", name, error)
    if storage_check.stop_if_missing():
        leases.release(job)
    else:
        leases.postpone(job, reason=obstacle(error))


def obstacle(error: Exception) -> str:
    """Return why a job was postponed, for the organizers. Paths are only in the log."""
    if isinstance(error, Unreadable):
        return "The stored file or the ground truth is missing or damaged. The log of the worker names it."
    if isinstance(error, OSError):
        return f"The worker cannot read or write a file: {error.strerror or type(error).__name__}."
    return f"{error}."


def give_up(claimed: Rerun, error: Exception) -> None:
    """Give up a rerun, or queue it as large if it only exceeded the shorter time limit of small files."""
    if claimed.submission.small and isinstance(error, OutOfTime):
        leases.release_as_large(claimed)
    else:
        reruns.fail(claimed, sentence=reason(error), final=True, alarm=not is_too_large(error))


def reason(error: Exception) -> str:
    """Return the sentence that explains to organizers why a rerun was given up."""
    if is_too_large(error):
        return f"Files of more than {settings.EXPLANATION_MAX_BYTES} bytes, decompressed, are not explained."
    if isinstance(error, InvalidSubmission):
        return f"The file does not fit this truth: {', '.join(error.findings.counts)}."
    if isinstance(error, InvalidTruth | InvalidParameters):
        return f"The truth or the settings cannot be used: {fault_codes(error)}."
    return str(error) if isinstance(error, NotReproducible) else limits.exceeded_text(error)


def is_too_large(error: Exception) -> bool:
    """Return whether the error means that a scored file is too large to be explained, which is nobody's fault."""
    return isinstance(error, InvalidSubmission) and "too_large" in error.findings.counts
