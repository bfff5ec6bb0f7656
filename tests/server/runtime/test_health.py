"""Tests `/livez` (the web process runs), `/readyz` (everything it needs is available) and heartbeats of workers."""

from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import OperationalError
from django.test import Client
from pytest_django import Settings
from redis import ConnectionError as NoRedis

from server.runtime import health


class FakeRedis:
    """A fake Redis that maps the names of workers to the seconds since their last heartbeat.

    The workers named in `stopped` take no jobs. `sweepers` has the seconds since the last sweep of each sweeper, and
    `versions` the evaluator's version of each worker. `evaluator` is that of the web part that was started last.
    """

    evaluator = ""

    def __init__(
        self,
        *stopped: str,
        sweepers: dict[str, float] | None = None,
        versions: dict[str, str] | None = None,
        **ages: float,
    ) -> None:
        self.ages, self.stopped, self.sweepers, self.versions = ages, stopped, sweepers or {}, versions or {}

    def __enter__(self) -> "FakeRedis":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def time(self) -> tuple[int, int]:
        return 1_000_000, 500_000

    def get(self, key: str) -> bytes | None:
        return self.evaluator.encode() or None

    def hgetall(self, key: str) -> dict[bytes, bytes]:
        if key == health.STOPPED_KEY:
            return {name.encode(): b"1000000.5" for name in self.stopped}
        if key == health.VERSIONS_KEY:
            return {name.encode(): version.encode() for name, version in self.versions.items()}
        ages = self.sweepers if key == health.SWEEPERS_KEY else self.ages
        return {name.encode(): str(1_000_000.5 - age).encode() for name, age in ages.items()}


def refuse() -> FakeRedis:
    raise NoRedis("connection refused")


@pytest.mark.parametrize("path", ["/livez", "/healthz"])
def test_livez_reports_a_running_process(client: Client, path) -> None:
    response = client.get(path)
    assert (response.status_code, response.content) == (200, b"ok")


@pytest.mark.usefixtures("own_folders", "db")
def test_the_web_process_is_ready_without_broker_and_worker(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "redis", refuse)
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {"database": "ok", "storage": "ok"}


@pytest.mark.parametrize(
    ("ages", "any_worker", "this_worker"),
    [
        ({}, False, False),
        ({"celery@a": 3.0}, True, True),
        ({"celery@b": 3.0}, True, False),
        ({"celery@a": 20.0}, False, False),
        ({"celery@a": 20.0, "celery@b": 0.0}, True, False),
    ],
)
def test_a_worker_is_ready_if_it_has_sent_a_heartbeat_lately(
    ages, any_worker, this_worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "redis", lambda: FakeRedis(**ages))
    assert (health.worker() == "ok", health.worker("celery@a") == "ok") == (any_worker, this_worker)


@pytest.mark.parametrize(
    ("stopped", "is_ready"), [((), True), (("celery@a",), True), (("celery@a", "celery@b"), False)]
)
def test_workers_that_cannot_read_the_stored_files_are_not_ready(
    stopped: tuple[str, ...], is_ready: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ages = {"celery@a": 3.0, "celery@b": 3.0}
    monkeypatch.setattr(health, "redis", lambda: FakeRedis(*stopped, **ages))
    assert (health.worker() == "ok") == is_ready
    assert (health.worker("celery@a") == "ok") == ("celery@a" not in stopped)


@pytest.mark.parametrize(
    ("evaluator", "any_worker", "this_worker"), [("", True, True), ("1.1.0", True, True), ("1.2.0", True, False)]
)
def test_a_worker_with_another_evaluator_than_the_web_part_is_not_ready(
    evaluator: str, any_worker: bool, this_worker: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other worker is of a version of Podium that does not record its evaluator and takes all jobs."""
    found = FakeRedis(versions={"celery@a": "1.1.0"}, **{"celery@a": 3.0, "celery@b": 3.0})
    found.evaluator = evaluator
    monkeypatch.setattr(health, "redis", lambda: found)
    assert (health.worker() == "ok", health.worker("celery@a") == "ok") == (any_worker, this_worker)


def test_the_version_of_each_live_worker_is_known_except_for_earlier_versions_of_podium(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    versions = {"celery@a": "1.1.0", "celery@c": "1.1.0"}
    ages = {"celery@a": 3.0, "celery@b": 3.0, "celery@c": 3600.0}
    monkeypatch.setattr(health, "redis", lambda: FakeRedis(versions=versions, **ages))
    assert health.worker_versions() == {"celery@a": "1.1.0", "celery@b": "unknown"}


@pytest.mark.parametrize(
    ("sweepers", "any_sweeper", "this_sweeper"),
    [
        ({}, False, False),
        ({"sweeper@a": 250.0}, True, True),
        ({"sweeper@b": 3.0}, True, False),
        ({"sweeper@a": 350.0}, False, False),
    ],
)
def test_a_sweeper_is_ready_if_it_has_cleaned_up_lately(
    sweepers, any_sweeper, this_sweeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "redis", lambda: FakeRedis(sweepers=sweepers))
    assert (health.sweeper() == "ok", health.sweeper("sweeper@a") == "ok") == (any_sweeper, this_sweeper)


def test_a_sweeper_with_long_pauses_is_ready_between_its_sweeps(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.SWEEP_SECONDS = 200
    monkeypatch.setattr(health, "redis", lambda: FakeRedis(sweepers={"sweeper@a": 450.0}))
    assert health.sweeper() == "ok"


def test_without_the_broker_the_state_of_workers_and_sweepers_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "redis", refuse)
    assert health.worker() == health.sweeper() == "unknown while the broker does not respond"


def unready(client: Client) -> set[str]:
    response = client.get("/readyz")
    assert response.status_code == 503
    return {part for part, state in response.json().items() if state != "ok"}


@pytest.mark.usefixtures("own_folders")
def test_if_the_database_is_down_the_service_is_not_ready(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(health, "connection", SimpleNamespace(cursor=refuse))
    assert unready(client) == {"database"}


@pytest.mark.django_db
def test_if_a_folder_cannot_be_written_the_service_is_not_ready(
    client: Client, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "a-file").touch()
    settings.MEDIA_ROOT = tmp_path / "a-file" / "uploads"
    assert unready(client) == {"storage"}


@pytest.mark.usefixtures("own_folders")
def test_the_response_reveals_no_internal_details(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("password authentication failed for user podium at db.internal")

    monkeypatch.setattr(health, "connection", SimpleNamespace(cursor=refuse))
    assert client.get("/readyz").json()["database"] == "does not respond"


@pytest.mark.usefixtures("own_folders", "db")
@pytest.mark.parametrize("path", ["/livez", "/healthz", "/readyz", "/metrics"])
def test_health_routes_respond_without_tls(
    client: Client, path: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "redis", refuse)
    settings.SECURE_SSL_REDIRECT = True
    settings.METRICS_ADDRESSES = [ip_network("127.0.0.1")]
    assert client.get(path).status_code == 200
    assert client.get("/status").status_code == 301


@pytest.mark.parametrize("path", ["/livez", "/healthz", "/readyz"])
def test_health_routes_allow_reading_only(client: Client, path) -> None:
    assert client.post(path).status_code == 405
