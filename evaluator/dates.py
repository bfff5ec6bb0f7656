"""Converts dates to UTC. Podium reads, stores and prints all dates in UTC."""

from datetime import UTC, datetime

FIRST_YEAR = 1900


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
    """Return a date converted to UTC, for storage. Raises ValueError for years before FIRST_YEAR.

    Web forms could not handle years before 1000, because they display such a year with fewer than four digits and
    cannot parse the result.
    """
    kept = in_utc(moment)
    if kept.year < FIRST_YEAR:
        raise ValueError(f"{moment:%d %B} {moment.year} is before the year {FIRST_YEAR}")
    return kept


def iso_utc(moment: datetime) -> str:
    """Return a date, which must be in UTC, as a string in ISO 8601 format."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
