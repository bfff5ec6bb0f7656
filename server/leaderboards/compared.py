"""Reads the stored comparisons of leaderboard entries: tie groups, and the ranks that each team could have."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F

from evaluator.digits import Interval
from server.submissions.feedback import ScoreAccess

COLUMNS = {  # annotations that add the stored result of the pairwise comparison to each leaderboard entry
    name: F(f"compared__{name}")
    for name in (
        *("compared_with", "tied", "earlier", "gain_low", "gain_high"),
        *("rank_low", "rank_high", "is_individual", "ranked_at"),
    )
}


@dataclass(frozen=True, slots=True)
class Gain:
    """The 95% interval for a team's gain, which is the increase in its score since the evaluation `earlier`.

    The interval is computed from paired differences between the bootstrap replicates of the two evaluations.
    """

    earlier: int
    interval: Interval


@dataclass(frozen=True, slots=True)
class RankInterval:
    """The ranks that a team could have, with 95% confidence.

    The intervals of the first 100 teams hold simultaneously. An `individual` interval holds for its own team only. `at`
    is the time when the interval was computed.
    """

    low: int
    high: int
    individual: bool
    at: datetime


def rank_interval(entry: Any, rank: int | None) -> RankInterval | None:
    """Return the stored rank interval of an entry.

    Return None if no interval is stored, or if the entry's rank is no longer within its interval because other entries
    have changed.
    """
    if rank is None or entry.rank_low is None or not entry.rank_low <= rank <= entry.rank_high:
        return None
    return RankInterval(entry.rank_low, entry.rank_high, entry.is_individual, entry.ranked_at)


def gain(entry: Any, access: ScoreAccess) -> Gain | None:
    """Return the stored interval for the change in the team's score over the past week, rounded for the viewer.

    Return None if no interval is stored, or under ladder feedback, which hides scores that are not a clear improvement.
    """
    ends = access.interval_of_difference(entry.gain_low, entry.gain_high)
    return Gain(entry.earlier, ends) if ends and not access.ladder else None


def ties(entries: Iterable[Any]) -> list[bool | None]:
    """Return, for consecutive entries, whether each is in the same tie group as the entry above it.

    A tie group consists of adjacent teams whose scores do not differ significantly. The value is None (unknown) if the
    team with which the entry was compared is no longer on the leaderboard or has moved.
    """
    found: list[bool | None] = []
    group: int | None = None  # primary key of the first entry in the tie group to which the preceding entry belongs
    for entry in entries:
        is_current = group is None or entry.is_baseline or entry.compared_with == group
        found.append(entry.tied if is_current else None)
        if not entry.is_baseline:
            group = entry.compared_with if entry.tied else entry.pk
    return found
