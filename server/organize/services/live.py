"""Monitoring data about a running phase for its organizers: the queue, failures, and submissions per day."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Count, Min, Q
from django.db.models.functions import TruncDate

from server.challenges.models import Phase
from server.clock import midnight
from server.submissions.models import Failure, Fault, Status, Submission
from server.submissions.services import recovery

DAYS = 30


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """How many submissions to a phase are queued, and how many are running.

    `oldest` is the time at which the first of the queued submissions arrived.
    """

    queued: int
    running: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class FailureCount:
    """The number of failed submissions with one failure code and one party at fault, such as the organizers."""

    code: str
    fault: str
    count: int

    @property
    def reason(self) -> str:
        return Failure(self.code).label if self.code else "no code"

    @property
    def at_fault(self) -> str:
        return Fault(self.fault).label


@dataclass(frozen=True, slots=True)
class DayCount:
    """The number of submissions received on a day (UTC), and how many of them failed."""

    day: date
    received: int
    failed: int


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """The monitoring data of a phase. `without_interval` is the number of submissions without a confidence interval."""

    queue: QueueFigures
    failures: list[FailureCount]
    without_interval: int
    days: list[DayCount]

    @property
    def failed(self) -> int:
        return sum(one.count for one in self.failures)


def live_figures(phase: Phase, *, now: datetime) -> LiveFigures:
    without = recovery.without_interval().filter(phase=phase).count()
    return LiveFigures(queue_of(phase), failures_of(phase), without, days_of(phase, now=now))


def queue_of(phase: Phase) -> QueueFigures:
    unfinished = Submission.objects.filter(phase=phase, status__in=(Status.QUEUED, Status.RUNNING)).order_by()
    counted = unfinished.values_list("status").annotate(Count("pk"), Min("received_at"))
    found = {status: (count, oldest) for status, count, oldest in counted}
    queued, oldest = found.get(Status.QUEUED, (0, None))
    running, _ = found.get(Status.RUNNING, (0, None))
    return QueueFigures(queued, running, oldest)


def failures_of(phase: Phase) -> list[FailureCount]:
    """Return the number of failed submissions for each pair of failure code and party at fault, largest first."""
    failed = Submission.objects.filter(phase=phase, status=Status.FAILED).order_by()
    counted = failed.values_list("failure_code", "fault").annotate(count=Count("pk"))
    return [FailureCount(*row) for row in counted.order_by("-count", "failure_code", "fault")]


def days_of(phase: Phase, *, now: datetime) -> list[DayCount]:
    """Return the numbers of submissions on each of the last DAYS days, including today and days without submissions."""
    first = midnight(now) - timedelta(days=DAYS - 1)
    received = Submission.objects.filter(phase=phase, received_at__gte=first).order_by()
    numbers = {"received": Count("pk"), "failed": Count("pk", filter=Q(status=Status.FAILED))}
    counted: Any = received.annotate(day=TruncDate("received_at")).values_list("day").annotate(**numbers)
    found = {day: (count, failures) for day, count, failures in counted}
    days = [(first + timedelta(days=number)).date() for number in range(DAYS)]
    return [DayCount(day, *found.get(day, (0, 0))) for day in days]
