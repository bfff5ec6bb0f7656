"""Caches values that are computed from all entries of a past leaderboard (a leaderboard as of an earlier time)."""

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from django.core.cache import caches

from server.leaderboards import entry_queries

if TYPE_CHECKING:
    from server.leaderboards.queries import ShownBoard

Fact = TypeVar("Fact")


def past_fact(name: str, board: "ShownBoard", compute: Callable[[], Fact]) -> Fact:
    """Return the result of `compute` for a past leaderboard from the cache, or compute and cache it.

    `name` distinguishes the results for the same leaderboard. The cache key also contains the version of the
    leaderboard, so the result is computed again after any change to the leaderboard.
    """
    key = f"{name}:{board.kept and (board.kept.pk, board.kept.version)}:{board.past}:{board.without}"
    return cast(Fact, caches["past"].get_or_set(key, compute))


def past_scores(board: "ShownBoard") -> "array[float]":
    """Return the scores of all teams on a past leaderboard, lowest first.

    They are cached, because no database index contains past entries in order of score.
    """

    def compute() -> "array[float]":
        return array("d", sorted(score for (score,) in board.read(entry_queries.team_scores)))

    return past_fact("scores", board, compute)
