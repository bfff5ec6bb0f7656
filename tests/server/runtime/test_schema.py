"""A migration that waits for a lock is rolled back and retried before PostgreSQL cancels a deadlocked request."""

import pytest
from django.db import OperationalError, connection

from server.runtime import schema


class LockNotAvailable(Exception):
    sqlstate = "55P03"


class Full(Exception):
    sqlstate = "53100"


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """Return a list of errors. Each migration run removes an error and raises an OperationalError with this cause."""
    causes: list[Exception] = []

    def migrate(*words: str, **options: object) -> None:
        if causes:
            raise OperationalError from causes.pop()

    monkeypatch.setattr(schema, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(schema, "call_command", migrate)
    return causes


def lock_timeout() -> str:
    if connection.vendor != "postgresql":
        return "0"
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        return str(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_a_migration_that_waited_too_long_for_a_lock_is_repeated(failures: list[Exception]) -> None:
    failures += [LockNotAvailable()] * 3
    schema.migrate(connection)
    assert (failures, lock_timeout()) == ([], "0")


@pytest.mark.django_db(transaction=True)
def test_another_error_of_a_migration_is_raised(failures: list[Exception]) -> None:
    failures += [Full()] * 2
    with pytest.raises(OperationalError):
        schema.migrate(connection)
    assert (len(failures), lock_timeout()) == (1, "0")


@pytest.mark.django_db(transaction=True)
def test_a_migration_is_repeated_only_a_limited_number_of_times(failures: list[Exception]) -> None:
    failures += [LockNotAvailable()] * (schema.LOCK_ATTEMPTS + 2)
    with pytest.raises(OperationalError):
        schema.migrate(connection)
    assert len(failures) == 1


def test_a_migration_waits_for_locks_for_less_time_than_a_deadlock_lasts() -> None:
    assert schema.LOCK_MILLISECONDS < 1000
