"""Simulated leaderboards of teams whose true ranks are known.

Each leaderboard, except those of ``spaced_teams``, has a random test set, from which the replicates of all teams are
drawn. A score is hits / objects. A test set has 500 images with 1 to 5 objects each. Teams differ in how much their
results vary between images, and in how much of that variation they share.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evaluator.digits import sign_of
from evaluator.draws import Draws
from evaluator.metrics.bootstrap import Numbers, paired_interval
from evaluator.metrics.rank_intervals import top_rank_intervals
from server.leaderboards.ranking import in_tie_groups

SEED = 20261121
IMAGES = 500
THREE_EQUAL = np.array([0.72, 0.70, 0.70, 0.70, 0.69, 0.66, 0.65, 0.62, 0.55, 0.50])
ALL_EQUAL = np.full(10, 0.7)
VARIATION = np.array([0.25, 0.02, 0.14, 0.27, 0.10, 0.30, 0.05, 0.20, 0.15, 0.25])
IN_COMMON = np.array([0.5, 0.9, 0.1, 0.5, 1.0, 0.0, 0.3, 0.7, 0.5, 0.9])


@dataclass(frozen=True, slots=True)
class Board:
    """The rows of a leaderboard, from best to worst: their true scores, observed scores and bootstrap replicates."""

    truths: Numbers
    scores: Numbers
    replicates: Numbers


@dataclass(frozen=True, slots=True)
class Findings:
    """Properties of a simulated leaderboard and its rank intervals.

    Attributes
    ----------
    covered : bool
        Whether the interval of each row contains all true ranks of the row. Rows with equal true scores share their
        true ranks.
    together : bool
        Whether the observed rank of each row is in the intervals of all rows with the same true score.
    split : bool
        Whether some tie group ends just before a row that has the same true score as the first row of the group.
    """

    covered: bool
    together: bool
    split: bool


@dataclass(frozen=True, slots=True)
class Share:
    """The proportion of simulated leaderboards that have a property, and the number of simulated leaderboards."""

    value: float
    boards: int

    @property
    def error(self) -> float:
        """The standard error of the proportion.

        If the proportion is 0 or 1, the error is computed as if one leaderboard had a different result.
        """
        share = min(max(self.value, 1 / self.boards), 1 - 1 / self.boards)
        return float(np.sqrt(share * (1 - share) / self.boards))

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.error:.3f}"


def shares(boards: Iterable[Board]) -> dict[str, Share]:
    """Return the proportion of leaderboards that have each property of :class:`Findings`."""
    found = [findings(board) for board in boards]
    values = {name: [getattr(one, name) for one in found] for name in ("covered", "together", "split")}
    return {name: Share(float(np.mean(of_all)), len(of_all)) for name, of_all in values.items()}


def ten_teams(number: int, *, replicates: int, truths: Numbers = THREE_EQUAL) -> Board:
    """Return a simulated leaderboard of ten teams. The bootstrap weights are those that the service would draw."""
    draws = Draws(f"{number:064x}", 0, SEED, IMAGES, replicates)
    weights = np.concatenate([draws.block(block) for block in range(draws.blocks)], axis=1)[:, :replicates]
    return simulation(np.random.default_rng([SEED, number]), truths, VARIATION, IN_COMMON, weights.T.astype(float))


def many_teams(number: int, *, teams: int, replicates: int) -> Board:
    """Return a simulated leaderboard of many teams. A tenth of them get the true score of another team.

    The bootstrap weights have a multinomial distribution.
    """
    rng = np.random.default_rng([SEED, teams, number])
    truths = rng.beta(6, 4, teams)
    truths[: teams // 10] = truths[teams // 10 : 2 * (teams // 10)]
    weights = rng.multinomial(IMAGES, np.full(IMAGES, 1 / IMAGES), replicates).astype(float)
    variation = np.minimum(rng.uniform(0.02, 0.3, teams), np.minimum(truths, 1 - truths))
    return simulation(rng, truths, variation, rng.uniform(0, 1, teams), weights)


def spaced_teams(number: int, *, gap: float, teams: int, replicates: int) -> Board:
    """Return a simulated leaderboard of teams with equally spaced true scores.

    Neighbouring true scores differ by ``gap`` standard errors of the difference between two teams.
    """
    rng = np.random.default_rng([SEED, teams, number])
    truths = -gap * np.sqrt(2) * np.arange(teams)
    scores = truths + rng.normal(0, 1, teams)
    drawn = scores[:, None] + rng.normal(0, 1, (teams, replicates))
    order = np.argsort(-scores)
    return Board(truths[order], scores[order], drawn[order])


def simulation(
    rng: np.random.Generator, truths: Numbers, variation: Numbers, in_common: Numbers, weights: Numbers
) -> Board:
    """Simulate a test set and the scores of all teams on this test set.

    The bootstrap weights have the shape (replicates, images).
    """
    objects = rng.integers(1, 6, IMAGES)
    common, own = rng.uniform(-1, 1, (IMAGES, 1)), rng.uniform(-1, 1, (IMAGES, len(truths)))
    chances = truths + variation * (in_common * common + (1 - in_common) * own)
    hits = rng.binomial(objects[:, None], chances).astype(float)
    scores = hits.sum(axis=0) / objects.sum()
    replicates = (weights @ hits) / (weights @ objects)[:, None]
    order = np.argsort(-scores, kind="stable")
    return Board(truths[order], scores[order], np.ascontiguousarray(replicates.T[order]))


def findings(board: Board, top: int = 100) -> Findings:
    intervals = [interval for interval in top_rank_intervals(board.scores, board.replicates, top) if interval]
    better = (board.truths > board.truths[:, None]).sum(axis=1).tolist()
    worse = (board.truths < board.truths[:, None]).sum(axis=1).tolist()
    covered = [
        low <= 1 + before and len(board.scores) - after <= high
        for (low, high), before, after in zip(intervals, better, worse, strict=False)
    ]
    together = [
        low <= 1 + int((board.scores > board.scores[equal]).sum()) <= high
        for row, (low, high) in enumerate(intervals)
        for equal in np.flatnonzero(board.truths == board.truths[row])
    ]
    return Findings(all(covered), all(together), has_false_split(board, top))


def has_false_split(board: Board, top: int) -> bool:
    """Return whether a tie group (rows that do not differ significantly) ends too early.

    This is the case if the next row has the same true score as the first row of the group.
    """

    def are_tied(first: int, row: int) -> bool:
        observed = board.scores[first] - board.scores[row]
        low, high = paired_interval(board.replicates[first] - board.replicates[row], observed) or (0.0, 0.0)
        return not sign_of((low, high))

    joined = in_tie_groups(range(min(top, len(board.scores))), are_tied)
    begins = [row for row, is_joined in enumerate(joined) if not is_joined]
    return any(board.truths[first] == board.truths[end] for first, end in pairwise(begins))
