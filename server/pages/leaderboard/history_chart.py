"""The chart of teams' scores or ranks over time: SVG lines, and a table of the same values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from string import ascii_uppercase

from evaluator.digits import written
from evaluator.report_page.score_digits import SHOWN
from server.leaderboards.queries import BoardRow
from server.leaderboards.timeline import Point
from server.pages.formatting.chart_axes import RankAxis, ScoreAxis, spread, time_ticks
from server.pages.formatting.svg import field_range
from server.pages.formatting.units import utc_minute

# x coordinates range from 0 to 1000, because the drawing is scaled to the width of the page. y coordinates are in
# pixels.
WIDTH, HEIGHT, MARGIN = 1000.0, 320.0, 12.0
# The last change is at x coordinate 970. To the right of it, all lines are horizontal, so that the last values can be
# seen.
LAST_CHANGE = 970.0
LETTER_GAP = 15.0
# If all lines together would have more than 150 dots, no dots are drawn.
MOST_DOTS = 150
# The style sheet defines 5 dash patterns for the lines of a history chart.
DASHES = 5
TABLE_COLUMNS = 8
# If all scores in a chart are equal, the score axis extends 0.01 above and below them.
ROOM = 0.01

Points = Sequence[Point | None]


@dataclass(frozen=True, slots=True)
class Listed:
    """A team in the history chart: its current leaderboard row, and its score and rank at each time in the chart."""

    row: BoardRow
    points: Points
    is_picked: bool = False
    is_mine: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A team's line in the history chart as SVG paths, with the letter at the end of the line.

    `levels` are the horizontal parts of the line, `rises` the thin vertical parts, and `dots` the points where the
    value changes. `end` and `letter_y` are the y coordinates of the line's end and of the letter. Both are None if the
    team is no longer listed at the end of the period that the chart shows.
    """

    listed: Listed
    letter: str
    dash: int
    levels: str
    rises: str
    dots: str
    end: float | None
    letter_y: float | None = None

    @property
    def classes(self) -> str:
        emphasis = " own" if self.listed.is_picked or self.listed.is_mine else ""
        return f"line dash-{self.dash}{emphasis}"


@dataclass(frozen=True, slots=True)
class Band:
    """A vertical band of the history chart, between two changes of the leaderboard. `text` is shown on hover."""

    x: float
    width: float
    text: str


@dataclass(frozen=True, slots=True)
class HistoryChart:
    """The chart of a leaderboard's history.

    `y_ticks` are pairs (y in pixels, text), and `x_ticks` are pairs (x as a percentage of the width, text).
    """

    lines: list[Line]
    bands: list[Band]
    y_ticks: list[tuple[float, str]]
    x_ticks: list[tuple[float, str]]
    table_moments: list[datetime]
    table_rows: list[tuple[Line, list[str]]]
    is_cut: bool
    is_logarithmic: bool
    has_dots: bool


def history_chart(
    teams: Sequence[Listed], moments: Sequence[datetime], *, by_rank: bool, decimals: int | None
) -> HistoryChart | None:
    """Return a chart of the teams' ranks or scores over time, or None if no team has a rank or score to draw."""
    drawing = Drawing(teams, moments, by_rank=by_rank, decimals=decimals)
    if not drawing.values:
        return None
    lines = with_letters([drawing.line(listed, number) for number, listed in enumerate(teams)])
    columns = evenly(len(moments), TABLE_COLUMNS)
    return HistoryChart(
        lines=lines,
        bands=list(drawing.bands()),
        y_ticks=[(drawing.y_of(tick.value), tick.text) for tick in drawing.axis.ticks],
        x_ticks=[(drawing.x_of(moment) * 100 / WIDTH, text) for moment, text in time_ticks(moments[0], moments[-1])],
        table_moments=[moments[column] for column in columns],
        table_rows=[(line, [drawing.text(line.listed.points[column]) for column in columns]) for line in lines],
        is_cut=any(drawing.axis.is_beyond(value) for value in drawing.values),
        is_logarithmic=drawing.axis.is_logarithmic,
        has_dots=sum(line.dots.count("M") for line in lines) <= MOST_DOTS,
    )


class Drawing:
    """Converts the teams' scores or ranks over time to the coordinates and labels of a chart."""

    def __init__(
        self, teams: Sequence[Listed], moments: Sequence[datetime], *, by_rank: bool, decimals: int | None
    ) -> None:
        self.teams, self.moments, self.by_rank = teams, moments, by_rank
        self.decimals = SHOWN if decimals is None else min(SHOWN, decimals)
        # Repeated values of a team are dropped, so that the range of the axis does not depend on how long it had them.
        values = (set(map(self.value, listed.points)) for listed in teams)
        self.values = [value for of_team in values for value in of_team if value is not None]
        self.axis = rank_axis(self.values) if by_rank else score_axis(self.values)

    def value(self, point: Point | None) -> float | None:
        if point is None:
            return None
        return point.rank if self.by_rank else point.score

    def text(self, point: Point | None) -> str:
        """Return a team's score or rank at one point in time as text, or an empty string if it was not listed then."""
        value = self.value(point)
        return "" if value is None else str(value) if self.by_rank else written(value, self.decimals)

    def x_of(self, moment: datetime) -> float:
        length = self.moments[-1] - self.moments[0]
        return round(LAST_CHANGE * ((moment - self.moments[0]) / length), 1) if length else 0.0

    def y_of(self, value: float) -> float:
        return round(HEIGHT - MARGIN - self.axis.share(value) * (HEIGHT - 2 * MARGIN), 1)

    def line(self, listed: Listed, number: int) -> Line:
        """Return a team's line, with steps where its value changes and gaps where the team was not listed."""
        levels = rises = dots = ""
        y: float | None = None
        for moment, point in zip(self.moments, listed.points, strict=True):
            x, value = self.x_of(moment), self.value(point)
            new = None if value is None else self.y_of(value)
            if new != y:
                levels += f"H{x:g}" if y is not None else ""
                levels += f"M{x:g} {new:g}" if new is not None else ""
                rises += f"M{x:g} {y:g}V{new:g}" if y is not None and new is not None else ""
                dots += f"M{x:g} {new:g}h0" if new is not None else ""
                y = new
        levels += f"H{WIDTH:g}" if y is not None else ""
        return Line(listed, ascii_uppercase[number % 26], number % DASHES, levels, rises, dots, y)

    def bands(self) -> Iterator[Band]:
        """Yield a vertical band for each time in the chart. The band's text lists the teams in leaderboard order."""
        xs = [*map(self.x_of, self.moments), WIDTH]
        for index, (x, end) in enumerate(pairwise(xs)):
            points = [(listed, point) for listed in self.teams if (point := listed.points[index]) is not None]
            points.sort(key=lambda pair: -pair[1].score)
            texts = (f"{self.text(point)}  {listed.row.team}" for listed, point in points if self.text(point))
            yield Band(x, round(end - x, 1), "\n".join([utc_minute(self.moments[index]), *texts]))


def rank_axis(ranks: Sequence[float]) -> RankAxis:
    return RankAxis(round(max(ranks, default=1)))


def score_axis(scores: Sequence[float]) -> ScoreAxis:
    """Return a chart axis that contains all scores except low outliers.

    Low outliers, such as a first score of 0, would compress the rest of the chart.
    """
    low, _ = field_range((score, score) for score in scores) or (0.0, 1.0)
    high = max(scores, default=1.0)
    return ScoreAxis(low, high) if high > low else ScoreAxis(low - ROOM, high + ROOM)


def with_letters(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with the positions of the letters at their ends, chosen so that letters do not overlap."""
    ends = [line.end for line in lines if line.end is not None]
    places = iter(spread(ends, gap=LETTER_GAP, low=MARGIN, high=HEIGHT - MARGIN))
    return [replace(line, letter_y=None if line.end is None else round(next(places), 1)) for line in lines]


def evenly(count: int, most: int) -> list[int]:
    """Return at most `most` evenly spaced indices of a list with `count` items, including the first and the last index.

    >>> evenly(3, 8), evenly(200, 5)
    ([0, 1, 2], [0, 50, 100, 149, 199])
    """
    if count <= most:
        return list(range(count))
    return [round(step * (count - 1) / (most - 1)) for step in range(most)]
