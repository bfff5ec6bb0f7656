"""The web process, worker and sweeper can run separately, with a shared database and broker.

Each of them can run at most once per state folder.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from django.conf import settings as settings_of_the_service
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from pytest_django import Settings
from redis import ConnectionError as NoRedis

from server.runtime import health, home, joining, parts, schema, shared_keys, startup_checks, supervisor
from server.runtime.broker import celery_url
from server.runtime.home import NotAvailable, NotStarted
from server.submissions import queue


def test_a_part_is_refused_if_it_would_use_its_own_database_and_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    servers = r"a PostgreSQL server \(DATABASE_URL\) and a Redis server \(REDIS_URL\)"
    with pytest.raises(CommandError, match=servers) as refused:
        call_command("up", "--only", "worker")
    assert refused.value.returncode == 64


def test_a_part_is_refused_if_its_database_is_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "sqlite:////srv/podium.sqlite3")
    monkeypatch.setenv("REDIS_URL", "redis://cache")
    needed = "If parts are run separately, they need a PostgreSQL server (DATABASE_URL) that"
    assert parts.missing_servers().startswith(needed)


def test_a_part_with_both_servers_lacks_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://db/podium")
    monkeypatch.setenv("REDIS_URL", "rediss://cache")
    assert parts.missing_servers() == ""


def test_a_worker_reads_only_the_queues_of_the_jobs_that_it_takes(settings: Settings) -> None:
    def queues() -> str:
        command = parts.worker()["worker"].command
        return command[command.index("--queues") + 1]

    assert queues() == "celery,kits,comparisons,reruns"
    settings.WORKER_QUEUES = ["scores", "reruns"]
    assert queues() == "celery,reruns"


def test_every_kind_of_job_has_a_queue_that_a_worker_can_read() -> None:
    assert {found.name for found in queue.QUEUES.values()} == set(settings_of_the_service.BROKER_QUEUES.values())
    assert list(settings_of_the_service.BROKER_QUEUES) == settings_of_the_service.WORKER_QUEUES


def test_each_process_belongs_to_one_part() -> None:
    names = [name for part in parts.PARTS.values() for name in part()]
    assert sorted(names) == ["mailer", "sweeper", "web", "worker"]
    assert set(parts.sweeper()) == {"sweeper", "mailer"}


@pytest.mark.parametrize(
    ("first", "second", "refused"),
    [
        ("web", "worker", ""),
        ("web", "web", "The part web is already running"),
        ("web", "", "Podium is already running"),
        ("", "worker", "Podium is already running"),
    ],
)
def test_a_folder_has_each_part_once_or_the_whole_service(
    first, second, refused, settings: Settings, tmp_path: Path
) -> None:
    settings.PODIUM_HOME = tmp_path
    with home.lock_home(first):
        try:
            with home.lock_home(second):
                said = ""
        except NotStarted as error:
            said = str(error)
    assert said.startswith(refused)
    assert bool(said) == bool(refused)
    with home.lock_home(second):
        pass


@pytest.mark.parametrize("command", [("up",), ("restore", "backup")])
def test_a_command_that_cannot_run_beside_the_service_says_to_stop_it_first(
    command: tuple[str, ...], settings: Settings, tmp_path: Path
) -> None:
    settings.PODIUM_HOME = tmp_path
    with home.lock_home(), pytest.raises(CommandError, match=r"Podium is already running in .*\. Stop it first\.$"):
        call_command(*command)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://:secret@cache:6379/1", "redis://:secret@cache:6379/1"),
        ("unix:///run/redis.sock", "redis+socket:///run/redis.sock"),
        ("rediss://cache", "rediss://cache?ssl_cert_reqs=required"),
        ("rediss://cache?ssl_ca_certs=/ca.pem", "rediss://cache?ssl_ca_certs=/ca.pem&ssl_cert_reqs=required"),
        ("rediss://cache?ssl_cert_reqs=none", "rediss://cache?ssl_cert_reqs=none"),
    ],
)
def test_the_certificate_of_a_redis_is_checked_unless_this_is_turned_off(url, expected) -> None:
    assert celery_url(url) == expected


@pytest.mark.django_db
def test_a_database_of_this_version_is_complete() -> None:
    schema.refuse_newer(connection)
    assert schema.missing(connection) == 0
    schema.wait_until_migrated(connection)


@pytest.mark.django_db
def test_a_database_of_a_newer_version_is_refused_by_its_last_migration() -> None:
    MigrationRecorder(connection).record_applied("submissions", "9999_from_the_future")
    with pytest.raises(NotStarted, match=r"newer version.*submissions\.9999_from_the_future.*backup"):
        schema.refuse_newer(connection)


@pytest.mark.django_db
def test_a_part_waits_for_the_tables_of_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    left = iter([2, 1, 0])
    monkeypatch.setattr(schema, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(schema, "missing", lambda database: next(left))
    schema.wait_until_migrated(connection)
    assert list(left) == []
    monkeypatch.setattr(schema, "missing", lambda database: 3)
    monkeypatch.setattr(schema, "WAIT_SECONDS", 0.0)
    with pytest.raises(NotAvailable, match="3 migrations of this version have not been applied"):
        schema.wait_until_migrated(connection)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("web", ["evaluator"]),
        ("worker", [parts.own_worker()]),
        ("sweeper", [parts.own_sweeper()]),
        ("", ["evaluator", parts.own_worker(), parts.own_sweeper()]),
    ],
)
def test_a_start_records_the_evaluator_of_the_web_part_and_forgets_earlier_heartbeats_of_this_host(
    part: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    monkeypatch.setattr(health, "note_evaluator", lambda: steps.append("evaluator"))
    monkeypatch.setattr(health, "forget", lambda *names: steps.extend(names))
    supervisor.Service(lambda *message: None, only=part).prepare_broker()
    assert steps == expected


def test_a_part_whose_redis_fails_during_the_start_is_restarted_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise NoRedis("connection reset")

    monkeypatch.setattr(health, "note_evaluator", fail)
    with pytest.raises(NotAvailable, match="Redis has stopped responding"):
        supervisor.Service(lambda *message: None, only="web").prepare_broker()


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("web", ["lock", "migrate", "storages", "keys", "unlock"]),
        ("worker", ["wait", "lock", "storages", "keys", "unlock"]),
    ],
)
def test_other_parts_check_a_new_storage_only_after_the_web_part_has_written_its_id(
    part: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    @contextmanager
    def alone(database: object) -> Iterator[None]:
        steps.append("lock")
        yield
        steps.append("unlock")

    def note(step: str) -> Any:
        return lambda *words, **options: steps.append(step)

    monkeypatch.setattr(supervisor, "connections", MagicMock())
    monkeypatch.setattr(schema, "refuse_newer", note("versions"))
    monkeypatch.setattr(schema, "alone", alone)
    monkeypatch.setattr(schema, "migrate", note("migrate"))
    monkeypatch.setattr(schema, "wait_until_migrated", note("wait"))
    monkeypatch.setattr(joining, "check_storages", note("storages"))
    monkeypatch.setattr(shared_keys, "check", note("keys"))
    monkeypatch.setattr(startup_checks, "check_database", note("database"))
    supervisor.Service(note("report"), only=part).prepare_database()
    assert [step for step in steps if step not in ("database", "versions", "report")] == expected
