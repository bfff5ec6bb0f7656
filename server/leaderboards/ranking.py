"""Leaderboard rules as pure functions: which submission counts for a team, and how teams are ranked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

Entry = TypeVar("Entry")


class Candidate(NamedTuple):
    """A team's scored submission, with the data that decides whether it becomes the team's entry."""

    evaluation_id: int
    score: float
    received: Any  # sort key that puts a team's submissions in chronological order
    public_score: float | None = None
    baseline: bool = False
    # False if ladder feedback hides the score of this submission and shows the team's earlier score instead
    visible: bool = True
    final: bool = False
    low: float | None = None
    high: float | None = None
    submitted_at: Any = None  # time of submission, as a string from the database


@dataclass(frozen=True, slots=True)
class Earlier:
    """A team's rank, score and evaluation at an earlier time. `rank` is None if the team had no entry.

    `score` is None if it cannot be compared with the current score, for example because the ground truth was
    different.
    """

    rank: int | None = None
    score: float | None = None
    evaluation_id: int | None = None


def entry_of(own: Iterable[Candidate], *, kind: str, finals: int) -> Candidate | None:
    """Return the submission that becomes a team's entry on leaderboards of the given kind, or None if there is none.

    The entry is the submission with the highest score among the candidates. If several share this score, it is the
    earliest of them. On public leaderboards, all submissions are candidates. On published leaderboards, submissions
    that ladder feedback hides are excluded. On all other leaderboards, only final submissions are candidates; see
    `finalists`.

    In the example, submission 2 has the highest score, but ladder feedback hides it. The team has selected submission 3
    as final, so the public scores, which would otherwise determine the final submissions, do not matter.

    >>> def one(number, score, **fields):
    ...     return Candidate(number, score, received=number, public_score=1 - score, **fields)
    >>> own = [one(1, 0.8), one(2, 0.9, visible=False), one(3, 0.7, final=True)]
    >>> [entry_of(own, kind=kind, finals=1).score for kind in ("public", "published", "private")]
    [0.9, 0.8, 0.7]
    """
    return min(counting(own, kind=kind, finals=finals), key=lambda one: (-one.score, one.received), default=None)


def counting(own: Iterable[Candidate], *, kind: str, finals: int) -> list[Candidate]:
    """Return the candidates (a team's scored submissions) that count on leaderboards of the given kind."""
    if kind == "published":
        return [one for one in own if one.visible]
    return [*own] if kind == "public" else finalists(own, finals=finals)


def finalists(own: Iterable[Candidate], *, finals: int) -> list[Candidate]:
    """Return the candidates that count once the phase is over: those that the team selected as final.

    A candidate is a scored submission. At most `finals` submissions count: those with the best public scores among the
    selected ones or, if the team selected none, among all. A team can have selected more than `finals`, because
    organizers can lower this number. All submissions of a baseline count, because nobody can select among them.
    """
    candidates = [*own]
    if any(one.baseline for one in candidates):
        return candidates
    chosen = [one for one in candidates if one.final]
    return sorted(chosen or candidates, key=_public_order)[:finals]


def _public_order(candidate: Candidate) -> tuple[Any, ...]:
    """Return a sort key that puts the highest public score first, missing scores last, and equal scores by time."""
    known = candidate.public_score is not None
    return (not known, -(candidate.public_score or 0.0), candidate.received)


def in_tie_groups(entries: Sequence[Entry], are_tied: Callable[[Entry, Entry], bool | None]) -> list[bool | None]:
    """Return, for each entry, whether it belongs to the tie group of the entry before it.

    A group ends before the first entry for which `are_tied(first entry of the group, entry)` is not true. Therefore
    every entry in a group is tied with the first one. If `are_tied` returns None (unknown), the group ends as well.

    >>> in_tie_groups([0.9, 0.8, 0.7, 0.6], lambda first, other: first - other < 0.15)
    [False, True, False, True]
    """
    joined: list[bool | None] = []
    first = 0
    for index, entry in enumerate(entries):
        joined.append(are_tied(entries[first], entry) if index else False)
        first = first if joined[-1] else index
    return joined
