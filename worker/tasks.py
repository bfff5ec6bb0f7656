"""The whole system in one function: take a submission, score it against the hidden truth, write down what came out."""

import logging
from pathlib import Path
from time import process_time
from uuid import UUID

from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded

from evaluator import scoring
from evaluator.problems import InvalidParameters, InvalidSubmission, InvalidTruth
from server.submissions.limits import file_limits
from server.submissions.models import Fault
from server.submissions.queue import EVALUATE
from server.submissions.services import lifecycle
from worker import limits
from worker.heartbeat import Heartbeat, LeaseLost
from worker.truths import BROKEN_TRUTH, reason, truth_of

log = logging.getLogger(__name__)


@shared_task(name=EVALUATE)
def evaluate(submission_id: str) -> None:
    """Score one submission. Its message may come twice or late: one claim succeeds, a lost lease records nothing."""
    submission = lifecycle.claim(UUID(submission_id))
    if submission is None:
        return
    phase, started = submission.phase, process_time()
    try:
        truth = truth_of(phase)
        with Heartbeat(submission) as heartbeat:
            report = scoring.score(
                phase.track,
                Path(truth.prepared.path),
                Path(submission.file.path),
                parameters=phase.parameters,
                limits=file_limits(),
                progress=heartbeat.progress,
            )
        lifecycle.record(submission, truth=truth, report=report.as_dict(), cpu_seconds=process_time() - started)
    except InvalidSubmission as error:  # the file is at fault: tell its author
        lifecycle.reject(submission, findings=error.findings.as_dict())
    except (InvalidTruth, InvalidParameters) as error:  # its author can do nothing: the details are the organizers'
        log.error("%s cannot be scored: %s", phase, reason(error))
        lifecycle.fail(submission, fault=Fault.ORGANIZER, sentence=BROKEN_TRUTH, final=True)
    except (MemoryError, SoftTimeLimitExceeded) as error:
        lifecycle.fail(submission, fault=Fault.PLATFORM, sentence=limits.exceeded(error), final=True)
    except LeaseLost:
        log.info("submission %s was cancelled or taken over; its result is not wanted", submission.pk)
    except SystemExit:  # this worker is being stopped: another one takes it
        lifecycle.release(submission)
        raise
    except Exception as error:  # we are at fault: tell ourselves
        sentence = f"{type(error).__name__} while scoring. It is our fault; your quota was given back. Submit it again."
        lifecycle.fail(submission, fault=Fault.PLATFORM, sentence=sentence, final=False)
        raise
