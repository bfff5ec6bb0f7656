"""What a submission's state means for its team, in a sentence that says what to do next."""

from datetime import datetime, timedelta

from server.pages.times import span
from server.submissions.models import Fault, Status, Submission
from server.submissions.reports import State

COSTS_NOTHING = "It does not count against your quota, but it counts as an attempt."
COSTS_QUOTA = "It counts against your quota, because scoring used all the time or memory that a file may use."


def sentence(submission: Submission) -> str:
    """Return what happened and what comes next."""
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
    return "Scored. The result stays on this page."


def whose_fault(submission: Submission) -> str:
    """Say who has to act, where there is no score; what to do says the sentence before."""
    if submission.fault == Fault.PARTICIPANT:
        costs = submission.status == Status.FAILED
        return f"The problem is in your file. {COSTS_QUOTA if costs else COSTS_NOTHING}"
    if submission.fault == Fault.ORGANIZER:
        return "The problem is not in your file. The organizers of the challenge have to fix it."
    if submission.fault == Fault.PLATFORM:
        return "The problem is on our side, not in your file. If it fails again, send us the ID below."
    return ""


def time_left(submission: Submission, now: datetime) -> str:
    """Return a rough remaining time, once there is enough to go by."""
    if submission.status != Status.RUNNING or submission.started_at is None or submission.progress < 0.05:
        return ""
    passed = now - submission.started_at
    if passed < timedelta(seconds=3):
        return ""
    left = passed * ((1 - submission.progress) / submission.progress)
    return f"about {span(left)} left" if left >= timedelta(seconds=1) else ""


def state_of(submission: Submission, explained: State) -> str:
    """Return a word that changes when there is something new to announce."""
    last = "explaining" if explained is State.PENDING else ""
    return "-".join(filter(None, (submission.status, submission.stage or last)))
