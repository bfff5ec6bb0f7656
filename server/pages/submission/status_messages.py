"""Messages for a team about the status of a submission and what to do next."""

from datetime import datetime, timedelta

from server.pages.formatting.units import time_span
from server.submissions.models import Fault, Status, Submission
from server.submissions.reports import ExplanationState
from server.submissions.services.lifecycle import CHARGED_LOSSES

CHARGED = "It counts against your quota, because scoring it took more time or memory than a file may use."
STOPPED_WORKERS = "It counts against your quota, because several workers stopped while scoring it."


def status_message(submission: Submission) -> str:
    """Return a message about what happened and what comes next."""
    if submission.status == Status.QUEUED:
        return "Waiting to be scored. You may leave this page; scoring continues."
    if submission.status == Status.RUNNING:
        return "Scoring is running. You may leave this page; scoring continues."
    if submission.status == Status.REJECTED:
        return "The file has defects, so it was not scored. Fix the problems below and submit again."
    if submission.status == Status.FAILED:
        return submission.failure
    if submission.status == Status.CANCELLED:
        return "Cancelled before it was scored. Submit the file again to have it scored."
    if not submission.is_settled:
        return "Scored. Computing the confidence interval. The score will not change."
    return "Scored. The result remains on this page."


def fault_message(submission: Submission, *, given_back: bool = False) -> str:
    """Return who has to fix a submission without a score, and why it is charged; empty if nobody has to.

    `given_back` is whether its quota was given back.
    """
    if submission.fault == Fault.PARTICIPANT:
        charge = "" if given_back else charge_message(submission)
        return f"The problem is in your file. {charge}".rstrip()
    if submission.fault == Fault.ORGANIZER:
        return "The problem is not in your file. The organizers of the challenge have to fix it."
    if submission.fault == Fault.PLATFORM:
        return "The problem is on our side, not in your file. If it happens again, send us the ID below."
    return ""


def charge_message(submission: Submission) -> str:
    """Return why a submission whose file is at fault counts against the quota; empty if it does not."""
    if submission.losses >= CHARGED_LOSSES:
        return STOPPED_WORKERS
    return CHARGED if submission.status == Status.FAILED else ""


def time_left(submission: Submission, now: datetime) -> str:
    """Return a rough estimate of the remaining time; empty if it is too early for one."""
    if submission.status != Status.RUNNING or submission.started_at is None or submission.progress < 0.05:
        return ""
    passed = now - submission.started_at
    if passed < timedelta(seconds=3):
        return ""
    left = passed * ((1 - submission.progress) / submission.progress)
    return f"about {time_span(left)} left" if left >= timedelta(seconds=1) else ""


def progress_key(submission: Submission, explained: ExplanationState) -> str:
    """Return a key for the visible progress. It changes whenever the page has something to announce."""
    last = "explaining" if explained is ExplanationState.PENDING else ""
    return "-".join(filter(None, (submission.status, submission.stage or last)))
