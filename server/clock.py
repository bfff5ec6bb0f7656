"""The clock of the database, by which deadlines and quotas are decided, and helpers for dates."""

from datetime import UTC, datetime, timedelta

from django.db import connection

FIRST_YEAR = 1900


def database_now() -> datetime:
    """Return the database's time in UTC. Clocks of several machines may differ, but there is only one database."""
    sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        cursor.execute("SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')" if sqlite else "SELECT statement_timestamp()")
        (now,) = cursor.fetchone()
    return datetime.fromisoformat(now).replace(tzinfo=UTC) if sqlite else now


def is_over(deadline: datetime | None, now: datetime) -> bool:
    """Return whether a deadline has passed.

    The millisecond of the deadline itself is still in time, because SQLite's clock counts in milliseconds.
    """
    return deadline is not None and whole_millisecond(now) > whole_millisecond(deadline)


def whole_millisecond(moment: datetime) -> datetime:
    return moment - timedelta(microseconds=moment.microsecond % 1000)


def in_utc(moment: datetime) -> datetime:
    """Return a time in UTC. Raises ValueError if the result is before year 1 or after year 9999.

    >>> in_utc(datetime.fromisoformat("2026-01-01T01:00:00+01:00")).isoformat()
    '2026-01-01T00:00:00+00:00'
    """
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{moment} is out of range in UTC") from None


def stored(moment: datetime) -> datetime:
    """Return a date as it is stored, in UTC. Raises ValueError before FIRST_YEAR.

    Forms display a year of fewer than four digits in a format that they cannot parse.
    """
    kept = in_utc(moment)
    if kept.year < FIRST_YEAR:
        raise ValueError(f"{moment:%d %B} {moment.year} is before the year {FIRST_YEAR}")
    return kept
