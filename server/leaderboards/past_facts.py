"""Caches facts about past leaderboards that are computed from all of their entries."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from django.core.cache import caches

if TYPE_CHECKING:
    from server.leaderboards.queries import ShownBoard

Fact = TypeVar("Fact")


def past_fact(name: str, board: "ShownBoard", compute: Callable[[], Fact]) -> Fact:
    """Return the named fact about a past leaderboard. It is computed only if it is not in the cache.

    A fact is computed again after any change to the leaderboard, because the past changes too if an account is deleted
    or entries are rebuilt.
    """
    key = f"{name}:{board.kept and (board.kept.pk, board.kept.version)}:{board.past}:{board.without}"
    found: Fact | None = caches["past"].get(key)
    if found is None:
        found = compute()
        caches["past"].set(key, found)
    return found
