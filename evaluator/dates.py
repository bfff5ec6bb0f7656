"""Converts dates to UTC, which Podium uses to read, store and print dates."""

from datetime import UTC, datetime

FIRST_YEAR = 1900


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
    """Return a date as it is stored, in UTC. Raises ValueError for years before FIRST_YEAR.

    Earlier years are refused because forms cannot parse the years of fewer than four digits that they display.
    """
    kept = in_utc(moment)
    if kept.year < FIRST_YEAR:
        raise ValueError(f"{moment:%d %B} {moment.year} is before the year {FIRST_YEAR}")
    return kept


def iso_utc(moment: datetime) -> str:
    """Convert a date to UTC and return it as a string in ISO 8601 format."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
