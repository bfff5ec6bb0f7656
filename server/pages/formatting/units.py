"""Formats times, time spans and file sizes as text, such as "2 hours ago", "3 hours 12 minutes" or "1.5 KiB"."""

from datetime import UTC, datetime, timedelta

TIME_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
LONG_AGO = timedelta(days=60)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def time_span(length: timedelta, *, units: int = 2) -> str:
    """Return a time span as text in at most `units` units. A span of less than an hour has only one unit.

    >>> time_span(timedelta(hours=3, minutes=12, seconds=40))
    '3 hours 12 minutes'
    >>> time_span(timedelta(days=1, minutes=5)), time_span(timedelta(minutes=2, seconds=5))
    ('1 day', '2 minutes')
    """
    rest = max(0, int(length.total_seconds()))
    first = next((index for index, (_, seconds) in enumerate(TIME_UNITS) if rest >= seconds), len(TIME_UNITS) - 1)
    words: list[str] = []
    for name, seconds in TIME_UNITS[first : first + (units if first < 2 else 1)]:
        amount, rest = divmod(rest, seconds)
        if amount or not words:
            words.append(f"{amount} {name}{'' if amount == 1 else 's'}")
    return " ".join(words)


def relative_time(moment: datetime, now: datetime) -> str:
    """Return how far a time is from now as text, or its date if it is more than two months away.

    >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    >>> relative_time(noon - timedelta(hours=2, minutes=5), noon), relative_time(noon + timedelta(hours=1), noon)
    ('2 hours ago', 'in 1 hour')
    """
    distance = abs(now - moment)
    if distance >= LONG_AGO:
        return date(moment)
    if distance < timedelta(seconds=5):
        return "just now"
    return f"in {time_span(distance)}" if moment > now else f"{time_span(distance, units=1)} ago"


def date(moment: datetime) -> str:
    """Return the UTC date of a time as text.

    >>> date(datetime(2026, 6, 1, tzinfo=UTC))
    '1 Jun 2026'
    """
    day = moment.astimezone(UTC)
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def utc_minute(moment: datetime) -> str:
    """Return a date and time in UTC as text, to the minute.

    >>> utc_minute(datetime(2026, 6, 1, 9, 30, tzinfo=UTC))
    '1 Jun 2026, 09:30 UTC'
    """
    return f"{date(moment)}, {moment.astimezone(UTC):%H:%M} UTC"


def utc_second(moment: datetime) -> str:
    """Return a date and time in UTC as text, to the second.

    >>> utc_second(datetime(2026, 6, 1, 9, 30, 5, tzinfo=UTC))
    '2026-06-01 09:30:05 UTC'
    """
    return f"{moment.astimezone(UTC).replace(microsecond=0, tzinfo=None)} UTC"


def size(amount: int) -> str:
    """Return a number of bytes as text, in the largest binary unit that yields at least 1, with at most one decimal.

    >>> [size(amount) for amount in (0, 1536, 2 * 2**30)]
    ['0 B', '1.5 KiB', '2 GiB']
    """
    power = min(len(SIZE_UNITS) - 1, max(0, (amount.bit_length() - 1) // 10))
    number = f"{amount / 1024**power:.1f}".removesuffix(".0")
    return f"{number} {SIZE_UNITS[power]}"
