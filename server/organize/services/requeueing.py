"""Requeues failed submissions to a phase, for organizers."""

from dataclasses import dataclass

from django.db.models import QuerySet

from server.accounts.models import User
from server.challenges.models import Phase
from server.errors import Refused
from server.organize.services.submission_table import SubmissionFilter
from server.submissions.models import Status, Submission
from server.submissions.services import recovery

# A request requeues at most 500 submissions, because each one needs its own transaction, and a request should not take
# long.
MOST_AT_ONCE = 500
MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class Requeued:
    """The result of requeueing: the numbers of matching and of requeued submissions, and reasons for the others."""

    queued: int
    matching: int
    refusals: list[str]

    @property
    def sentence(self) -> str:
        return f"{self.queued:,} of {self.matching:,} failed submissions were queued again."


def failed(phase: Phase, chosen: SubmissionFilter) -> QuerySet[Submission]:
    """Return the failed submissions that match a filter and whose files are still stored."""
    return chosen.submissions(phase).filter(status=Status.FAILED).exclude(file="")


def requeue_failed(*, phase: Phase, chosen: SubmissionFilter, by: User) -> Requeued:
    """Requeue the failed submissions that match a filter, oldest first, but at most MOST_AT_ONCE of them.

    Each requeued submission is recorded in the audit log.
    """
    matching = failed(phase, chosen)
    found = matching.select_related("phase__challenge", "team").order_by("received_at")
    count, queued, refusals = matching.count(), 0, list[str]()
    for one in found[:MOST_AT_ONCE]:
        try:
            recovery.requeue(submission=one, by=by)
            queued += 1
        except Refused as refusal:
            refusals.append(f"{one.file_name}: {refusal.detail}")
    return Requeued(queued, count, refusals[:MOST_LISTED])
