"""Previews a rescoring: every entry on a leaderboard with its rank and score before and after."""

from dataclasses import dataclass
from functools import cached_property

from server.leaderboards.queries import all_ranks
from server.organize.models import Rescoring

MISSING: tuple[str, int | None, float | None] = ("", None, None)


@dataclass(frozen=True, slots=True)
class Change:
    """An entry before and after a rescoring. A rank is None for a baseline and for a team without an entry."""

    team: str
    rank_before: int | None
    rank_after: int | None
    score_before: float | None
    score_after: float | None

    @property
    def is_rank_change(self) -> bool:
        """Whether the rescoring changes the team's rank, or makes its entry appear or disappear."""
        is_new_or_lost = (self.score_before is None) != (self.score_after is None)
        return is_new_or_lost or self.rank_before != self.rank_after

    @property
    def places(self) -> int:
        """The number of ranks that the team moves up.

        It is negative if the team moves down. It is 0 if the team has no rank before or after the rescoring.
        """
        return 0 if self.rank_before is None or self.rank_after is None else self.rank_before - self.rank_after


@dataclass(frozen=True)
class Preview:
    """A leaderboard before and after a rescoring. `before` is sorted by old rank, and `after` by new rank."""

    split: str
    before: list[Change]
    after: list[Change]

    @cached_property
    def rank_changes(self) -> list[Change]:
        """The entries whose ranks change, in the new rank order, followed by the entries that disappear."""
        lost = [one for one in self.before if one.score_after is None]
        return [one for one in [*self.after, *lost] if one.is_rank_change]

    @cached_property
    def score_changes(self) -> int:
        """The number of entries that keep their rank but have a different score."""
        return sum(not one.is_rank_change and one.score_before != one.score_after for one in self.after)


def preview(rescoring: Rescoring, *, split: str) -> Preview:
    """Return a leaderboard before and after a rescoring.

    Once the rescoring has been applied, `before` and `after` are equal, because the leaderboard shows the new scores.
    """
    phase = rescoring.phase
    before, after = (all_ranks(phase, split=split, signature=one) for one in (phase.signature, rescoring.signature))
    changes = {}
    for team in {**after, **before}:
        name, old_rank, old_score = before.get(team, MISSING)
        new_name, new_rank, new_score = after.get(team, MISSING)
        changes[team] = Change(name or new_name, old_rank, new_rank, old_score, new_score)
    return Preview(split, [changes[team] for team in before], [changes[team] for team in after])
