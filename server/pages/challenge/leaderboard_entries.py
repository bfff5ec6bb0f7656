"""The entries of a leaderboard as its page shows them."""

from dataclasses import dataclass

from evaluator.catalog import Metric, Track
from server.leaderboards.queries import BoardRow


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """A leaderboard entry with its CSS classes, its tag, and the note that screen readers read after its rank."""

    row: BoardRow
    classes: str
    tag: str
    note: str
    metrics: list[tuple[Metric, float | None]]
    # Set for a pinned entry, which is shown on other pages of the leaderboard too: the URL of its own page.
    link: str = ""


def shown_entry(row: BoardRow, track: Track, *, team_id: int | None, compared: bool, link: str = "") -> ShownEntry:
    """Return an entry as the page shows it. `compared` is whether this leaderboard tests its entries for ties."""
    untested = compared and row.tied is None and not row.baseline
    mine = row.team_id == team_id and not row.baseline
    bracket = "tied" if row.joined else "untested" if untested else ""
    note = "not compared yet" if untested else ""
    return ShownEntry(
        row=row,
        classes=" ".join(filter(None, ("baseline" if row.baseline else "mine" if mine else "", bracket))),
        tag="baseline" if row.baseline else "you" if mine else "",
        note="not significantly different from the first team of its group" if row.tied else note,
        metrics=[(metric, row.scores.get(metric.name)) for metric in track.board_metrics],
        link=link,
    )
