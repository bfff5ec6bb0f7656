"""The chart of a team's scores in order of submission. It shows confidence intervals, and marks for rescorings."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from uuid import UUID

from django.db.models import QuerySet
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from evaluator.digits import Interval, written
from evaluator.report_page.score_digits import SHOWN, interval_text
from server.challenges.models import Phase, Team
from server.compiled_queries import compiled_query
from server.organize.models import Rescoring
from server.pages.formatting.chart_axes import ScoreAxis
from server.pages.formatting.svg import field_range
from server.pages.formatting.units import date, utc_minute
from server.submissions.feedback import ScoreAccess
from server.submissions.models import Score, Status

POINTS_SHOWN = 100
TICKS = 5
# x coordinates range from 0 to 1000, because the drawing is scaled to the width of the page. y coordinates are in
# pixels.
WIDTH, HEIGHT, MARGIN = 1000.0, 180.0, 12.0
# If all scores in a chart are equal, the score axis extends 0.01 above and below them.
ROOM = 0.01
POINT = '<a href="{}" aria-label="{}"><rect x="{}" y="0" width="{}" height="180" /><title>{}</title></a>'


@dataclass(frozen=True, slots=True)
class OwnScore:
    """A submission of the viewer's team with its public headline score, rounded as the phase's feedback requires."""

    submission: UUID
    file_name: str
    received_at: datetime
    is_final: bool
    score: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class ScoreChart:
    """A chart with one point for each scored submission, oldest first.

    The SVG paths `intervals`, `best`, `dots` and `tops` show, in this order, the confidence intervals, the best score
    so far, the scores that are not a new best, and each new best score. `targets` contains the links to the
    submissions. `y_ticks` are pairs (y in pixels, text), and `x_ticks` are pairs (x as a percentage of the width,
    text). `rescored` contains a pair (x, time as text) for each rescoring.
    """

    intervals: str
    best: str
    dots: str
    tops: str
    targets: SafeString
    y_ticks: list[tuple[float, str]]
    x_ticks: list[tuple[float, str]]
    rescored: list[tuple[float, str]]
    description: str
    left_out: int


def own_scores(team: Team, phase: Phase, access: ScoreAccess) -> list[OwnScore]:
    """Return the public headline scores of a team's submissions that the team may see, oldest first.

    Undefined scores are left out.
    """
    conditions = {"metric": phase.declared_track.headline, "signature": phase.signature}
    found = public_scores(team=team.pk, phase=phase.pk, ladders=[phase.pk] if access.ladder else [], **conditions)
    return [
        OwnScore(key, name, received, is_final, access.rounded(value), access.interval(low, high))
        for key, name, received, is_final, value, low, high in found
        if value is not None
    ]


@compiled_query
def public_scores(*, team: int, phase: int, ladders: list[int], metric: str, signature: str) -> QuerySet[Score, tuple]:
    scores = Score.objects.visible(ladders=ladders).filter(split="public", metric=metric)
    own = {"evaluation__submission__team": team, "evaluation__submission__phase": phase}
    scored = scores.filter(**own, evaluation__signature=signature, evaluation__submission__status=Status.SCORED)
    of_submission = [f"evaluation__submission__{name}" for name in ("id", "file_name", "received_at", "final")]
    return scored.order_by("evaluation__submission__received_at").values_list(*of_submission, "value", "low", "high")


@compiled_query
def rescorings_of(*, phase: int) -> QuerySet[Rescoring, tuple]:
    """Return the times at which the rescorings of a phase were applied, in chronological order."""
    applied = Rescoring.objects.filter(phase=phase, applied_at__isnull=False)
    return applied.order_by("applied_at").values_list("applied_at")


def score_chart(scores: Sequence[OwnScore], *, phase: Phase, access: ScoreAccess, address: str) -> ScoreChart | None:
    """Return a chart of a team's most recent scores, or None if there are fewer than two scores.

    `address` is the URL of a submission's page, with `{}` in place of the id.
    """
    if len(scores) < 2:
        return None
    shown = scores[-POINTS_SHOWN:]
    drawing = Drawing(shown, decimals=access.decimals)
    highest = list(accumulate((one.score for one in scores), max))
    best = highest[-len(shown) :]
    earlier = [None, *highest][-len(shown) - 1 : -1]
    tops = [before is None or one.score > before for one, before in zip(shown, earlier, strict=True)]
    applied = [moment for (moment,) in rescorings_of(phase=phase.pk)]
    return ScoreChart(
        intervals=drawing.intervals(),
        best=drawing.steps(best),
        dots=drawing.dots([not top for top in tops]),
        tops=drawing.dots(tops),
        targets=drawing.targets(address),
        y_ticks=[(drawing.y_of(tick.value), tick.text) for tick in drawing.axis.ticks],
        x_ticks=drawing.date_ticks(),
        rescored=[(x, utc_minute(moment)) for moment in applied if (x := drawing.border_at(moment)) is not None],
        description=drawing.description(),
        left_out=len(scores) - len(shown),
    )


class Drawing:
    """Converts a team's scores to the coordinates and labels of a chart.

    Points are equally spaced instead of placed by time, because teams often make many submissions in a short time.
    """

    def __init__(self, scores: Sequence[OwnScore], *, decimals: int | None) -> None:
        self.scores = scores
        self.decimals = SHOWN if decimals is None else min(SHOWN, decimals)
        self.step = WIDTH / len(scores)
        self.xs = [round((index + 0.5) * self.step, 1) for index in range(len(scores))]
        low, high = field_range(one.interval or (one.score, one.score) for one in scores) or (0.0, 1.0)
        self.axis = ScoreAxis(low, high) if high > low else ScoreAxis(low - ROOM, high + ROOM)

    def y_of(self, score: float) -> float:
        return round(HEIGHT - MARGIN - self.axis.share(score) * (HEIGHT - 2 * MARGIN), 1)

    def intervals(self) -> str:
        """Return the SVG path of all confidence intervals, with a vertical line for each interval."""
        ends = ((x, one.interval) for x, one in zip(self.xs, self.scores, strict=True) if one.interval)
        return "".join(f"M{x:g} {self.y_of(low):g}V{self.y_of(high):g}" for x, (low, high) in ends)

    def steps(self, best: Sequence[float]) -> str:
        """Return the SVG path of the best score so far, with a step at each new best score."""
        rises = "".join(f"H{x:g}V{self.y_of(score):g}" for x, score in zip(self.xs[1:], best[1:], strict=True))
        return f"M{self.xs[0]:g} {self.y_of(best[0]):g}{rises}"

    def dots(self, chosen: Sequence[bool]) -> str:
        """Return an SVG path with a dot for each score that `chosen` selects. A line of length 0 appears as a dot."""
        points = zip(self.xs, self.scores, chosen, strict=True)
        return "".join(f"M{x:g} {self.y_of(one.score):g}h0" for x, one, is_chosen in points if is_chosen)

    def targets(self, address: str) -> SafeString:
        """Return the HTML with a link for each point. The clickable area is as wide as the distance between points."""
        width = round(self.step, 2)
        texts = map(self.text, self.scores)
        rows = (
            (address.format(one.submission), text, round(x - self.step / 2, 1), width, text)
            for x, one, text in zip(self.xs, self.scores, texts, strict=True)
        )
        return format_html_join("", POINT, rows)

    def text(self, one: OwnScore) -> str:
        """Return the text that describes a point of the chart: score, interval, file name and time."""
        interval = f" (95%: {interval_text(one.interval, decimals=self.decimals)})" if one.interval else ""
        return f"{written(one.score, self.decimals)}{interval}, {one.file_name}, {utc_minute(one.received_at)}"

    def date_ticks(self) -> list[tuple[float, str]]:
        """Return the ticks of the x axis as pairs (x as a percentage of the width, date).

        The ticks are at evenly distributed points. If several points have the same date, only the first gets a tick.
        """
        count = len(self.scores)
        chosen = sorted({round(number * (count - 1) / (TICKS - 1)) for number in range(TICKS)})
        texts = {index: date(self.scores[index].received_at) for index in chosen}
        ticks: list[tuple[float, str]] = []
        for index, text in texts.items():
            if not ticks or ticks[-1][1] != text:
                ticks.append((round(self.xs[index] * 100 / WIDTH, 1), text))
        return ticks

    def border_at(self, moment: datetime) -> float | None:
        """Return the x coordinate midway between the last point before the given time and the next point.

        Return None if there is no earlier point.
        """
        before = sum(one.received_at < moment for one in self.scores)
        return round(before * self.step, 1) if before else None

    def description(self) -> str:
        values = [one.score for one in self.scores]
        low, high = (written(value, self.decimals) for value in (min(values), max(values)))
        return f"Public scores of {len(values)} submissions, oldest first, between {low} and {high}"
