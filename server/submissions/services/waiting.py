"""Estimates how many files will be scored before a queued submission, and how long the submission has to wait."""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import Count

from server.submissions.models import Status, Submission

RECENT = 20


@dataclass(frozen=True, slots=True)
class Wait:
    """The estimated number of files ahead of a queued submission, and the time until it is scored (None if unknown)."""

    ahead: int
    time: timedelta | None


def estimated_wait(submission: Submission) -> Wait:
    """Return the estimated wait for a queued submission.

    Teams take turns. For example, at most two files of every other team are scored before a team's second file.
    """
    earlier = Submission.objects.queued().order_by().filter(received_at__lt=submission.received_at)
    files = dict(earlier.values_list("team").annotate(Count("pk")))
    own = files.pop(submission.team_id, 0)
    ahead = own + sum(min(number, own + 1) for number in files.values())
    seconds = recent_seconds()
    turns = ahead / settings.WORKER_PROCESSES + 1
    return Wait(ahead, None if seconds is None else timedelta(seconds=seconds * turns))


def recent_seconds() -> float | None:
    """Return the mean time in seconds taken to score the most recent submissions, or None if there are none."""
    times = Submission.objects.filter(status=Status.SCORED, started_at__isnull=False).order_by("-enqueued_at")
    pairs = times.values_list("started_at", "finished_at")[:RECENT]
    spans = [(end - start).total_seconds() for start, end in pairs if start and end]
    return sum(spans) / len(spans) if spans else None
