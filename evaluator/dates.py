"""Converts dates to UTC. Podium reads, stores and prints all dates in UTC."""

from datetime import UTC, datetime

FIRST_YEAR = 1900
LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


def in_utc(moment: datetime) -> datetime:
    """Return a time converted to UTC. Raises ValueError if the result is before year 1 or after year 9999.

    >>> in_utc(datetime.fromisoformat("2026-01-01T01:00:00+01:00")).isoformat()
    '2026-01-01T00:00:00+00:00'
    """
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{moment} is out of range in UTC") from None


def stored(moment: datetime) -> datetime:
    """Return a date converted to UTC, for storage. Raises ValueError for years before FIRST_YEAR, and after LAST.

    Web forms could not handle years before 1000, because they display such a year with fewer than four digits and
    cannot parse the result. A date after LAST could not be rounded up.

    >>> stored(datetime.fromisoformat("9999-12-31T23:59:59.999Z"))
    Traceback (most recent call last):
    ValueError: 9999-12-31T23:59:59.999000+00:00 is after 9999-12-31T23:59:59Z
    """
    kept = in_utc(moment)
    if kept.year < FIRST_YEAR:
        raise ValueError(f"{moment:%d %B} {moment.year} is before the year {FIRST_YEAR}")
    if kept > LAST:
        raise ValueError(f"{kept.isoformat()} is after {iso_utc(LAST)}")
    return kept


def iso_utc(moment: datetime) -> str:
    """Return a date, which must be in UTC, as a string in ISO 8601 format."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
