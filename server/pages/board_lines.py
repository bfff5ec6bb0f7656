"""A leaderboard's rows as its page lays them out."""

from dataclasses import dataclass

from evaluator.catalog import Metric, Track
from server.leaderboards.queries import Row


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A row with its classes, its tag and what a reader of screens hears after its rank."""

    row: Row
    classes: str
    tag: str
    note: str
    metrics: list[tuple[Metric, float | None]]
    link: str = ""  # to the page of the board that has it, from where it is pinned


def line_of(row: Row, track: Track, *, team_id: int | None, compared: bool, link: str = "") -> BoardLine:
    """Lay out a row; `compared` where ties were looked for."""
    untested = compared and row.tied is None and not row.baseline
    mine = row.team_id == team_id and not row.baseline
    bracket = "tied" if row.joined else "untested" if untested else ""
    note = "not compared with the team above yet" if untested else ""
    return BoardLine(
        row=row,
        classes=" ".join(filter(None, ("baseline" if row.baseline else "mine" if mine else "", bracket))),
        tag="baseline" if row.baseline else "you" if mine else "",
        note="not significantly different from the team above" if row.tied else note,
        metrics=[(metric, row.scores.get(metric.name)) for metric in track.board_metrics],
        link=link,
    )
