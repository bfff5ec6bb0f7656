"""Messages that tell a team the status of a submission and what to do next."""

from datetime import datetime, timedelta

from server.pages.formatting.units import time_span
from server.submissions.models import Fault, Status, Submission
from server.submissions.reports import ExplanationState
from server.submissions.services.lifecycle import LOSSES_UNTIL_CHARGED
from server.submissions.services.waiting import Wait

CHARGED = "It counts against your quota, because scoring it took more time or memory than allowed."
STOPPED_WORKERS = "It counts against your quota, because the worker process stopped several times while scoring it."


def status_message(submission: Submission, wait: Wait | None = None) -> str:
    """Return a message about the status of a submission and what happens next.

    `wait` is the estimated waiting time of a queued submission.
    """
    if submission.status == Status.QUEUED:
        return f"Waiting to be scored. {wait_message(wait)}You can leave this page; the file will still be scored."
    if submission.status == Status.RUNNING:
        return "Scoring is running. You can leave this page; scoring continues."
    if submission.has_nothing_to_score:
        return "No prediction in this file can earn a score, so it was not scored. This does not use quota."
    if submission.status == Status.REJECTED:
        return "The file has defects, so it was not scored. Fix the problems below and submit again."
    if submission.status == Status.FAILED:
        return submission.failure
    if submission.status == Status.CANCELLED:
        return "Cancelled before it was scored. Submit the file again to have it scored."
    if not submission.is_settled:
        return "Scored. Computing the confidence interval. The score will not change."
    return "Scored. The result remains on this page."


def wait_message(wait: Wait | None) -> str:
    """Return a message with the number of files ahead in the queue and the estimated wait.

    The message is empty if there are no files ahead.

    >>> wait_message(Wait(2, timedelta(seconds=30)))
    'About 2 files are ahead of this submission. The wait is about 30 seconds. '
    """
    if wait is None or not wait.ahead:
        return ""
    files = "1 file is" if wait.ahead == 1 else f"{wait.ahead} files are"
    time = f"The wait is about {time_span(wait.time)}. " if wait.time else ""
    return f"About {files} ahead of this submission. {time}"


def fault_message(submission: Submission, *, given_back: bool = False) -> str:
    """Return a message that says who is at fault for a submission's problem, and why the file counts against the quota.

    The message is empty if nobody is at fault. `given_back` is true if the quota that the submission used was returned
    to the team.
    """
    if submission.fault == Fault.PARTICIPANT:
        charge = "" if given_back else charge_message(submission)
        return f"The problem is in your file. {charge}".rstrip()
    if submission.fault == Fault.ORGANIZER:
        return "The problem is not in your file. The organizers of the challenge have to fix it."
    if submission.fault == Fault.PLATFORM:
        return (
            "The problem is on our side, not in your file. If it happens again, contact the operator and include "
            "the ID below."
        )
    return ""


def charge_message(submission: Submission) -> str:
    """Return a sentence that explains why a faulty file counts against the quota.

    The sentence is empty if the file does not count against the quota.
    """
    if submission.losses >= LOSSES_UNTIL_CHARGED:
        return STOPPED_WORKERS
    return CHARGED if submission.status == Status.FAILED else ""


def time_left(submission: Submission, now: datetime) -> str:
    """Return a rough estimate of the time until a submission is scored, as text.

    The text is empty if the submission is not running or if it is too early for an estimate.
    """
    if submission.status != Status.RUNNING or submission.started_at is None or submission.progress < 0.05:
        return ""
    passed = now - submission.started_at
    if passed < timedelta(seconds=3):
        return ""
    left = passed * ((1 - submission.progress) / submission.progress)
    return f"about {time_span(left)} left" if left >= timedelta(seconds=1) else ""


def progress_key(submission: Submission, explained: ExplanationState, wait: Wait | None = None) -> str:
    """Return a string that changes with the status, the stage or the queue position of a submission."""
    last = "explaining" if explained is ExplanationState.PENDING else ""
    ahead = str(wait.ahead) if wait and wait.ahead else ""
    return "-".join(filter(None, (submission.status, submission.stage or last or ahead)))
