"""The queues of jobs: how many jobs wait in each of them, for how long, and whether scoring is delayed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.cache import caches
from django.db.models import Count, Min, Q, QuerySet
from django.db.models.functions import Coalesce

from server.clock import database_now, time_text
from server.leaderboards.models import Comparison
from server.maintenance import services as maintenance
from server.maintenance.models import Maintenance
from server.notices.models import Notice
from server.submissions.models import Rerun, Submission

# Scoring is considered delayed if a team waits for more than 60 seconds while none of its submissions is being scored.
DELAYED_SECONDS = 60.0
CACHE_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Queue:
    """The waiting jobs of one kind, and how long the oldest of them has waited."""

    name: str
    jobs: int
    seconds: float


def queues() -> list[Queue]:
    """Return the queues of submissions, intervals, explanations, comparisons and emails.

    Postponed submissions and reruns are included.
    """
    now, reruns = database_now(), Rerun.objects.queued()
    waiting: dict[str, tuple[QuerySet[Any], str]] = {
        "submissions": (Submission.objects.queued(), "enqueued_at"),
        "intervals": (reruns.filter(purpose=Rerun.Purpose.INTERVALS), "enqueued_at"),
        "explanations": (reruns.filter(purpose=Rerun.Purpose.EXPLANATION), "enqueued_at"),
        "comparisons": (Comparison.objects.due(now), "enqueued_at"),
        "mails": (Notice.objects.mail_due(now), "mail_at"),
    }
    return [queue_of(name, rows, since, now) for name, (rows, since) in waiting.items()]


def queue_of(name: str, rows: QuerySet[Any], since: str, now: datetime) -> Queue:
    found = rows.order_by().aggregate(jobs=Count("*"), first=Min(since))
    return Queue(name, found["jobs"], seconds_between(found["first"], now))


def postponed_jobs() -> dict[tuple[str], float]:
    """Return the number of postponed jobs of each kind. A worker postpones a job if a stored file cannot be used."""
    waiting: dict[str, QuerySet[Any]] = {"submission": Submission.objects.queued(), "rerun": Rerun.objects.queued()}
    return {(kind,): float(rows.filter(postponed__gt=0).count()) for kind, rows in waiting.items()}


def seconds_between(since: datetime | None, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds()) if since else 0.0


def waiting_since(now: datetime) -> datetime | None:
    """Return the time at which the longest-waiting team began to wait, or None if no team is waiting.

    A team is waiting if it has submissions that could be scored but none that is being scored. Therefore a queue that
    is long only because of one team's files does not count as a delay. A submission whose lease has expired is no
    longer being scored, although it counts against the team's limit until a sweeper ends the lease.
    """
    ready = Submission.objects.queued().filter(Q(not_before=None) | Q(not_before__lte=now))
    busy = Submission.objects.running().filter(lease_until__gte=now).order_by().values("team")
    found = ready.exclude(team__in=busy).order_by().aggregate(first=Min(Coalesce("not_before", "enqueued_at")))
    first: datetime | None = found["first"]
    return first


@dataclass(frozen=True, slots=True)
class ScoringStatus:
    """The state of scoring: the numbers of waiting and running submissions, the delay, and any current maintenance.

    `since` is the time at which the longest-waiting team began to wait.
    """

    waiting: int
    running: int
    since: datetime | None
    now: datetime
    maintenance: Maintenance | None = None

    @property
    def seconds(self) -> float:
        return seconds_between(self.since, self.now)

    @property
    def is_delayed(self) -> bool:
        return self.seconds >= DELAYED_SECONDS

    def as_dict(self) -> dict[str, Any]:
        return {
            "scoring": "delayed" if self.is_delayed else "normal",
            "delayed_since": time_text(self.since) if self.since and self.is_delayed else None,
            "delay_seconds": round(self.seconds) if self.is_delayed else 0,
            "waiting": self.waiting,
            "running": self.running,
            "maintenance": maintenance.as_dict(self.maintenance),
            "at": time_text(self.now),
        }


def scoring_status() -> ScoringStatus:
    """Return the state of scoring. Each process computes it at most once every CACHE_SECONDS."""
    found: ScoringStatus | None = caches["status"].get("scoring")
    if found is None:
        found = compute_status()
        caches["status"].set("scoring", found, CACHE_SECONDS)
    return found


def compute_status() -> ScoringStatus:
    now = database_now()
    waiting, running = Submission.objects.queued().count(), Submission.objects.running().count()
    return ScoringStatus(waiting, running, waiting_since(now), now, maintenance.current())
