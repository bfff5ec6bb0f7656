"""Measurements of the whole service. They are read from the database and the broker when Prometheus requests them."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Count
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from redis import RedisError

from evaluator import __version__
from server.audit.models import Head
from server.runtime import health, home
from server.runtime.backlog import ScoringStatus, postponed_jobs, queues, scoring_status
from server.submissions.models import Fault, Status, Submission


def text() -> bytes:
    """Return all measurements in the Prometheus text format."""
    service = CollectorRegistry()
    service.register(ServiceCollector())
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY) + generate_latest(service)
    service.register(ProcessCollector())
    return generate_latest(service)


class ProcessCollector(Collector):
    """A Prometheus collector that adds up the counts of all processes that share this PODIUM_HOME."""

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        files = Path(settings.PODIUM_HOME, home.MEASUREMENTS).glob("*/*.db")
        # The file of a process that has just been started may still be empty, and an empty file cannot be merged.
        yield from MultiProcessCollector.merge([str(path) for path in files if path.stat().st_size])


class ServiceCollector(Collector):
    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        yield gauge("podium_info", "The version of the evaluator", {(__version__,): 1.0}, "version")
        found = queues()
        yield gauge("podium_queue_jobs", "Waiting jobs", {(one.name,): one.jobs for one in found}, "queue")
        ages = {(one.name,): one.seconds for one in found}
        yield gauge("podium_queue_age_seconds", "How long the oldest job has waited", ages, "queue")
        status = scoring_status()
        meaning = "Jobs that are waiting because a stored file cannot be used"
        yield gauge("podium_postponed_jobs", meaning, postponed_jobs(), "kind")
        yield gauge("podium_running_submissions", "Submissions that are being scored", {(): status.running})
        delay = status.seconds if status.is_delayed else 0.0
        yield gauge("podium_scoring_delay_seconds", "Delay of scoring, as shown on /status", {(): delay})
        yield from maintenance(status)
        rows = Submission.objects.order_by().values_list("status", "fault").annotate(rows=Count("pk"))
        # The number of failures is exported even if it is 0, because an alert needs to see the change from 0 to 1.
        outcomes = {(Status.FAILED, fault): 0.0 for fault in Fault if fault}
        outcomes |= {(status, fault): float(count) for status, fault, count in rows}
        yield gauge("podium_submissions", "Submissions by status and by cause of failure", outcomes, "status", "fault")
        head = Head.objects.values_list("number", flat=True).first() or 0
        yield gauge("podium_audit_entries", "Number of the last entry of the audit log", {(): head})
        yield from heartbeats()


def maintenance(status: ScoringStatus) -> Iterator[Metric]:
    found = status.maintenance
    overdue = max(0.0, (status.now - found.until).total_seconds()) if found else 0.0
    yield gauge("podium_maintenance", "Whether maintenance mode is on", {(): float(found is not None)})
    yield gauge("podium_maintenance_overdue_seconds", "Time since the announced end of the maintenance", {(): overdue})


def heartbeats() -> Iterator[Metric]:
    """Yield the metrics about the broker and, if the broker responds, those about the workers and sweepers."""
    try:
        ages = {(name,): seconds for name, seconds in health.worker_seconds().items()}
        sweeps = {(name,): seconds for name, seconds in health.sweeper_seconds().items()}
        stopped, versions = health.stopped_workers() | health.workers_of_other_versions(), health.worker_versions()
    except (RedisError, ValueError):
        yield gauge("podium_broker_up", "Whether Redis responds", {(): 0.0})
        return
    yield gauge("podium_broker_up", "Whether Redis responds", {(): 1.0})
    yield gauge("podium_worker_heartbeat_seconds", "Time since the last heartbeat of a worker", ages, "worker")
    yield gauge("podium_sweeper_heartbeat_seconds", "Time since the last sweep of a sweeper", sweeps, "sweeper")
    info = dict.fromkeys(versions.items(), 1.0)
    yield gauge("podium_worker_info", "The version of a worker's evaluator", info, "worker", "version")
    # A worker that has crashed neither takes jobs nor lacks storage. `podium_worker_heartbeat_seconds` shows it.
    taking = {(name,): float(name not in stopped) for name in versions}
    meaning = "0 if the worker, which sends heartbeats, takes no jobs"
    yield gauge("podium_worker_takes_jobs", meaning, taking, "worker")


def gauge(name: str, meaning: str, values: Mapping[Any, float], *labels: str) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=labels)
    for found, value in values.items():
        family.add_metric(found, value)
    return family
