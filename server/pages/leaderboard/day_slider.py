"""The slider that selects a day in a leaderboard's history."""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import date, datetime

from server.leaderboards.event_days import event_days
from server.pages.challenge_context import ChallengeContext
from server.pages.formatting.units import date as date_text

NOW = "Now"


@dataclass(frozen=True, slots=True)
class DaySlider:
    """A slider with one position for each day on which a leaderboard changed.

    The last position represents the current leaderboard.
    """

    days: list[date]
    at: datetime | None

    @property
    def last(self) -> int:
        return len(self.days)

    @property
    def position(self) -> int:
        """The current position of the slider: that of the last change on or before the displayed day."""
        return self.last if self.at is None else max(0, bisect_right(self.days, self.at.date()) - 1)

    @property
    def text(self) -> str:
        return NOW if self.at is None else date_text(self.at)

    @property
    def first_text(self) -> str:
        return day_text(self.days[0])

    @property
    def values(self) -> str:
        """The days on which the leaderboard changed, separated by spaces, for use by the page's script."""
        return " ".join(map(str, self.days))


def day_slider(current: ChallengeContext, *, split: str, at: datetime | None) -> DaySlider | None:
    """Return the slider for a leaderboard's history, or None if the leaderboard did not change before today."""
    phase, access = current.required_phase(), current.score_access
    days = event_days(phase, split=split, access=access, now=current.now)
    return DaySlider(days, at if at is not None and at < current.now else None) if days else None


def day_text(day: date) -> str:
    """Return a day in the date format used on pages.

    >>> day_text(date(2026, 6, 1))
    '1 Jun 2026'
    """
    return f"{day.day} {day:%b %Y}"
