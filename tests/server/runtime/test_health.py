"""`/healthz` reports that the process runs. `/readyz` reports which parts of the service do not work."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import OperationalError
from django.test import Client
from pytest_django import Settings
from redis import ConnectionError as NoRedis

from server.runtime import health


class FakeRedis:
    """A fake Redis, with or without the key by which a worker shows that it is alive."""

    def __init__(self, *, heartbeat: bool) -> None:
        self.heartbeat = heartbeat

    def __enter__(self) -> "FakeRedis":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def ping(self) -> bool:
        return True

    def exists(self, key: str) -> int:
        return int(self.heartbeat and key == health.WORKER_KEY)


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch, own_folders: None, db: None) -> None:
    monkeypatch.setattr(health, "redis", lambda: FakeRedis(heartbeat=True))


def test_healthz_reports_a_running_process(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok")


def test_readyz_reports_a_complete_service(client: Client, ready: None) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {"database": "ok", "broker": "ok", "storage": "ok", "worker": "ok"}


def unready(client: Client) -> set[str]:
    response = client.get("/readyz")
    assert response.status_code == 503
    return {part for part, state in response.json().items() if state != "ok"}


def test_without_the_heartbeat_of_a_worker_the_service_is_not_ready(
    client: Client, ready: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "redis", lambda: FakeRedis(heartbeat=False))
    assert unready(client) == {"worker"}


def test_if_the_broker_is_down_the_service_is_not_ready_and_workers_are_unknown(
    client: Client, ready: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> FakeRedis:
        raise NoRedis("connection refused")

    monkeypatch.setattr(health, "redis", refuse)
    assert unready(client) == {"broker", "worker"}


def test_if_the_database_is_down_the_service_is_not_ready(
    client: Client, ready: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(health, "connection", SimpleNamespace(cursor=refuse))
    assert unready(client) == {"database"}


def test_if_a_folder_cannot_be_written_the_service_is_not_ready(
    client: Client, ready: None, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "a-file").touch()
    settings.MEDIA_ROOT = tmp_path / "a-file" / "uploads"
    assert unready(client) == {"storage"}


def test_the_response_reveals_no_internal_details(client: Client, ready: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("password authentication failed for user podium at db.internal")

    monkeypatch.setattr(health, "connection", SimpleNamespace(cursor=refuse))
    assert client.get("/readyz").json()["database"] == "does not respond"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_routes_allow_reading_only(client: Client, path) -> None:
    assert client.post(path).status_code == 405
