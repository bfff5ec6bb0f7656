"""Checks dates, numbers, feedback and mail domains of challenges. Bundles and the admin use the same functions."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings

from evaluator.catalog import TRACKS
from server.challenges.models import LADDER_MAX

MAX_INTEGER = 2**31 - 1
INTEGER_RANGES = {
    "team_max_size": (1, 1000),
    "quota_per_day": (1, MAX_INTEGER),
    "quota_total": (1, MAX_INTEGER),
    "attempts_per_day": (1, MAX_INTEGER),
    "finals": (1, 100),
    "feedback_decimals": (1, 10),
}
# In standard errors. With a smaller margin every improvement would be shown, as with exact feedback.
LADDER_MARGINS = (0.01, LADDER_MAX)

DOMAIN = re.compile(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])")
DOMAINS_CHARACTERS = 1000

LADDER_AND_CLASSES = "results per class would show what the ladder hides. Turn one of them off"


class Violation(NamedTuple):
    """A broken rule, with the field where it can be fixed."""

    field: str
    code: str
    message: str


def iso_utc(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def mail_domains(written: Iterable[str]) -> str:
    """Return mail domains separated by spaces, in lower case, each once. Raises ValueError for an invalid domain."""
    domains = list(dict.fromkeys(domain.lower() for domain in written))
    for domain in domains:
        if not DOMAIN.fullmatch(domain):
            raise ValueError(f"{domain!r} is not a mail domain such as example.org")
    if len(" ".join(domains)) > DOMAINS_CHARACTERS:
        raise ValueError(f"expected domains of at most {DOMAINS_CHARACTERS} characters in total")
    return " ".join(domains)


def check_numbers(values: Mapping[str, Any]) -> Iterator[Violation]:
    """Check the numbers that are given. None means no limit."""
    for field, (low, high) in INTEGER_RANGES.items():
        value = values.get(field)
        if value is not None and not low <= value <= high:
            yield Violation(field, "bad_value", f"{value} is not a whole number from {low} to {high}")
    margin = values.get("ladder_standard_errors")
    if margin is not None and not LADDER_MARGINS[0] <= margin <= LADDER_MARGINS[1]:
        message = f"{margin:g} is not a number from {LADDER_MARGINS[0]:g} to {LADDER_MARGINS[1]:g}"
        yield Violation("ladder_standard_errors", "bad_value", message)


def check_feedback(*, track: str, feedback: str, decimals: int | None, classes: bool) -> Iterator[Violation]:
    """Check that the parts of a feedback policy fit together."""
    if feedback == "ladder" and track and not (settings.INTERVAL_REPLICATES and TRACKS[track].intervals):
        yield Violation(
            "feedback", "not_available", "ladder needs intervals, which this track or service does not compute"
        )
    if feedback == "ladder" and classes:
        yield Violation("feedback_classes", "bad_value", LADDER_AND_CLASSES)
    if feedback == "rounded" and decimals is None:
        yield Violation("feedback", "missing_key", "rounded needs decimals, a whole number from 1 to 10")
    if feedback != "rounded" and decimals is not None:
        yield Violation("feedback_decimals", "bad_value", "is only allowed with `scores: rounded`; remove it")


def check_order(
    opens_at: datetime | None, closes_at: datetime | None, *, start: datetime | None, end: datetime | None
) -> Violation | None:
    """Check that a phase opens before it closes. Otherwise its private scores would be shown at once.

    `start` and `end` are the dates of its challenge.
    """
    if not (opens_at or closes_at):
        return None  # the phase has the dates of its challenge, which are checked elsewhere
    opening = max(filter(None, (opens_at, start)), default=None)
    closing = min(filter(None, (closes_at, end)), default=None)
    if not (opening and closing) or opening < closing:
        return None
    if closes_at == closing:
        return Violation("closes_at", "bad_dates", f"is not after the opening, {iso_utc(opening)}")
    return Violation("opens_at", "bad_dates", f"is not before the closing, {iso_utc(closing)}")


def check_dates(
    opens_at: datetime | None, closes_at: datetime | None, *, start: datetime | None, end: datetime | None
) -> Iterator[Violation]:
    """Check the dates of a phase against the `start` and `end` of its challenge."""
    if violation := check_order(opens_at, closes_at, start=start, end=end):
        yield violation
        return
    if opens_at and start and opens_at < start:
        yield Violation("opens_at", "bad_dates", f"is before the challenge opens, {iso_utc(start)}")
    if closes_at and end and closes_at > end:
        yield Violation("closes_at", "bad_dates", f"is after the challenge closes, {iso_utc(end)}")
