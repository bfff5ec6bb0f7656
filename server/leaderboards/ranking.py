"""The rules of leaderboards as pure functions: which submission counts for a team, and how teams are ranked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One scored submission, with the data that its rank depends on and that the leaderboard shows."""

    submission_id: UUID
    team_id: int
    score: float
    submitted_at: datetime
    baseline: bool = False
    final: bool = False
    public_score: float | None = None
    evaluation_id: int = 0
    low: float | None = None
    high: float | None = None
    visible: bool = True  # whether participants see its own score


def competition_ranks(scores: Sequence[float], *, better: int = 0, before: int = 0) -> list[int]:
    """Return the rank of each score, given best first. Equal scores share a rank and the next rank is skipped.

    On a later page, `before` scores come before the first one, and `better` of them are higher than it.

    >>> competition_ranks([0.9, 0.7, 0.7, 0.1])
    [1, 2, 2, 4]
    >>> competition_ranks([0.7, 0.1], better=1, before=2)
    [2, 4]
    >>> competition_ranks([])
    []
    """
    ranks: list[int] = []
    for number, score in enumerate(scores, start=1):
        if number == 1:
            ranks.append(better + 1)
        else:
            ranks.append(ranks[-1] if score == scores[number - 2] else before + number)
    return ranks


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Sort by score, best first, then by time, team and submission."""
    return sorted(candidates, key=lambda one: (-one.score, one.submitted_at, one.team_id, one.submission_id))


def ranks(lines: Sequence[tuple[float, bool]], *, better: int = 0, before: int = 0) -> list[int | None]:
    """Return the rank of each line, given its score and whether it is a baseline, best first.

    Baselines are listed among the others by their score and have no rank. `better` and `before` count teams above a
    later page, see `competition_ranks`.

    >>> ranks([(0.9, False), (0.8, True), (0.7, False)])
    [1, None, 2]
    """
    of_teams = competition_ranks([score for score, baseline in lines if not baseline], better=better, before=before)
    left = iter(of_teams)
    return [None if baseline else next(left) for _, baseline in lines]


def entry_of(own: Iterable[Candidate], *, kind: str, finals: int) -> Candidate | None:
    """Return the submission that is a team's entry, given its candidates; None without an entry.

    It is the best one that counts, the earliest of equally good ones.

    >>> from uuid import UUID
    >>> def one(number, score, **fields):
    ...     return Candidate(UUID(int=number), 1, score, datetime(2026, 1, number), public_score=1 - score, **fields)
    >>> own = [one(1, 0.8), one(2, 0.9, visible=False), one(3, 0.7, final=True)]
    >>> [entry_of(own, kind=kind, finals=1).score for kind in ("public", "published", "private")]
    [0.9, 0.8, 0.7]
    """
    return next(iter(in_order(counting(own, kind=kind, finals=finals))), None)


def counting(own: Iterable[Candidate], *, kind: str, finals: int) -> list[Candidate]:
    """Return which of a team's candidates count on a leaderboard of this kind."""
    if kind == "published":
        return [one for one in own if one.visible]
    return [*own] if kind == "public" else finalists(own, finals=finals)


def finalists(own: Iterable[Candidate], *, finals: int) -> list[Candidate]:
    """Return which of a team's candidates count when the phase is over: those that it chose.

    For a team that chose none, its `finals` best on the public leaderboard count. All submissions of a baseline count,
    because nobody can choose for it.
    """
    candidates = [*own]
    chosen = [one for one in candidates if one.final or one.baseline]
    return chosen or sorted(candidates, key=_public_order)[:finals]


def _public_order(candidate: Candidate) -> tuple[bool, float, datetime, UUID]:
    """Return a sort key: best public score first, missing scores last, then the earliest."""
    known = candidate.public_score is not None
    return (not known, -(candidate.public_score or 0.0), candidate.submitted_at, candidate.submission_id)


def in_tie_groups(entries: Sequence[Entry], are_tied: Callable[[Entry, Entry], bool | None]) -> list[bool | None]:
    """Return for each entry whether it belongs to the tie group of the entry before it.

    A group ends before the first entry that is not tied with the first entry of the group, by `are_tied`. So every
    entry of a group is tied with its first one. If `are_tied` returns None (unknown), the group ends as well.

    >>> in_tie_groups([0.9, 0.8, 0.7, 0.6], lambda first, other: first - other < 0.15)
    [False, True, False, True]
    """
    joined: list[bool | None] = []
    first = 0
    for index, entry in enumerate(entries):
        joined.append(are_tied(entries[first], entry) if index else False)
        first = first if joined[-1] else index
    return joined
