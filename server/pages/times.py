"""Moments and spans in words: "2 h ago", "in 3 h 12 min", and the exact UTC behind them."""

from datetime import UTC, datetime, timedelta

UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
LONG_AGO = timedelta(days=60)


def span(length: timedelta) -> str:
    """Return the two largest units of a span.

    >>> span(timedelta(hours=3, minutes=12, seconds=40))
    '3 h 12 min'
    >>> span(timedelta(days=2, minutes=5))
    '2 d'
    """
    rest = max(0, int(length.total_seconds()))
    first = next((place for place, (_, seconds) in enumerate(UNITS) if rest >= seconds), len(UNITS) - 1)
    words: list[str] = []
    for name, seconds in UNITS[first : first + (2 if first < 2 else 1)]:
        amount, rest = divmod(rest, seconds)
        if amount or not words:
            words.append(f"{amount} {name}")
    return " ".join(words)


def relative(moment: datetime, now: datetime) -> str:
    """Return how far a moment is from now; a plain date where that says more.

    >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    >>> relative(noon - timedelta(hours=2, minutes=5), noon), relative(noon + timedelta(hours=1), noon)
    ('2 h ago', 'in 1 h')
    """
    distance = abs(now - moment)
    if distance >= LONG_AGO:
        return date(moment)
    if distance < timedelta(seconds=5):
        return "just now"
    largest = span(distance)
    if moment > now:
        return f"in {largest}"
    return f"{' '.join(largest.split()[:2])} ago"


def date(moment: datetime) -> str:
    """Return a day.

    >>> date(datetime(2026, 6, 1, tzinfo=UTC))
    '1 Jun 2026'
    """
    day = moment.astimezone(UTC)
    return f"{day.day} {day:%b %Y}"


def absolute(moment: datetime) -> str:
    """Return day and minute in UTC.

    >>> absolute(datetime(2026, 6, 1, 9, 30, tzinfo=UTC))
    '1 Jun 2026, 09:30 UTC'
    """
    return f"{date(moment)}, {moment.astimezone(UTC):%H:%M} UTC"


def exact(moment: datetime) -> str:
    """Return the moment to the second in UTC.

    >>> exact(datetime(2026, 6, 1, 9, 30, 5, tzinfo=UTC))
    '2026-06-01 09:30:05 UTC'
    """
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
