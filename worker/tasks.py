"""The whole system in two tasks: score a submission and write down what came out; later all that follows it."""

import json
import logging
import zlib
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any
from uuid import UUID

from celery import shared_task
from django.conf import settings

from evaluator import scoring
from evaluator.explanation import explanation
from evaluator.problems import DamagedTruth, InvalidParameters, InvalidSubmission, InvalidTruth
from evaluator.report import Report
from server.challenges.models import Truth
from server.submissions import queue
from server.submissions.limits import ADVICE, CHARGED, explanation_limits, file_limits
from server.submissions.models import Failure, Rerun, Submission
from server.submissions.queue import EVALUATE, RERUN
from server.submissions.services import lifecycle, reruns, turns
from server.submissions.services.evaluations import SEED, Unrepeatable
from worker import limits, reach
from worker.heartbeat import Heartbeat, LeaseLost
from worker.lanes import Lane
from worker.limits import OutOfTime
from worker.reach import Unreachable
from worker.truths import BROKEN_TRUTH, active_truth, reason, restore

log = logging.getLogger(__name__)

# What another attempt would not mend
HOPELESS = (InvalidSubmission, InvalidTruth, InvalidParameters, MemoryError, OutOfTime, Unrepeatable)


@shared_task(name=EVALUATE)
def evaluate(submission_id: str) -> None:
    """Score the submission whose turn it is: the message only wakes, and may come twice, late, or never."""
    if not reach.takes_work():
        return reach.hold(partial(queue.enqueue, UUID(submission_id)))
    with Lane() as lane:
        submission = turns.next_submission(large=lane.large)
        if submission is None:
            return
        try:
            evaluate_claimed(submission)
        finally:
            lane.leave()
            turns.wake()
            turns.wake_later()


def evaluate_claimed(submission: Submission) -> None:
    """Score it, and write down how it ended; a lost lease records nothing."""
    phase, started = submission.phase, process_time()
    try:
        truth = active_truth(phase)
        with Heartbeat(f"submission {submission.pk}", partial(lifecycle.beat, submission)) as heartbeat:
            report = scored(submission, truth, progress=heartbeat.progress)
        lifecycle.record(submission, truth=truth, report=report.as_dict(), cpu_seconds=process_time() - started)
    except InvalidSubmission as error:  # the file is at fault: tell its author
        lifecycle.reject(submission, findings=error.findings.as_dict())
    except (InvalidTruth, InvalidParameters) as error:  # its author can do nothing: the details are the organizers'
        log.error("%s cannot be scored: %s", phase, reason(error))
        lifecycle.fail(submission, code=Failure.UNUSABLE_TRUTH, sentence=BROKEN_TRUTH, final=True)
    except (MemoryError, OutOfTime) as error:
        end_costly(submission, error)
    except LeaseLost:
        log.info("submission %s was cancelled or taken over; its result is not wanted", submission.pk)
    except Unreachable as error:
        lifecycle.release(submission, pause=reach.pause_after(error, f"submission {submission.pk}"))
    except SystemExit:  # this worker is being stopped: another one takes it
        lifecycle.release(submission)
        raise
    except Exception as error:  # we are at fault: tell ourselves
        lifecycle.fail(submission, code=Failure.ACCIDENT, sentence=limits.accident(error), final=False)
        raise


def end_costly(submission: Submission, error: MemoryError | OutOfTime) -> None:
    """Fail what costs more than a file may; put back what costs only more than a small file may."""
    if submission.small and isinstance(error, OutOfTime):
        lifecycle.release_as_large(submission)
        return
    code = Failure.OUT_OF_MEMORY if isinstance(error, MemoryError) else Failure.OUT_OF_TIME
    lifecycle.fail(submission, code=code, sentence=f"{limits.exceeded(error)} {ADVICE} {CHARGED}", final=True)


@shared_task(name=RERUN)
def rerun(rerun_id: int) -> None:
    """Score a scored submission once more, the next one that waits for it."""
    if not reach.takes_work():
        return reach.hold(partial(queue.enqueue_rerun, rerun_id))
    with Lane() as lane:
        claimed = turns.next_rerun(large=lane.large)
        if claimed is None:
            return
        try:
            rerun_claimed(claimed)
        finally:
            lane.leave()
            turns.wake()
            turns.wake_later()


def rerun_claimed(claimed: Rerun) -> None:
    """Score it for what is asked. What goes wrong here takes no score away."""
    started = process_time()
    try:
        with Heartbeat(f"rerun {claimed.pk}", lambda **news: reruns.beat(claimed)) as heartbeat:
            report = scored(claimed.submission, claimed.truth, progress=heartbeat.progress, **asked(claimed))
        if claimed.purpose == Rerun.Purpose.EXPLANATION:
            reruns.record_why(claimed, report=report.as_dict(), contents=explanations(report))
        else:
            seconds = process_time() - started
            reruns.record(claimed, report=report.as_dict(), replicates=packed(report), cpu_seconds=seconds)
    except HOPELESS as error:
        give_up(claimed, error)
    except LeaseLost:
        log.info("rerun %s was taken over; its result is not wanted", claimed.pk)
    except Unreachable as error:
        if reach.pause_after(error, f"rerun {claimed.pk}"):
            reruns.fail(claimed, sentence="a file of it cannot be found, or is damaged", final=False)
        else:
            reruns.release(claimed)
    except SystemExit:
        reruns.release(claimed)
        raise
    except Exception as error:
        reruns.fail(claimed, sentence=f"{type(error).__name__} while scoring again", final=False)
        raise


def give_up(claimed: Rerun, error: Exception) -> None:
    """End it for good, or put it back where it costs only more than a small file may."""
    if claimed.submission.small and isinstance(error, OutOfTime):
        reruns.release_as_large(claimed)
    else:
        reruns.fail(claimed, sentence=why(error), final=True, alarm=not too_large(error))


def asked(rerun: Rerun) -> dict[str, Any]:
    """Return the options of a scoring for this purpose."""
    track = rerun.submission.phase.declared_track
    if rerun.purpose == Rerun.Purpose.EXPLANATION:
        return {"explain": bool(track.explained_tables), "curves": True, "limits": explanation_limits()}
    replicates = settings.INTERVAL_REPLICATES if track.intervals else 0
    return {"bootstrap": replicates, "seed": SEED, "draws": rerun.truth.draws}


def why(error: Exception) -> str:
    """Say to the organizers what ended a second scoring."""
    if too_large(error):
        return f"Files of more than {settings.EXPLANATION_MAX_BYTES} bytes, decompressed, are not explained."
    if isinstance(error, InvalidSubmission):
        return f"The file does not fit this truth: {', '.join(error.findings.counts)}."
    if isinstance(error, InvalidTruth | InvalidParameters):
        return f"The truth or the settings cannot be used: {reason(error)}."
    return str(error) if isinstance(error, Unrepeatable) else limits.exceeded(error)


def too_large(error: Exception) -> bool:
    """Tell whether the file, which could be scored, is beyond what is explained; that is nobody's fault."""
    return isinstance(error, InvalidSubmission) and "too_large" in error.findings.counts


def scored(submission: Submission, truth: Truth, **options: Any) -> Report:
    """Score a submission's file against a truth, as its phase says, within the limits of a scoring.

    A damaged truth is restored first, outside these limits. Raises Unreachable where this worker cannot read one of the
    files, whatever the scoring made of that, or the submission's is not what was uploaded.
    """
    try:
        return scored_once(submission, truth, **options)
    except DamagedTruth as error:
        restore(truth, error)
        return scored_once(submission, truth, **options)


def scored_once(submission: Submission, truth: Truth, **options: Any) -> Report:
    phase = submission.phase
    files = Path(truth.prepared.path), Path(submission.file.path)
    reach.refuse_unreadable(*files)
    reach.refuse_changed(submission)
    options = {"limits": file_limits(), "verify": True, "expected": truth.sha256, **options}
    try:
        with limits.limited(small=submission.small):
            return scoring.score(phase.track, *files, parameters=phase.parameters, **options)
    except (OSError, InvalidTruth):
        reach.refuse_unreadable(*files)
        raise


def packed(report: Report) -> dict[str, bytes]:
    """The headline's replicates by split, as they are stored; nothing where none were drawn."""
    splits = report.splits.items()
    vectors = {name: split.replicates.get(split.headline) for name, split in splits}
    return {name: vector.astype("<f8").tobytes() for name, vector in vectors.items() if vector is not None}


def explanations(report: Report) -> dict[str, bytes]:
    """What explains the scores of each split, as it is stored."""
    kept = {split: json.dumps(explanation(report, split), allow_nan=False) for split in report.splits}
    return {split: zlib.compress(text.encode()) for split, text in kept.items()}
