"""Only clients that the settings allow may read /metrics. Alerts and the dashboard use only existing metrics."""

import json
import os
import re
import shutil
import subprocess
import sys
from ipaddress import ip_network
from pathlib import Path

import pytest
import yaml
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from server import metrics
from server.clock import database_now
from server.runtime import health, home, measurements
from tests.conftest import InlineQueue, Make
from tests.server.runtime.test_health import FakeRedis, refuse

WATCHING = Path(__file__).parents[3] / "deploy" / "prometheus"
TOKEN = "0123456789abcdef0123456789abcdef"


@pytest.fixture(autouse=True)
def broker(monkeypatch: pytest.MonkeyPatch) -> None:
    found = FakeRedis(sweepers={"sweeper@a": 4.0}, versions={"celery@a": "1.0.0"}, **{"celery@a": 3.0})
    monkeypatch.setattr(health, "redis", lambda: found)


def values() -> dict[tuple[str, ...], float]:
    """Return the values of all Prometheus samples, keyed by the sample's name and the values of its labels."""
    families = text_string_to_metric_families(measurements.text().decode())
    return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}


@pytest.mark.parametrize(
    ("token", "networks", "given", "status"),
    [
        ("", [], "", 404),
        ("", [], "Bearer ", 404),
        (TOKEN, [], "", 404),
        (TOKEN, [], f"Bearer {TOKEN[1:]}", 404),
        (TOKEN, [], f"Bearer {TOKEN}", 200),
        ("", ["127.0.0.0/8"], "", 200),
        ("", ["10.0.0.0/8"], "", 404),
    ],
)
@pytest.mark.django_db
def test_metrics_are_for_the_token_and_the_addresses_of_the_settings(
    token: str, networks: list[str], given: str, status: int, client: Client, settings: Settings
) -> None:
    settings.METRICS_TOKEN, settings.METRICS_ADDRESSES = token, [ip_network(one) for one in networks]
    assert client.get("/metrics", headers={"Authorization": given}).status_code == status


@pytest.mark.django_db
def test_a_forwarded_address_counts_only_behind_a_proxy(client: Client, settings: Settings) -> None:
    settings.METRICS_ADDRESSES = [ip_network("10.1.2.3")]
    headers = {"X-Forwarded-For": "10.1.2.3"}
    assert client.get("/metrics", headers=headers).status_code == 404
    settings.PROXIES = 1
    assert client.get("/metrics", headers=headers).status_code == 200


@pytest.mark.django_db
def test_requests_and_refusals_are_counted_by_route_and_code(client: Client) -> None:
    before = values()
    client.get("/api/v1/challenges/missing")
    changed = {name: value - before.get(name, 0.0) for name, value in values().items()}
    assert changed["podium_refusals_total", "not_found"] == 1
    assert changed["podium_responses_total", "404"] == 1
    assert changed["podium_request_seconds_count", "GET", "api/v1/challenges/<slug:slug>"] == 1


def test_queues_outcomes_and_workers_are_read_from_the_service(make: Make) -> None:
    phase = make.phase()
    make.submission(phase)
    failed = {"status": "failed", "fault": "platform", "failure_code": "worker_lost", "failure": "no"}
    make.submission(phase, finished_at=database_now(), **failed)
    found = values()
    assert found["podium_queue_jobs", "submissions"] == 1
    assert found["podium_submissions", "platform", "failed"] == 1
    assert found["podium_worker_heartbeat_seconds", "celery@a"] == pytest.approx(3.0)
    assert found["podium_worker_takes_jobs", "celery@a"] == 1
    assert found["podium_worker_info", "1.0.0", "celery@a"] == 1
    assert found["podium_sweeper_heartbeat_seconds", "sweeper@a"] == pytest.approx(4.0)
    assert found["podium_broker_up",] == 1


def test_a_worker_without_storage_and_postponed_jobs_are_measured(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "redis", lambda: FakeRedis("celery@a", **{"celery@a": 3.0, "celery@b": 3.0}))
    make.submission(make.phase(), postponed=2)
    found = values()
    assert [found["podium_worker_takes_jobs", f"celery@{name}"] for name in "ab"] == [0, 1]
    assert (found["podium_postponed_jobs", "submission"], found["podium_postponed_jobs", "rerun"]) == (1, 0)


@pytest.mark.django_db
def test_a_worker_that_crashed_without_storage_is_lost_and_no_longer_without_storage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ages = {"celery@a": 3.0, "celery@b": 259_200.0, "celery@c": 259_200.0}
    monkeypatch.setattr(health, "redis", lambda: FakeRedis("celery@b", **ages))
    found = values()
    assert found["podium_worker_heartbeat_seconds", "celery@b"] == pytest.approx(259_200.0)
    assert [name[1] for name in found if name[0] == "podium_worker_takes_jobs"] == ["celery@a"]


@pytest.mark.django_db
def test_failures_are_measured_before_the_first_one() -> None:
    assert values()["podium_submissions", "platform", "failed"] == 0


@pytest.fixture(scope="session")
def promtool() -> str:
    """Return the path of promtool, which checks Prometheus rules. If it is missing, skip the test or, in CI, fail."""
    found = shutil.which("promtool")
    if found is None:
        why = "NOT RUN: promtool is missing; apt-get install --no-install-recommends prometheus"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)
    return found


def test_the_alert_rules_are_valid(promtool: str) -> None:
    words = [promtool, "check", "rules", "--lint-fatal", str(WATCHING / "alerts.yaml")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_each_alert_fires_in_its_case_only(promtool: str) -> None:
    cases = Path(__file__).with_name("alert_cases.yaml")
    rules = yaml.safe_load((WATCHING / "alerts.yaml").read_text())["groups"][0]["rules"]
    tested = [one for case in yaml.safe_load(cases.read_text())["tests"] for one in case["alert_rule_test"]]
    assert {one["alertname"] for one in tested if one["exp_alerts"]} == {one["alert"] for one in rules}
    done = subprocess.run([promtool, "test", "rules", str(cases)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.django_db
def test_without_the_broker_the_other_measurements_are_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "redis", refuse)
    found = values()
    assert found["podium_broker_up",] == 0
    assert ("podium_queue_jobs", "submissions") in found


def test_a_scored_attempt_is_measured_by_its_stage(make: Make, inline_queue: InlineQueue) -> None:
    before = values()
    make.submission(make.phase())
    inline_queue.work()
    changed = {name: value - before.get(name, 0.0) for name, value in values().items()}
    assert changed["podium_stage_seconds_count", "waiting"] == 1
    assert changed["podium_stage_seconds_count", "scoring"] == 1


@pytest.mark.django_db
def test_alerts_and_dashboard_use_only_metrics_that_exist() -> None:
    metrics.refusals.labels("test").inc()
    metrics.stage_seconds.labels("test").observe(1)
    metrics.request_seconds.labels("GET", "test").observe(1)
    metrics.responses.labels("200").inc()
    metrics.truth_copies.labels("test").inc()
    existing = {name for name, *_ in values()}
    rules = yaml.safe_load((WATCHING / "alerts.yaml").read_text())["groups"][0]["rules"]
    panels = json.loads((WATCHING / "dashboard.json").read_text())["panels"]
    queries = [rule["expr"] for rule in rules] + [one["expr"] for panel in panels for one in panel["targets"]]
    used = {name for query in queries for name in re.findall(r"\bpodium_\w+", query)}
    assert len(used) > 15
    assert used - existing == set()


def test_counts_of_processes_that_have_ended_are_removed_at_start(settings: Settings, tmp_path: Path) -> None:
    settings.PODIUM_HOME = tmp_path
    folder = home.measurements_folder()
    ended, running = folder / "counter_4194999.db", folder / f"counter_{os.getpid()}.db"
    ended.touch()
    running.touch()
    assert list(home.measurements_folder().iterdir()) == [running]


CHILD = """
import errno, os
from pathlib import Path
from server import metrics
{before}
folder = os.environ["PROMETHEUS_MULTIPROC_DIR"]
if (child := os.fork()) == 0:
    metrics.responses.labels("200").inc()
    own = sorted(Path(folder).glob(f"*_{{os.getpid()}}.db"))
    kinds = [path.name.partition("_")[0] for path in own]
    print([kind for kind, path in zip(kinds, own) if path.stat().st_blocks * 512 >= metrics.RESERVED_BYTES[kind]])
    print(len(own), metrics.responses.labels("200")._value.get(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
FULL = """
def no_space(*words):
    raise OSError(errno.ENOSPC, "full")
os.posix_fallocate, metrics.MEMORY = no_space, Path(os.environ["MEMORY"])
"""


@pytest.mark.parametrize(
    ("before", "said"),
    [
        pytest.param("", ["['counter', 'histogram']", "2 1.0"], id="space"),
        pytest.param(FULL, ["[]", "0 1.0"], id="a full disk"),
    ],
)
def test_a_full_disk_does_not_kill_a_process_that_records_metrics(before: str, said: list[str], tmp_path: Path) -> None:
    """Each process reserves disk space for metrics. If the disk is full, it uses memory and leaves no file on disk."""
    for folder in ("disk", "memory"):
        (tmp_path / folder).mkdir()
    folders = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "disk"), "MEMORY": str(tmp_path / "memory")}
    environment = {**os.environ, **folders}
    command = [sys.executable, "-c", CHILD.format(before=before)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == said


@pytest.mark.django_db
def test_an_empty_file_of_a_process_does_not_prevent_measurements(settings: Settings, tmp_path: Path) -> None:
    settings.PODIUM_HOME = tmp_path
    (tmp_path / home.MEASUREMENTS / "host").mkdir(parents=True)
    (tmp_path / home.MEASUREMENTS / "host" / "counter_1.db").touch()
    assert list(measurements.ProcessCollector().collect()) == []
