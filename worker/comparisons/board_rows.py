"""Reads the entries of a leaderboard, and the bootstrap replicates of selected entries."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from evaluator import ranking
from evaluator.metrics.bootstrap import Numbers
from evaluator.metrics.known_rows import Flags
from server.leaderboards.models import Board, Entry
from server.leaderboards.scored_entries import SPLITS
from server.submissions.models import Replicates

# Version of the rules by which leaderboard entries are compared, in the form `number:`. If the number is incremented,
# all stored comparisons are computed again.
RULES = "3:"
NORMAL_WIDTH = 3.92  # Width of the 95% interval of a normal distribution, in standard errors.

Draws = tuple[int, int]  # The seed and the number of an evaluation's bootstrap replicates.


class Line(NamedTuple):
    """The current entry of a team or baseline on a leaderboard."""

    key: int
    evaluation: int | None
    score: float
    low: float | None
    high: float | None
    is_baseline: bool
    team: int


@dataclass(frozen=True)
class BoardRows:
    """The entries of a leaderboard in rank order. The arrays omit baselines, because baselines are not compared.

    `draws` maps each evaluation that has replicates to the seed and number of its bootstrap replicates. `decimals` is
    the number of decimals of the scores shown in the phase, or None if all digits are shown.
    """

    split: str
    decimals: int | None
    lines: list[Line]
    draws: dict[int, Draws]

    @cached_property
    def teams(self) -> list[Line]:
        return [line for line in self.lines if not line.is_baseline]

    @cached_property
    def scores(self) -> Numbers:
        return np.array([line.score for line in self.teams])

    @cached_property
    def ranks(self) -> list[int]:
        return ranking.competition_ranks([line.score for line in self.teams])

    @cached_property
    def known(self) -> Flags:
        """Whether each team is known (comparable). Only known teams are compared with each other.

        A team is known if its score has a confidence interval, and if the seed and the number of its bootstrap
        replicates are the most common ones on the leaderboard.
        """
        usual = Counter(self.draws.values()).most_common(1)
        draws = [self.draws.get(line.evaluation or 0) for line in self.teams]
        flags = [one in dict(usual) and line.low is not None for one, line in zip(draws, self.teams, strict=True)]
        return np.array(flags, bool)

    @cached_property
    def errors(self) -> Numbers:
        """The standard error of each score, from its confidence interval. NaN for teams that cannot be compared."""
        widths = [(line.high or 0.0) - (line.low or 0.0) for line in self.teams]
        return np.where(self.known, np.array(widths) / NORMAL_WIDTH, np.nan)

    @property
    def margin(self) -> float:
        """The score difference that rounding alone can explain: one unit of the last decimal shown."""
        return 0.0 if self.decimals is None else 10.0**-self.decimals

    @property
    def content(self) -> str:
        """A hash of everything that affects the comparison. If it has not changed, the stored comparison is valid.

        It begins with RULES, which shows whether the results for single entries can be reused.
        """
        lines = [(line.key, self.draws.get(line.evaluation or 0)) for line in self.lines]
        return RULES + sha256(repr((self.decimals, lines)).encode()).hexdigest()[: 64 - len(RULES)]

    def replicates(self, teams: Sequence[int]) -> Numbers:
        """Return the bootstrap replicates of teams, given their indices, as an array of shape (teams, replicates)."""
        wanted = [self.teams[index].evaluation or 0 for index in teams]
        found = np.full((len(wanted), self.draws[wanted[0]][1] if wanted else 0), np.nan)
        row_of = {evaluation: row for row, evaluation in enumerate(wanted)}
        for start in range(0, len(wanted), 500):
            rows = Replicates.objects.filter(evaluation__in=wanted[start : start + 500], split=self.split)
            for evaluation, values in rows.values_list("evaluation", "values"):
                found[row_of[evaluation]] = np.frombuffer(values, "<f8")
        return found


def read_rows(board: Board) -> BoardRows:
    """Read the current entries of a leaderboard. Bootstrap replicates are read later, and only if they are needed."""
    entries = Entry.objects.present().filter(board=board)
    columns = ("pk", "evaluation", "score", "low", "high", "is_baseline", "team")
    lines = [Line(*values) for values in entries.in_order().values_list(*columns)]
    split = SPLITS[Board.Kind(board.kind)]
    kept = Replicates.objects.filter(split=split, evaluation__in=entries.values("evaluation"))
    draws = {evaluation: (seed, count) for evaluation, seed, count in kept.values_list("evaluation", "seed", "count")}
    return BoardRows(split, board.phase.feedback_decimals, lines, draws)
