"""What a submission's state means for its team, in a sentence that says what to do next."""

from datetime import datetime, timedelta

from server.pages.times import span
from server.submissions.models import Fault, Status, Submission
from server.submissions.reports import State

COSTS_NOTHING = "It costs no quota; it counts as an attempt."
COSTS_QUOTA = "It counts against your quota, because scoring it used what a file may use."


def sentence(submission: Submission) -> str:
    """Return what happened and what comes next."""
    if submission.status == Status.QUEUED:
        return "Waiting for a free worker. You may leave this page; scoring goes on without it."
    if submission.status == Status.RUNNING:
        return "Being scored. You may leave this page; scoring goes on without it."
    if submission.status == Status.REJECTED:
        return "The file has defects, so it was not scored. Mend what is listed below and send it again."
    if submission.status == Status.FAILED:
        return submission.failure
    if submission.status == Status.CANCELLED:
        return "Cancelled before it was scored. Send the file again when you want it scored."
    if not submission.is_settled:
        return "Scored. How much the score would vary on other images is being worked out; it stays as it is."
    return "Scored. The result stays here."


def whose_fault(submission: Submission) -> str:
    """Say who has to act, where there is no score; what to do says the sentence before."""
    if submission.fault == Fault.PARTICIPANT:
        costs = submission.status == Status.FAILED
        return f"This is about your file. {COSTS_QUOTA if costs else COSTS_NOTHING}"
    if submission.fault == Fault.ORGANIZER:
        return "This is not about your file: the organizers of the challenge have to mend it."
    if submission.fault == Fault.PLATFORM:
        return "This is our fault, not your file's. If it fails again, tell us the id below."
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
