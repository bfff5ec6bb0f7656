"""An error in the configuration is reported in one line that names the setting, without a traceback or a password."""

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings as podium
from django.db import DatabaseError, OperationalError
from pytest_django import Settings

from server.runtime import home, startup_checks, supervisor, web_address
from server.runtime.environment import usable_subfolder, without_password
from server.runtime.home import NotAvailable, NotStarted


def up(*words: str, code: int = 64, **environment: str) -> str:
    return refused("up", *words, code=code, **environment)


def refused(*words: str, code: int = 64, **environment: str) -> str:
    """Run a command that must fail with this exit code, and return its one-line error message."""
    told = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, "manage.py", *words]
    done = subprocess.run(
        command, cwd=podium.BASE_DIR, env={**told, **environment}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == code, done.stderr
    assert "hunter2" not in done.stdout + done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PODIUM_PORT", "abc", "PODIUM_PORT=abc"),
        ("PODIUM_PORT", "99999", "PODIUM_PORT=99999"),
        ("PODIUM_PORT", "0", "PODIUM_PORT=0"),
        ("WEB_THREADS", "many", "WEB_THREADS=many"),
        ("PODIUM_HOME", "/proc/xyz", "PODIUM_HOME=/proc/xyz"),
        ("PODIUM_HOME", __file__, f"PODIUM_HOME={__file__}"),
        ("DATABASE_URL", "nonsense", "DATABASE_URL=nonsense"),
        ("DATABASE_URL", "oracle://podium:hunter2@db/podium", "DATABASE_URL=oracle://db/podium"),
        ("DATABASE_URL", "postgres://podium:hunter2@db:port/podium", "DATABASE_URL=postgres://db:port/podium"),
        ("DATABASE_URL", "sqlite:////nowhere/podium.sqlite3", "DATABASE_URL=sqlite:////nowhere/podium.sqlite3"),
    ],
)
def test_an_unusable_setting_is_refused_by_name_and_value(name, value, said, tmp_path: Path) -> None:
    assert up(**{"PODIUM_HOME": str(tmp_path), name: value}).removeprefix("CommandError: ").startswith(said)


def test_a_folder_without_room_for_uploads_is_refused(tmp_path: Path) -> None:
    (tmp_path / "incoming").touch()
    assert f"PODIUM_HOME={tmp_path} cannot be used" in up(PODIUM_HOME=str(tmp_path))


def test_a_folder_that_cannot_be_locked_is_refused(settings: Settings, tmp_path: Path) -> None:
    settings.PODIUM_HOME = tmp_path / "gone"
    with pytest.raises(NotStarted, match="PODIUM_HOME="), home.lock_home():
        pass


@pytest.mark.parametrize(
    ("database", "broker", "missing"),
    [
        ("", "", "DATABASE_URL and REDIS_URL missing"),
        ("sqlite:////tmp/x", "", "REDIS_URL missing"),
        ("", "redis://127.0.0.1", "DATABASE_URL missing"),
    ],
)
def test_with_the_services_option_no_database_or_broker_is_started(database, broker, missing, tmp_path: Path) -> None:
    assert missing in up("--services", PODIUM_HOME=str(tmp_path), DATABASE_URL=database, REDIS_URL=broker)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:hunter2@cache:6379/0", "redis://cache:6379/0"),
        ("postgres://podium:hun@ter2@db/podium?password=hunter2", "postgres://db/podium"),
        ("podium:hunter2@db", "db"),
        ("unix:///run/redis.sock", "unix:///run/redis.sock"),
        ("nonsense", "nonsense"),
    ],
)
def test_a_shown_address_contains_no_password(url, shown) -> None:
    assert without_password(url) == shown


@pytest.mark.parametrize("url", ["unix://:hunter2@/nowhere/redis.sock", "redis://:hun/ter2@cache", "hunter2@cache"])
def test_a_broker_that_does_not_respond_is_reported_without_waiting(url, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup_checks, "BROKER_SECONDS", 0.1)
    with pytest.raises(NotAvailable, match="the broker does not respond") as refused:
        startup_checks.check_broker(url)
    assert "ter2" not in str(refused.value)


def test_the_start_waits_for_a_broker_that_is_still_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["loading", "loading", ""])
    monkeypatch.setattr(startup_checks, "broker_error", lambda url: next(answers))
    startup_checks.check_broker("redis://cache")
    assert list(answers) == []


def test_a_missing_database_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing:
        def ensure_connection(self) -> None:
            raise OperationalError('connection failed:\n  FATAL: database "podium" does not exist')

    monkeypatch.setenv("DATABASE_URL", "postgres://podium:hunter2@db/podium")
    monkeypatch.setattr(startup_checks, "connections", {"default": Missing()})
    with pytest.raises(NotStarted) as refused:
        startup_checks.check_database()
    assert isinstance(refused.value.__cause__, DatabaseError)
    said = str(refused.value)
    assert said.startswith("DATABASE_URL=postgres://db/podium: ")
    assert 'database "podium" does not exist' in said
    assert "\n" not in said


@pytest.mark.parametrize(
    "command", [("token", "ada"), ("verify_audit",), ("sweep",), ("import_challenge", ".", "--organizer", "ada")]
)
def test_a_command_without_its_database_reports_it_in_one_line(command, tmp_path: Path) -> None:
    away = "postgres://podium:hunter2@127.0.0.1:1/podium"
    said = refused(*command, code=75, PODIUM_HOME=str(tmp_path), DATABASE_URL=away)
    assert said.startswith("DATABASE_URL=postgres://127.0.0.1:1/podium: the database cannot be used")


def test_a_part_whose_database_does_not_respond_yet_exits_with_the_code_after_which_it_is_restarted(
    tmp_path: Path,
) -> None:
    servers = {"DATABASE_URL": "postgres://podium:hunter2@127.0.0.1:1/podium", "REDIS_URL": "redis://127.0.0.1:1"}
    assert "the database cannot be used" in up("--only", "worker", code=75, PODIUM_HOME=str(tmp_path), **servers)


def test_a_command_before_the_first_start_reports_how_to_create_the_tables(tmp_path: Path) -> None:
    assert "run `manage.py migrate`" in refused("token", "ada", PODIUM_HOME=str(tmp_path))


@pytest.mark.parametrize("note", ["", "{", "[]", "{}", "5", '{"url": null}', "\xff"])
def test_a_damaged_note_of_a_running_service_blocks_no_command(note, tmp_path: Path) -> None:
    (tmp_path / "runtime.json").write_bytes(note.encode("latin-1"))
    environment = {**os.environ, "PODIUM_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "server.settings"}
    command = [sys.executable, "manage.py", "check"]
    done = subprocess.run(command, cwd=podium.BASE_DIR, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EACCES, "Only root can use port 80"),
        (errno.EADDRINUSE, "Port 80 is in use"),
        (errno.EADDRNOTAVAIL, "PODIUM_BIND=192.0.2.1 cannot be used"),
        (socket.EAI_NONAME, "PODIUM_BIND=192.0.2.1 cannot be used"),
    ],
)
def test_the_refusal_of_a_port_names_the_problem(
    number, said, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PODIUM_PORT, settings.PODIUM_BIND = 80, "192.0.2.1"
    monkeypatch.setattr(web_address, "listen_error", lambda port: OSError(number, "no") if port == 80 else None)
    with pytest.raises(NotStarted, match=said):
        web_address.check_port()


def test_a_start_that_takes_long_reports_what_is_missing_and_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    states = {"web": "ok", "worker": "no heartbeat for 15 s"}
    monkeypatch.setattr(supervisor, "readiness", lambda parts: states)
    monkeypatch.setattr(supervisor, "REPORT_SECONDS", 0.1)
    reported: list[tuple[str, str]] = []
    service = supervisor.Service(lambda *message: reported.append(message))
    with pytest.raises(NotAvailable, match=r"Not ready after 1 s \(worker: no heartbeat for 15 s\)"):
        service.wait_until_ready(seconds=1.0)
    assert {name for name, _ in reported} == {"worker"}
    assert len(reported) >= 2


def test_a_web_part_that_lacks_only_storage_is_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    full = {"web": "ok", "database": "ok", "storage": "cannot be written to (No space left on device)"}
    states = iter([full, full, full, {"web": "ok", "database": "ok", "storage": "ok"}])
    monkeypatch.setattr(supervisor, "readiness", lambda parts: next(states))
    monkeypatch.setattr(supervisor, "POLL_SECONDS", 0.0)
    supervisor.Service(lambda *message: None, only="web").wait_until_ready(seconds=0.0)
    assert list(states) == []


def test_a_folder_in_podium_home_that_another_user_has_created_is_refused_at_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert usable_subfolder(tmp_path / "incoming").stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError) as refused:
        usable_subfolder(tmp_path / "incoming")
    assert refused.value.filename == str(tmp_path / "incoming")
