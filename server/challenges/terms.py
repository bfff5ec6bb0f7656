"""Rules for dates, numbers and mail domains of challenges. Bundles and the admin check with the same functions."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings

from evaluator.catalog import TRACKS

MOST = 2**31 - 1
WHOLE = {
    "team_max_size": (1, 1000),
    "quota_per_day": (1, MOST),
    "quota_total": (1, MOST),
    "attempts_per_day": (1, MOST),
    "finals": (1, 100),
    "feedback_decimals": (1, 10),
}

DOMAIN = re.compile(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])")
DOMAINS_CHARACTERS = 1000

LADDER_AND_CLASSES = "results per class would show what the ladder hides. Turn one of them off"


class Fault(NamedTuple):
    """One rule that is broken, at the field where it can be fixed."""

    field: str
    code: str
    message: str


def stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def mail_domains(written: Iterable[str]) -> str:
    """Return mail domains as one text, in lower case, each once. Raises ValueError for anything else."""
    domains = list(dict.fromkeys(domain.lower() for domain in written))
    for domain in domains:
        if not DOMAIN.fullmatch(domain):
            raise ValueError(f"{domain!r} is not a mail domain such as example.org")
    if len(" ".join(domains)) > DOMAINS_CHARACTERS:
        raise ValueError(f"expected domains of at most {DOMAINS_CHARACTERS} characters together")
    return " ".join(domains)


def number_faults(values: Mapping[str, Any]) -> Iterator[Fault]:
    """Check the numbers that are there; None is for no limit."""
    for field, (low, high) in WHOLE.items():
        value = values.get(field)
        if value is not None and not low <= value <= high:
            yield Fault(field, "bad_value", f"{value} is not a whole number from {low} to {high}")


def feedback_faults(*, track: str, feedback: str, decimals: int | None, classes: bool) -> Iterator[Fault]:
    """Check that the parts of a feedback policy go together."""
    if feedback == "ladder" and track and not (settings.INTERVAL_REPLICATES and TRACKS[track].intervals):
        yield Fault("feedback", "not_available", "ladder needs intervals, which this track or service has not")
    if feedback == "ladder" and classes:
        yield Fault("feedback_classes", "bad_value", LADDER_AND_CLASSES)
    if feedback == "rounded" and decimals is None:
        yield Fault("feedback", "missing_key", "rounded needs decimals, a whole number from 1 to 10")
    if feedback != "rounded" and decimals is not None:
        yield Fault("feedback_decimals", "bad_value", "goes with `scores: rounded` only; remove it")


def order_fault(
    opens_at: datetime | None, closes_at: datetime | None, *, start: datetime | None, end: datetime | None
) -> Fault | None:
    """Check that a phase is ever open. One that is closed from the start would show its private scores at once.

    `start` and `end` are the dates of its challenge.
    """
    if not (opens_at or closes_at):
        return None  # as long as its challenge, whose own dates are checked
    opening = max(filter(None, (opens_at, start)), default=None)
    closing = min(filter(None, (closes_at, end)), default=None)
    if not (opening and closing) or opening < closing:
        return None
    if closes_at == closing:
        return Fault("closes_at", "bad_dates", f"is not after the opening, {stamp(opening)}")
    return Fault("opens_at", "bad_dates", f"is not before the closing, {stamp(closing)}")


def date_faults(
    opens_at: datetime | None, closes_at: datetime | None, *, start: datetime | None, end: datetime | None
) -> Iterator[Fault]:
    """Check the dates of a phase beside the `start` and `end` of its challenge."""
    if fault := order_fault(opens_at, closes_at, start=start, end=end):
        yield fault
        return
    if opens_at and start and opens_at < start:
        yield Fault("opens_at", "bad_dates", f"is before the challenge opens, {stamp(start)}")
    if closes_at and end and closes_at > end:
        yield Fault("closes_at", "bad_dates", f"is after the challenge closes, {stamp(end)}")
