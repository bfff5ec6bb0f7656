"""The entry of the viewer's team: its percentile, and how much its score must increase to reach the next rank."""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from django.db.models import QuerySet

from server.compiled_queries import compiled_query
from server.leaderboards.entry_queries import entries_of
from server.leaderboards.models import Entry
from server.leaderboards.past_facts import past_scores
from server.leaderboards.queries import BoardRow, ShownBoard
from server.row_counts import ROW_COUNT
from server.submissions.feedback import ScoreAccess

# The first query reads this number of entries with the next higher scores. If all of them have the same score, a
# second query counts the teams with this score.
NEAREST = 20
DECIMALS = 5  # the maximum number of decimals of a score on pages
SIGNIFICANCE = {
    True: ", which may be due to chance: the two scores do not differ significantly",
    False: ", a significant difference",
    None: "",
}
Compared = tuple[float, int | None, bool | None, float | None]
Nearest = tuple[int, float]


@dataclass(frozen=True, slots=True)
class NextRank:
    """The next higher rank on the leaderboard, and the gap between its score and the team's score.

    `may_be_luck` is true if the two scores do not differ significantly, and None if they have not been compared.
    """

    rank: int
    gap: float
    may_be_luck: bool | None

    @property
    def is_tiny(self) -> bool:
        """Whether the gap rounds to zero with the maximum number of decimals that pages show."""
        return self.gap < 10.0**-DECIMALS / 2

    @property
    def significance(self) -> str:
        """The end of a sentence about the gap, stating whether it may be due to chance; empty if this is unknown."""
        return SIGNIFICANCE[self.may_be_luck]


@dataclass(frozen=True, slots=True)
class RankedEntry:
    """An entry with its rank, its exact score, and the result of comparing it with the next higher entry `next_up`.

    The rank of a baseline is None. `at` is the time of the leaderboard, or None for the current one. `without` contains
    the teams that are left out because they were removed after the leaderboard was frozen.
    """

    board_id: int
    rank: int | None
    score: float
    next_up: int | None
    next_up_tied: bool | None
    at: datetime | None = None
    without: list[int] | None = None


@dataclass(frozen=True, slots=True)
class OwnEntry:
    """The row of the viewer's team, the number of ranked teams (`of`), and the gap to the next rank, if shown."""

    row: BoardRow
    of: int
    next_rank: NextRank | None

    @property
    def percentile(self) -> float | None:
        """The percentage of teams that do not rank higher: 100 for the first rank, and None for a baseline."""
        return None if self.row.rank is None else 100 * (self.of - self.row.rank + 1) / self.of

    @property
    def top_percent(self) -> int:
        """The smallest whole number N such that the team is among the top N percent of teams."""
        return ceil(100 * (self.row.rank or self.of) / self.of)


def own_entry(board: ShownBoard, row: BoardRow) -> OwnEntry:
    if board.kept is None or not may_rise(row.rank, board.access):
        return OwnEntry(row, board.teams, None)
    found = entries_with_next(board=board.kept.pk, team=row.team_id, at=board.past)
    if board.past is not None:
        return OwnEntry(row, board.teams, next((past_next_rank(board, row, score) for score, *_ in found), None))
    own = [RankedEntry(board.kept.pk, row.rank, *one[:3]) for one in found]
    return OwnEntry(row, board.teams, next((next_rank(one, access=board.access) for one in own), None))


def may_rise(rank: int | None, access: ScoreAccess) -> bool:
    """Return whether an entry is shown with the gap to the next higher rank.

    A team with the first rank has no higher rank to reach, and a baseline has no rank. Under ladder feedback, which
    hides the differences between teams, the gap is not shown.
    """
    return rank is not None and rank > 1 and not access.ladder


def past_next_rank(board: ShownBoard, row: BoardRow, score: float) -> NextRank | None:
    """Return the next higher rank for a row of a past leaderboard, if any. `score` is the exact score of the row."""
    scores = past_scores(board)
    first = bisect_right(scores, score)
    if row.rank is None or first == len(scores):
        return None
    level = bisect_right(scores, scores[first]) - first
    return NextRank(row.rank - level, gap_between(score, scores[first], board.access), None)


def gap_between(score: float, higher: float, access: ScoreAccess) -> float:
    """Return the difference between two scores as they are shown, rounded to the same number of decimals."""
    return access.rounded(access.rounded(higher) - access.rounded(score))


def next_rank(own: RankedEntry, *, access: ScoreAccess) -> NextRank | None:
    """Return the next higher rank and the gap to its score, or None if there is no higher rank to show.

    `may_be_luck`, which is true if the two scores do not differ significantly, is known only for current entries,
    because past entries have no comparison.
    """
    if own.rank is None or not may_rise(own.rank, access):
        return None
    found = nearest_above(board=own.board_id, score=own.score, at=own.at, without=own.without)
    if not found:
        return None
    key, higher = found[0]
    level = sum(score == higher for _, score in found)
    if level == NEAREST:
        ((level,),) = with_score(board=own.board_id, score=higher, at=own.at, without=own.without)
    gap = gap_between(own.score, higher, access)
    return NextRank(own.rank - level, gap, own.next_up_tied if own.at is None and own.next_up == key else None)


@compiled_query
def entries_with_next(*, board: int, team: int, at: datetime | None) -> QuerySet[Entry, Compared]:
    """Return a row (score, key of the next higher entry, whether both are tied, `low`) for the entry of a team, if any.

    The second and third values are None if the entry has not been compared. The callers do not use `low`, the lower end
    of the score's confidence interval. It is selected only because no index contains it. Without it, the index
    `entry_in_history` would contain all selected columns, and SQLite would search it instead of `entries_of_team`.
    """
    own = entries_of(board, at).filter(team=team)
    return own.values_list("score", "compared__next_up", "compared__next_up_tied", "low")


@compiled_query
def nearest_above(
    *, board: int, score: float, at: datetime | None, without: list[int] | None
) -> QuerySet[Entry, Nearest]:
    """Return the first `NEAREST` entries of teams with higher scores, lowest first, as rows (primary key, score)."""
    above = entries_of(board, at, without).filter(is_baseline=False, score__gt=score)
    return above.order_by("score", "-submitted_at", "-team_id").values_list("pk", "score")[:NEAREST]


@compiled_query
def with_score(
    *, board: int, score: float, at: datetime | None, without: list[int] | None
) -> QuerySet[Entry, tuple[int]]:
    """Count the teams that have the given score on a leaderboard at the given time. The query returns one row."""
    # The condition is a range that contains only one score. With an equality condition, SQLite would choose a
    # different index and read all entries.
    same = entries_of(board, at, without).filter(is_baseline=False, score__gte=score, score__lte=score).order_by()
    return same.annotate(count=ROW_COUNT).values_list("count")
