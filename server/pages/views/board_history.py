"""The page that shows the history of a leaderboard in a chart of the top teams and other selected teams."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from evaluator.digits import Interval
from evaluator.report_page.content import SPLIT_TITLES
from server.clock import next_whole_second
from server.leaderboards import queries, reading
from server.leaderboards.earlier_ranks import compared_since, with_changes
from server.leaderboards.queries import BoardRow, ShownBoard
from server.leaderboards.timeline import timeline_of
from server.pages.challenge.splits import SplitLink, split_links
from server.pages.challenge_context import ChallengeContext, find_context
from server.pages.leaderboard.history_chart import HEIGHT, Line, Listed, history_chart
from server.pages.leaderboard.query import LeaderboardQuery, parse_query
from server.pages.leaderboard.rank_changes import change_html
from server.pages.views.compare_entries import NO_ENTRY

TOP, MOST_PICKED = 10, 3
CHARTS = {"score": "Score", "rank": "Rank"}


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """The parsed query string of a history page: the leaderboard, the kind of chart, and the selected teams."""

    board: LeaderboardQuery
    chart: str
    picked: tuple[str, ...]

    def query_string(self, **changes: Any) -> str:
        """Return the query string of the same history page with the given changes."""
        values = {"phase": self.board.phase, "split": self.board.split, "chart": self.chart, "team": self.picked}
        given = {name: value for name, value in (values | changes).items() if value}
        return "?" + urlencode(given, doseq=True)

    def at(self, moment: datetime) -> str:
        """Return the query string of the page with the leaderboard at the given time, rounded up to the second."""
        return replace(self.board, at=next_whole_second(moment)).query_string()


def parse_history_query(request: HttpRequest, current: ChallengeContext) -> HistoryQuery:
    """Parse the query string of a history page. Invalid values are ignored."""
    chart = request.GET.get("chart", "")
    names = [name.strip() for name in request.GET.getlist("team")]
    picked = dict.fromkeys(name for name in names if name and "\0" not in name)
    board = replace(parse_query(request, current), at=None, page=1)
    return HistoryQuery(board, chart if chart in CHARTS else "score", tuple(picked)[:MOST_PICKED])


@require_safe
def board_history(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how the scores or ranks of the top teams, the viewer's team, and the selected teams changed over time."""
    current = find_context(request, slug)
    query = parse_history_query(request, current)
    access, phase = current.score_access, current.required_phase()
    board = queries.board_seen(phase, split=query.board.split, access=access, now=current.now)
    named = {name: board.row_named(name) for name in query.picked}
    own = board.row_of(current.team.pk) if current.team else None
    rows = chart_rows(board, [row for row in (*named.values(), own) if row])
    marked = {row.team_id for row in named.values() if row}
    context = {
        "current": current,
        "now": current.now,
        "board": board,
        "query": query,
        "track": phase.declared_track,
        "splits": splits_of(query, board),
        "charts": [SplitLink(CHARTS[one], query.query_string(chart=one), one == query.chart) for one in CHARTS],
        **chart_context(query, board, rows, picked=marked, mine=own.team_id if own else None),
        "missing": [name for name, row in named.items() if row is None],
        "no_entry": NO_ENTRY,
        "can_pick": len(query.picked) < MOST_PICKED,
        "since": compared_since(board),
        "improvements": [found for row in rows if row.team_id in marked and (found := improvement(board, row))],
        "decimals": board.access.decimals,
    }
    return render(request, "leaderboard/history.html", context)


def improvement(board: ShownBoard, row: BoardRow) -> tuple[BoardRow, float, Interval | None] | None:
    """Return a tuple: the given row, the change in its score over the last week, and the interval for this change.

    Return None if the team's entry is the same as a week ago, or if there is no score from a week ago to compare it
    with. The interval is None until a background worker has computed it.
    """
    earlier = row.earlier
    if earlier is None or earlier.score is None or earlier.evaluation_id == row.evaluation_id:
        return None
    return row, board.access.rounded(row.score - earlier.score), row.gain.interval if row.gain else None


def chart_rows(board: ShownBoard, chosen: Sequence[BoardRow]) -> list[BoardRow]:
    """Return the leaderboard rows of the top teams and those in `chosen`, without duplicates, in leaderboard order."""
    rows = {row.team_id: row for row in (*board.top(TOP), *chosen)}
    return with_changes(board, sorted(rows.values(), key=lambda row: (-row.score, row.rank or 0)))


def splits_of(query: HistoryQuery, board: ShownBoard) -> list[SplitLink]:
    """Return a link for each split that the viewer may see, or an empty list if there is only one such split."""
    if not reading.has_private(board.phase):
        return []
    splits = [split for split in SPLIT_TITLES if split in board.access.splits]
    links = split_links(splits, current=board.split, query=lambda split: query.query_string(split=split))
    return links if len(links) > 1 else []


def chart_context(
    query: HistoryQuery, board: ShownBoard, rows: Sequence[BoardRow], *, picked: set[int], mine: int | None
) -> dict[str, Any]:
    """Return the template context for the chart of a leaderboard's history."""
    by_rank = query.chart == "rank"
    found = timeline_of(board, [row.team_id for row in rows], with_ranks=by_rank)
    listed = [
        Listed(row, found.points[row.team_id], is_picked=row.team_id in picked, is_mine=row.team_id == mine)
        for row in rows
    ]
    chart = history_chart(listed, found.moments, by_rank=by_rank, decimals=board.access.decimals)
    return {
        "chart": chart,
        "legend": [(line, *legend_entry(query, board, line)) for line in (chart.lines if chart else [])],
        "by_rank": by_rank,
        "times": [(moment, query.at(moment)) for moment in (chart.table_moments if chart else [])],
        "height": HEIGHT,
    }


def legend_entry(query: HistoryQuery, board: ShownBoard, line: Line) -> tuple[str, SafeString]:
    """Return the data for a team in the chart's legend.

    It consists of the query string that adds the team to the chart or removes it, and the HTML that shows how the
    team's entry has changed.
    """
    name = line.listed.row.team
    others = tuple(one for one in query.picked if one != name)
    toggled = others if line.listed.is_picked else (*others, name)[-MOST_PICKED:]
    change = change_html(line.listed.row, compared_since(board), board.access.decimals)
    return query.query_string(team=toggled), change
