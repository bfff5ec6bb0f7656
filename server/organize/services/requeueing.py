"""Lets organizers requeue failed submissions, and submissions whose scores have no confidence interval."""

from collections.abc import Callable
from dataclasses import dataclass, replace

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
    """The numbers of matching and requeued submissions, and the reasons for the first few refusals."""

    queued: int
    matching: int
    refusals: list[str]

    def sentence(self, kind: str) -> str:
        """Return a message such as "2 of 3 failed submissions were queued again."."""
        return f"{self.queued:,} of {self.matching:,} {kind} were queued again."


def failed(phase: Phase, chosen: SubmissionFilter) -> QuerySet[Submission]:
    """Return the failed submissions that match a filter and whose files are still stored."""
    return chosen.submissions(phase).filter(status=Status.FAILED).exclude(file="")


def requeue_failed(*, phase: Phase, chosen: SubmissionFilter, by: User) -> Requeued:
    """Requeue the failed submissions that match a filter, oldest first, but at most MOST_AT_ONCE of them.

    Each requeued submission is recorded in the audit log.
    """
    return queue_each(failed(phase, chosen), lambda one: recovery.requeue(submission=one, by=by))


def requeue_intervals(*, phase: Phase, chosen: SubmissionFilter, by: User) -> Requeued:
    """Queue reruns of the submissions without a confidence interval that match a filter, oldest first.

    At most MOST_AT_ONCE reruns are queued. Each of them is recorded in the audit log.
    """
    matching = replace(chosen, without_interval=True).submissions(phase)
    return queue_each(matching, lambda one: recovery.requeue_interval(submission=one, by=by))


def queue_each(matching: QuerySet[Submission], queue_again: Callable[[Submission], None]) -> Requeued:
    """Call `queue_again` for up to MOST_AT_ONCE submissions, oldest first. A refusal does not stop the others."""
    found = matching.select_related("phase__challenge", "team").order_by("received_at")
    count, queued, refusals = matching.count(), 0, list[str]()
    for one in found[:MOST_AT_ONCE]:
        try:
            queue_again(one)
            queued += 1
        except Refused as refusal:
            refusals.append(f"{one.file_name}: {refusal.detail}")
    return Requeued(queued, count, refusals[:MOST_LISTED])
