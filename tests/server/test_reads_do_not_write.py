"""GET requests do not write to the database, because writing to SQLite would have to wait for other writers."""

import sqlite3
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.http import HttpResponse

from server.accounts.models import ApiToken
from server.organize.services import rescoring
from tests.server.access_table import API, PAGES
from tests.server.test_access import World

ROLES = ("nobody", "member", "organizer", "superuser")
READS = ("SELECT", "PRAGMA", "WITH")


class Written:
    """Collects all SQL statements that write to the database or begin a transaction."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.lstrip().upper().startswith(READS):
            self.statements.append(sql)
        return execute(sql, params, many, context)


@pytest.fixture
def world(make: Any, scored: Any, inline_queue: Any) -> World:
    made = World(make, scored)
    rescoring.start(phase=made.scored.phase, by=None)
    return made


def read(world: World, role: str, route: str, headers: dict[str, str]) -> HttpResponse:
    answer: HttpResponse = world.clients[role].get(world.address(route), headers=headers)
    b"".join(answer)
    return answer


@pytest.mark.parametrize("routes", [PAGES, API], ids=["pages", "api"])
def test_no_get_request_writes(world: World, routes: Any) -> None:
    headers, found, statuses = world.authorize(api=routes is API), {}, []
    ApiToken.objects.update(last_used_at=datetime.now(UTC))
    for route in [route for route, methods in routes.items() if "GET" in methods]:
        for role in ROLES:
            with connection.execute_wrapper(written := Written()):
                statuses.append(read(world, role, route, headers[role]).status_code)
            found |= {(route, role): written.statements} if written.statements else {}
    assert found == {}
    assert statuses.count(200) >= len(statuses) / 2


@pytest.mark.django_db(transaction=True)
def test_no_request_waits_to_save_the_use_of_its_token(make: Any, scored: Any, inline_queue: Any) -> None:
    world = World(make, scored)
    headers, waits = world.authorize(api=True)["member"], []

    def busy(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.startswith("UPDATE"):
            return execute(sql, params, many, context)
        waits.append(busy_timeout())
        raise OperationalError("database is locked") from sqlite3.OperationalError("database is locked")

    usual = busy_timeout()
    for _ in range(2):
        with connection.execute_wrapper(busy):
            assert read(world, "member", "api/v1/challenges/c", headers).status_code == 200
    assert (waits, busy_timeout()) == ([0, 0], usual)
    assert not ApiToken.objects.exclude(last_used_at=None).exists()
    assert read(world, "member", "api/v1/challenges/c", headers).status_code == 200
    assert ApiToken.objects.exclude(last_used_at=None).count() == 1


def busy_timeout() -> int:
    """Return how many milliseconds SQLite waits for another writer. For other databases, return 0."""
    if connection.vendor != "sqlite":
        return 0
    with connection.cursor() as cursor:
        return int(cursor.execute("PRAGMA busy_timeout").fetchone()[0])
