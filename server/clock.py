"""The one clock that deadlines and quotas are read from, the database's, and when a deadline is over."""

from datetime import UTC, datetime, timedelta

from django.db import connection


def database_now() -> datetime:
    """Return the database's time in UTC; several web machines may disagree, the database cannot."""
    sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        cursor.execute("SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')" if sqlite else "SELECT statement_timestamp()")
        (now,) = cursor.fetchone()
    return datetime.fromisoformat(now).replace(tzinfo=UTC) if sqlite else now


def is_over(deadline: datetime | None, now: datetime) -> bool:
    """Tell whether a deadline is over. It includes its own millisecond, which is all that SQLite's clock tells."""
    return deadline is not None and whole_millisecond(now) > whole_millisecond(deadline)


def whole_millisecond(moment: datetime) -> datetime:
    return moment - timedelta(microseconds=moment.microsecond % 1000)
