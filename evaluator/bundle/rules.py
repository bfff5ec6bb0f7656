"""Rules for the dates, numbers, feedback and allow lists of challenges, used by the bundle import and the admin."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from evaluator.catalog import TRACKS
from evaluator.dates import iso_utc

MAX_INTEGER = 2**31 - 1
INTEGER_RANGES = {
    "team_max_size": (1, 1000),
    "quota_per_day": (1, MAX_INTEGER),
    "quota_total": (1, MAX_INTEGER),
    "attempts_per_day": (1, MAX_INTEGER),
    "finals": (1, 100),
    "feedback_decimals": (1, 10),
}
# Ladder feedback shows teams a new score only if it exceeds their best score by a margin. This is the allowed range of
# the margin, in standard errors. With a smaller margin, every improvement would be shown, as with exact feedback.
LADDER_MAX = 10
LADDER_MARGINS = (0.01, LADDER_MAX)

DOMAIN = re.compile(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])")
DOMAINS_CHARACTERS = 1000
PERSON = re.compile(rf"[\w.!#$%&'*+/=?^`{{|}}~-]{{1,150}}(@{DOMAIN.pattern})?")
PEOPLE_CHARACTERS = 10_000
NAME_CHARACTERS = 80  # Maximum length of a team name.

LADDER_AND_CLASSES = (
    "results per class would reveal scores that ladder feedback hides. Turn off ladder feedback or results per class"
)


class Violation(NamedTuple):
    """A violation of a rule. ``field`` is the name of the field that has to be changed."""

    field: str
    code: str
    message: str


def mail_domains(written: Iterable[str]) -> str:
    """Return email domains as one string: in lower case, without duplicates, separated by spaces.

    Raises ValueError if a domain is invalid, or if the string is too long.
    """
    domains = list(dict.fromkeys(domain.lower() for domain in written))
    for domain in domains:
        if not DOMAIN.fullmatch(domain):
            raise ValueError(f"{domain!r} is not an email domain such as example.org")
    if len(" ".join(domains)) > DOMAINS_CHARACTERS:
        raise ValueError(f"the domains can have at most {DOMAINS_CHARACTERS} characters in total")
    return " ".join(domains)


def allowed_people(written: Iterable[str]) -> str:
    """Return email addresses and usernames as one string: in lower case, without duplicates, separated by spaces.

    Raises ValueError if one of them is invalid, or if the string is too long.
    """
    people = list(dict.fromkeys(person.lower() for person in written))
    for person in people:
        if not PERSON.fullmatch(person):
            raise ValueError(f"{person!r} is neither an email address nor a username")
    if len(" ".join(people)) > PEOPLE_CHARACTERS:
        raise ValueError(f"the addresses and usernames can have at most {PEOPLE_CHARACTERS} characters in total")
    return " ".join(people)


def check_numbers(values: Mapping[str, Any]) -> Iterator[Violation]:
    """Yield a violation for each number that is outside its allowed range. None means that a number is unlimited."""
    for field, (low, high) in INTEGER_RANGES.items():
        value = values.get(field)
        if value is not None and not low <= value <= high:
            yield Violation(field, "bad_value", f"{value} is not a whole number from {low} to {high}")
    margin = values.get("ladder_standard_errors")
    if margin is not None and not LADDER_MARGINS[0] <= margin <= LADDER_MARGINS[1]:
        message = f"{margin:g} is not a number from {LADDER_MARGINS[0]:g} to {LADDER_MARGINS[1]:g}"
        yield Violation("ladder_standard_errors", "bad_value", message)


def check_feedback(
    *, track: str, feedback: str, decimals: int | None, classes: bool, intervals: bool
) -> Iterator[Violation]:
    """Yield a violation for each feedback setting of a phase that is incompatible with the other settings.

    For example, ladder feedback, which shows teams only significant improvements, needs confidence intervals.
    ``intervals`` states whether the service computes them.
    """
    if feedback == "ladder" and track and not (intervals and TRACKS[track].intervals):
        yield Violation(
            "feedback",
            "not_available",
            "ladder feedback requires intervals, but this track or this server does not compute them",
        )
    if feedback == "ladder" and classes:
        yield Violation("feedback_classes", "bad_value", LADDER_AND_CLASSES)
    if feedback == "rounded" and decimals is None:
        yield Violation("feedback", "missing_key", "rounded scores require `decimals`, a whole number from 1 to 10")
    if feedback != "rounded" and decimals is not None:
        yield Violation("feedback_decimals", "bad_value", "is only allowed with `scores: rounded`; remove it")


def check_opening(opens_at: datetime | None, closes_at: datetime | None) -> Violation | None:
    """Return a violation if a challenge does not open before it closes, otherwise None."""
    if not (opens_at and closes_at) or opens_at < closes_at:
        return None
    return Violation("closes_at", "bad_dates", f"is not later than the opening time, {iso_utc(opens_at)}")


def check_order(
    opens_at: datetime | None, closes_at: datetime | None, *, start: datetime | None, end: datetime | None
) -> Violation | None:
    """Return a violation if a phase does not open before it closes, otherwise None.

    Without this rule, a phase could already be closed when it opens, and would show its private scores immediately.
    `start` and `end` are the opening and closing dates of the challenge, which also apply to the phase.
    """
    if not (opens_at or closes_at):
        # A phase without dates of its own inherits the dates of its challenge, which `check_opening` checks.
        return None
    opening = max(filter(None, (opens_at, start)), default=None)
    closing = min(filter(None, (closes_at, end)), default=None)
    if not (opening and closing) or opening < closing:
        return None
    if closes_at == closing:
        return Violation("closes_at", "bad_dates", f"is not later than the opening time, {iso_utc(opening)}")
    return Violation("opens_at", "bad_dates", f"is not earlier than the closing time, {iso_utc(closing)}")


def check_freeze(freeze_at: datetime | None, opens_at: datetime | None, *, start: datetime | None) -> Violation | None:
    """Return a violation if the leaderboard of a phase would be frozen before the phase opens, otherwise None.

    `start` is the opening date of the challenge.
    """
    opening = max(filter(None, (opens_at, start)), default=None)
    if not (freeze_at and opening) or opening <= freeze_at:
        return None
    message = f"is before the phase opens, {iso_utc(opening)}, so its public leaderboard would stay empty"
    return Violation("freeze_at", "bad_dates", message)


def check_dates(
    opens_at: datetime | None,
    closes_at: datetime | None,
    *,
    freeze_at: datetime | None,
    start: datetime | None,
    end: datetime | None,
) -> Iterator[Violation]:
    """Yield a violation for each date of a phase that contradicts another one, or a date of its challenge.

    `start` and `end` are the opening and closing dates of the challenge.
    """
    if violation := check_freeze(freeze_at, opens_at, start=start):
        yield violation
    if violation := check_order(opens_at, closes_at, start=start, end=end):
        yield violation
        return
    if opens_at and start and opens_at < start:
        yield Violation("opens_at", "bad_dates", f"is before the challenge opens, {iso_utc(start)}")
    if closes_at and end and closes_at > end:
        yield Violation("closes_at", "bad_dates", f"is after the challenge closes, {iso_utc(end)}")
