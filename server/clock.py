"""The database's clock, which is used for deadlines and quotas, and functions for times and dates."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection, models

from evaluator.dates import in_utc

SQLITE_NOW, POSTGRESQL_NOW = "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now')", "statement_timestamp()"


def database_now() -> datetime:
    """Return the database's time in UTC. The clocks of several machines may differ, but there is only one database."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {now_expression()}", [])
        (now,) = cursor.fetchone()
    return time_of(now)


def now_expression() -> str:
    """Return the SQL expression for the database's time, with percent signs doubled for a statement with parameters."""
    return SQLITE_NOW if connection.vendor == "sqlite" else POSTGRESQL_NOW


def time_of(now: Any) -> datetime:
    """Return the value of `now_expression` as a datetime in UTC. SQLite returns the value as a string."""
    return datetime.fromisoformat(now).replace(tzinfo=UTC) if isinstance(now, str) else now


class DatabaseNow(models.Func):
    """A query expression for the database's time, so that a query can read the time together with rows."""

    template = POSTGRESQL_NOW
    output_field = models.DateTimeField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra_context: Any) -> Any:
        return SQLITE_NOW, ()


def is_over(deadline: datetime | None, now: datetime) -> bool:
    """Return whether a deadline has passed.

    A time in the same millisecond as the deadline does not count as late, because SQLite's clock has a resolution of
    one millisecond.
    """
    return deadline is not None and whole_millisecond(now) > whole_millisecond(deadline)


def whole_millisecond(moment: datetime) -> datetime:
    return moment - timedelta(microseconds=moment.microsecond % 1000)


def next_whole_second(moment: datetime) -> datetime:
    """Return a time rounded up to a whole second.

    >>> next_whole_second(datetime.fromisoformat("2026-01-01T00:00:00.250000+00:00")).isoformat()
    '2026-01-01T00:00:01+00:00'
    """
    return moment.replace(microsecond=0) + timedelta(seconds=1 if moment.microsecond else 0)


def utc_text(moment: datetime) -> str:
    """Return a time in UTC, formatted for messages.

    >>> utc_text(datetime.fromisoformat("2026-01-02T03:04:05+00:00"))
    '2026-01-02 03:04 UTC'
    """
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def time_text(moment: datetime) -> str:
    """Return a time in UTC as ISO 8601, the format used by the API and exported files.

    >>> time_text(datetime.fromisoformat("2026-01-02T05:04:05+02:00"))
    '2026-01-02T03:04:05Z'
    """
    return in_utc(moment).isoformat().replace("+00:00", "Z")


def midnight(moment: datetime) -> datetime:
    """Return the beginning of a day in UTC.

    >>> midnight(datetime.fromisoformat("2026-01-02T01:00:00+02:00")).isoformat()
    '2026-01-01T00:00:00+00:00'
    """
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
