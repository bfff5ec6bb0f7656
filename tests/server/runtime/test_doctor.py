"""`manage.py doctor` reports problems with advice, and exits with status 1 if the service cannot work."""

from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from pytest_django import Settings

from evaluator import __version__
from server.clock import database_now
from server.runtime import doctor, health, joining
from server.runtime.doctor import ADVICE, ERROR, OK, Finding
from tests.server.runtime.test_health import FakeRedis


def found(findings: Iterator[Finding], subject: str) -> list[tuple[str, str]]:
    return [(one.level, one.sentence) for one in findings if one.subject == subject]


@pytest.mark.usefixtures("own_folders", "db")
def test_an_intact_database_and_storage_are_ok(settings: Settings, tmp_path: Path) -> None:
    settings.TRUTH_ROOT = tmp_path / "truths"
    joining.check_storages(first=True)
    findings = list(doctor.examine())
    by_subject = {one.subject: one.level for one in findings if one.subject in ("database", "storage", "clock")}
    assert by_subject == {"database": OK, "storage": OK, "clock": OK}


@pytest.mark.django_db
def test_a_newer_database_is_an_error_and_its_content_is_not_examined() -> None:
    MigrationRecorder(connection).record_applied("submissions", "9999_from_the_future")
    findings = list(doctor.examine())
    ((level, sentence),) = found(iter(findings), "database")
    assert level == ERROR
    assert "newer version" in sentence
    assert found(iter(findings), "storage") == []


def test_a_key_that_others_can_read_is_an_error_with_its_remedy(settings: Settings, tmp_path: Path) -> None:
    settings.PODIUM_HOME = tmp_path
    (tmp_path / "audit_key").touch(mode=0o644)
    (tmp_path / "audit_key").chmod(0o644)
    (first, *_) = found(doctor.check_folders(), "permissions")
    assert first[0] == ERROR
    assert f"chmod 600 {tmp_path / 'audit_key'}" in first[1]


@pytest.mark.parametrize(("free", "level"), [(10 * 2**30, OK), (2**30, ERROR)])
def test_a_disk_needs_space_for_two_of_the_largest_uploads(
    free: int, level: str, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.UPLOAD_MAX_BYTES = 2 * 2**30
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": free}))
    assert doctor.check_disk(tmp_path).level == level


@pytest.mark.django_db
@pytest.mark.parametrize(("seconds", "level"), [(-30, ADVICE), (0, OK), (30, ADVICE)])
def test_a_clock_that_differs_from_the_database_is_reported(
    seconds: int, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = database_now() + timedelta(seconds=seconds)
    monkeypatch.setattr(doctor, "database_now", lambda: now)
    ((seen, _),) = found(doctor.check_clock(), "clock")
    assert seen == level


def test_a_package_of_another_version_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(doctor.check_packages(), "packages") == [(OK, "as in requirements.txt")]
    monkeypatch.setattr(doctor, "installed", lambda name: "0.1" if name == "redis" else "missing")
    ((level, sentence),) = found(doctor.check_packages(), "packages")
    assert level == ERROR
    assert "pip install -r requirements.txt" in sentence


def test_a_broker_that_does_not_respond_is_an_error(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.REDIS_URL = "redis://:hunter2@cache"
    monkeypatch.setattr(doctor, "broker_error", lambda url: "connection refused")
    ((level, sentence),) = found(doctor.check_broker(usable=False), "broker")
    assert level == ERROR
    assert "hunter2" not in sentence


def test_a_worker_with_another_version_of_the_evaluator_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"celery@a": __version__, "celery@b": "0.9.0"}
    ages = {"celery@a": 3.0, "celery@b": 3.0}
    monkeypatch.setattr(health, "redis", lambda: FakeRedis(versions=versions, **ages))
    (first, second) = found(doctor.check_workers(), "worker")
    assert (first[0], second[0]) == (OK, ERROR)
    assert second[1].startswith(f"celery@b has the evaluator 0.9.0 instead of {__version__}")


@pytest.mark.parametrize(
    ("ages", "said"),
    [
        ({"celery@b": 3.0, "celery@c": 20.0}, "1 worker sends heartbeats: celery@b, none on this host"),
        ({"celery@c": 3.0, "celery@b": 3.0}, "2 workers send heartbeats: celery@b, celery@c, none on this host"),
        ({"celery@b": 3.0, "celery@a": 3.0}, "2 workers send heartbeats: celery@a (this host), celery@b"),
    ],
)
def test_the_workers_are_named_and_whether_one_of_them_runs_on_this_host(
    ages: dict[str, float], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "redis", lambda: FakeRedis(versions=dict.fromkeys(ages, __version__), **ages))
    monkeypatch.setattr(doctor, "own_worker", lambda: "celery@a")
    assert found(doctor.check_workers(), "worker") == [(OK, said)]


@pytest.mark.parametrize(("evaluator", "levels"), [("", []), (__version__, []), ("0.9.0", [ERROR])])
def test_a_web_part_with_another_evaluator_that_was_started_last_is_an_error(
    evaluator: str, levels: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    redis = FakeRedis(versions={"celery@a": __version__}, **{"celery@a": 3.0})
    redis.evaluator = evaluator
    monkeypatch.setattr(health, "redis", lambda: redis)
    assert [level for level, _ in found(doctor.check_workers(), "web")] == levels


@pytest.mark.parametrize(("sweepers", "level"), [({}, ERROR), ({"sweeper@a": 10.0}, OK), ({"sweeper@a": 1e4}, ERROR)])
def test_a_missing_sweeper_is_an_error(
    sweepers: dict[str, float], level: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REDIS_URL = "redis://cache"
    monkeypatch.setattr(doctor, "broker_error", lambda url: "")
    monkeypatch.setattr(health, "redis", lambda: FakeRedis(sweepers=sweepers))
    assert [seen for seen, _ in found(doctor.check_broker(usable=False), "sweeper")] == [level]


def test_a_mail_server_that_refuses_connections_is_an_error(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    monkeypatch.setattr(doctor, "get_connection", refuse)
    ((level, sentence),) = found(doctor.check_mail(), "mail")
    assert level == ERROR
    assert "EMAIL_HOST" in sentence


@pytest.mark.parametrize(("level", "code"), [(OK, 0), (ADVICE, 0), (ERROR, 1)])
def test_the_exit_code_tells_whether_there_was_an_error(level: str, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    command = "server.runtime.management.commands.doctor.examine"
    monkeypatch.setattr(command, lambda: iter([Finding("disk", level, "a sentence")]))
    output, seen = StringIO(), 0
    try:
        call_command("doctor", stdout=output)
    except CommandError as error:
        seen = error.returncode
    assert seen == code
    assert "a sentence" in output.getvalue()
