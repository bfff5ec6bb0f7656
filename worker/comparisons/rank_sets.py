"""Computes confidence intervals for ranks. Bootstrap replicates are read only for teams that may affect the result.

The intervals of the top teams on a leaderboard are simultaneous: with 95% confidence, every one of them contains the
true rank of its team. For each of the other intervals, which are individual, the 95% confidence applies separately.
"""

from collections.abc import Sequence

import numpy as np

from evaluator.metrics.known_rows import FAR, Flags
from evaluator.metrics.rank_intervals import (
    TOP,
    FarRowsMatter,
    RankInterval,
    individual_rank_intervals,
    top_rank_intervals,
)
from worker.comparisons.board_rows import BoardRows

AT_ONCE = 100  # Maximum number of individual rank intervals to compute in one comparison of a leaderboard.


def top_intervals(rows: BoardRows) -> list[RankInterval | None]:
    """Return simultaneous rank intervals for the top teams on a leaderboard.

    The interval of a team that is not known (comparable) is None.
    """
    near, known = near_the_top(rows), np.flatnonzero(rows.known)
    try:
        found = top_rank_intervals(
            rows.scores[near], rows.replicates(near.tolist()), margin=rows.margin, complete=len(near) == len(known)
        )
    except FarRowsMatter:
        near = known
        found = top_rank_intervals(rows.scores[near], rows.replicates(near.tolist()), margin=rows.margin)
    of_team = dict(zip(near.tolist(), found, strict=False))
    return [with_unknown(rows, of_team.get(team)) for team in range(min(TOP, len(rows.teams)))]


def near_the_top(rows: BoardRows) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    """Return the indices of known (comparable) teams that may affect the rank intervals of the first `TOP` teams.

    Teams that are far worse than every team that could be among the first `TOP` are omitted.
    """
    known = np.flatnonzero(rows.known)
    if len(known) <= TOP:
        return known
    lowest, highest = (rows.scores + sign * FAR * rows.errors for sign in (-1, 1))
    least = np.partition(lowest[known], -TOP)[-TOP]
    could_be_first = known[highest[known] + rows.margin >= least]
    return known[highest[known] + rows.margin >= lowest[could_be_first].min()]


def individual_intervals(rows: BoardRows, due: Sequence[int]) -> dict[int, RankInterval | None]:
    """Return new individual rank intervals, keyed by team, for at most AT_ONCE of the teams in `due`.

    Due teams whose scores are far from that of the first due team are left for a later comparison.
    """
    if not due:
        return {}
    near_first = near(rows, due[0])
    some = [team for team in due if near_first[team]][:AT_ONCE]
    chosen = np.logical_or.reduce([near(rows, team) for team in some])
    try:
        return individual_among(rows, some, chosen)
    except FarRowsMatter:
        return individual_among(rows, some, rows.known)


def individual_among(rows: BoardRows, some: Sequence[int], chosen: Flags) -> dict[int, RankInterval | None]:
    """Return individual rank intervals for the teams in `some`, keyed by team.

    `chosen` marks the known (comparable) teams to compare with each other, which include the teams in `some`.
    """
    indices = np.flatnonzero(chosen)
    wanted = np.searchsorted(indices, some).tolist()
    found = individual_rank_intervals(
        rows.scores[indices],
        rows.replicates(indices.tolist()),
        wanted,
        margin=rows.margin,
        complete=len(indices) == np.count_nonzero(rows.known),
    )
    far_above = np.cumsum(rows.known & ~chosen)
    return {
        team: with_unknown(rows, interval, far_above=int(far_above[team]))
        for team, interval in zip(some, found, strict=True)
    }


def near(rows: BoardRows, team: int) -> Flags:
    """Return a flag for each team, true if the team is known (comparable) and its score is near that of `team`.

    Two scores are near each other if they differ by at most `FAR` times the sum of their standard errors, plus the
    difference that rounding alone can explain.
    """
    gaps, reach = np.abs(rows.scores - rows.scores[team]), FAR * (rows.errors + rows.errors[team])
    flags: Flags = rows.known & (gaps <= reach + rows.margin)
    return flags


def with_unknown(rows: BoardRows, interval: RankInterval | None, *, far_above: int = 0) -> RankInterval | None:
    """Return a rank interval that also accounts for the teams that were not compared.

    The interval is shifted by `far_above`, the number of teams that are clearly better. It is extended by the number of
    teams that are not known (comparable), because they may have any rank.
    """
    if interval is None:
        return None
    low, high = interval
    return low + far_above, high + far_above + int(np.count_nonzero(~rows.known))
