"""While the database is unreachable or locked, responses have the status 503 and a Retry-After header."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.cache import caches
from django.db import InterfaceError, OperationalError, connection
from django.test import Client

from server.errors import database_unavailable, log_unusable_database
from server.runtime.startup_checks import unusable_database
from tests.conftest import Make
from tests.server.page import Page

PAGES = ("/", "/challenges/c/", "/challenges/c/leaderboard", "/challenges/c/leaderboard.csv", "/accounts/")
API = (
    *("challenges", "challenges/c", "challenges/c/phases/main/quota", "challenges/c/phases/main/leaderboard"),
    "challenges/c/phases/main/submissions",
)


def locked(folder: Path) -> sqlite3.OperationalError:
    """Return the error that SQLite raises while another connection keeps the database locked."""
    file = folder / "locked.sqlite3"
    with closing(sqlite3.connect(file)) as writer, closing(sqlite3.connect(file, timeout=0)) as waiting:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError) as error:
            waiting.execute("BEGIN IMMEDIATE")
    return error.value


def missing(folder: Path) -> sqlite3.OperationalError:
    """Return the error that SQLite raises if the database file cannot be opened."""
    with pytest.raises(sqlite3.OperationalError) as error:
        sqlite3.connect(folder / "nowhere" / "x.sqlite3")
    return error.value


def caused(kind: type[Exception], cause: Exception) -> Exception:
    """Return a Django database exception whose cause is the given driver exception."""
    error = kind(*cause.args)
    error.__cause__ = cause
    return error


def alarms(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records]
    return [message for message in found if message.startswith("alarm:")]


@pytest.fixture(params=["locked", "missing", "lost", "shut down", "closed"])
def away(request: pytest.FixtureRequest, tmp_path: Path) -> Exception:
    made: dict[str, Callable[[], Exception]] = {
        "locked": lambda: caused(OperationalError, locked(tmp_path)),
        "missing": lambda: caused(OperationalError, missing(tmp_path)),
        "lost": lambda: caused(OperationalError, psycopg.OperationalError("server closed the connection unexpectedly")),
        "shut down": lambda: caused(OperationalError, psycopg.errors.AdminShutdown("terminating connection")),
        "closed": lambda: caused(InterfaceError, psycopg.InterfaceError("the connection is closed")),
    }
    return made[request.param]()


@pytest.fixture
def asked(make: Make, away: Exception) -> Iterator[Client]:
    """Yield the test client of a logged-in team member. Until the test ends, every database query fails."""
    phase = make.phase(make.challenge(slug="c"), slug="main")
    browser = Client(raise_request_exception=False)
    browser.force_login(make.team(phase.challenge).memberships.get().user)

    def fail(*_: Any) -> None:
        raise away

    with connection.execute_wrapper(fail):
        yield browser


@pytest.mark.parametrize("path", PAGES)
def test_a_page_shows_the_error_and_when_to_try_again(path: str, asked: Client) -> None:
    page = asked.get(path)
    assert (page.status_code, page["Retry-After"]) == (503, "10")
    assert "maintenance" in Page(page).words
    assert "Traceback" not in page.content.decode()


@pytest.mark.parametrize("path", API)
def test_the_api_returns_the_code(path: str, asked: Client) -> None:
    answer = asked.get(f"/api/v1/{path}")
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "maintenance", "10")
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/", "/readyz", "/metrics", "/api/v1/challenges"])
def test_the_reason_is_logged_once_as_an_alarm(
    path: str, asked: Client, away: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        assert asked.get(path).status_code == 503
    assert alarms(caplog) == [f"alarm: the database cannot be used ({away})"]


def test_the_alarm_is_repeated_after_a_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = time.time()
    for second in (0, 59, 61, 100, 122):
        monkeypatch.setattr(time, "time", lambda now=started + second: now)
        log_unusable_database(OperationalError(f"lost in second {second}"))
    assert [alarm.split()[-1] for alarm in alarms(caplog)] == ["0)", "61)", "122)"]


def test_the_alarm_contains_no_password_and_no_query(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(psycopg.OperationalError) as refused:
        psycopg.connect("postgres://podium:hunter2@127.0.0.1:1/podium")
    log_unusable_database(OperationalError(*refused.value.args))
    (alarm,) = alarms(caplog)
    assert "connection refused" in alarm.lower()
    assert "hunter2" not in alarm
    caches["status"].clear()
    log_unusable_database(OperationalError("canceling statement\nLINE 1: ... WHERE email = 'ada@example.org'"))
    assert alarms(caplog)[1:] == ["alarm: the database cannot be used (canceling statement)"]


@pytest.mark.parametrize("error", [psycopg.errors.DeadlockDetected("x"), psycopg.errors.LockNotAvailable("x")])
def test_a_deadlock_and_a_lock_timeout_raise_no_alarm(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    refused = database_unavailable(caused(OperationalError, error))
    assert refused is not None
    assert refused.code == "maintenance"
    assert not alarms(caplog)


def test_a_session_that_cannot_be_saved_is_reported(asked: Client) -> None:
    assert asked.post("/accounts/logout").status_code == 503


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        caused(OperationalError, psycopg.errors.SyntaxError("x")),
        caused(OperationalError, psycopg.errors.UndefinedFunction("x")),
    ],
)
def test_programming_errors_do_not_count_as_database_outages(error: Exception) -> None:
    assert database_unavailable(error) is None


def test_a_missing_table_does_not_count_as_a_database_outage() -> None:
    with closing(sqlite3.connect(":memory:")) as database, pytest.raises(sqlite3.OperationalError) as error:
        database.execute("SELECT * FROM nothing")
    assert database_unavailable(caused(OperationalError, error.value)) is None


def test_a_command_names_a_locked_database_as_the_reason() -> None:
    message = unusable_database(OperationalError("database is locked"))
    assert "another process has locked it" in message
    assert "can write to" not in message
