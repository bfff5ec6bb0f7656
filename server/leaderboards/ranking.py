"""Ranks teams: pure functions that are called whenever a leaderboard is read. No rank is stored."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TypeVar
from uuid import UUID

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One scored submission, with the data that its rank depends on and that the leaderboard shows."""

    submission_id: UUID
    team_id: int
    team: str
    score: float
    submitted_at: datetime
    baseline: bool = False
    final: bool = False
    public_score: float | None = None
    evaluation_id: int = 0
    low: float | None = None
    high: float | None = None
    visible: bool = True  # whether participants see its own score


def competition_ranks(scores: Sequence[float]) -> list[int]:
    """Return the rank of each score, given best first. Equal scores share a rank and the next rank is skipped.

    >>> competition_ranks([0.9, 0.7, 0.7, 0.1])
    [1, 2, 2, 4]
    >>> competition_ranks([])
    []
    """
    ranks: list[int] = []
    for number, score in enumerate(scores, start=1):
        ranks.append(ranks[-1] if ranks and score == scores[number - 2] else number)
    return ranks


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Sort by score, best first, then by time, team name and id."""
    return sorted(candidates, key=lambda one: (-one.score, one.submitted_at, one.team, one.submission_id))


def best_of_each_team(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return each team's best submission, the earliest of equally good ones, in the order of the leaderboard.

    >>> from uuid import UUID
    >>> def one(number, team, score):
    ...     return Candidate(UUID(int=number), team, f"Team {team}", score, datetime(2026, 1, number))
    >>> [(c.team, c.score) for c in best_of_each_team([one(1, 1, 0.8), one(2, 2, 0.85), one(3, 1, 0.9)])]
    [('Team 1', 0.9), ('Team 2', 0.85)]
    """
    best: dict[int, Candidate] = {}
    for candidate in in_order(candidates):
        best.setdefault(candidate.team_id, candidate)
    return list(best.values())


def ranked(entries: Sequence[Candidate]) -> list[tuple[int | None, Candidate]]:
    """Return every entry with its rank. Baselines are listed among the others by their score and have no rank.

    >>> from uuid import UUID
    >>> start = datetime(2026, 1, 1)
    >>> scores = {1: 0.9, 2: 0.8, 3: 0.7}
    >>> entries = [Candidate(UUID(int=n), n, f"Team {n}", s, start, baseline=n == 2) for n, s in scores.items()]
    >>> [rank for rank, _ in ranked(entries)]
    [1, None, 2]
    """
    ranks = iter(competition_ranks([entry.score for entry in entries if not entry.baseline]))
    return [(None if entry.baseline else next(ranks), entry) for entry in entries]


def finalists(candidates: Iterable[Candidate], *, finals: int) -> list[Candidate]:
    """Return the submissions that count when the phase is over: those that each team chose.

    For a team that chose none, its `finals` best on the public leaderboard count. All submissions of a baseline count,
    because nobody can choose for it.
    """
    counting: list[Candidate] = []
    for _, group in groupby(sorted(candidates, key=lambda one: one.team_id), key=lambda one: one.team_id):
        own = list(group)
        chosen = [one for one in own if one.final or one.baseline]
        counting += chosen or sorted(own, key=_public_order)[:finals]
    return counting


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
