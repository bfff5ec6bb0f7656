"""Two entries of one team: how far apart they are, whether that is more than chance, and on which classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evaluator.digits import Interval
from server.leaderboards.ties import difference_between, vectors_of
from server.pages.drawing import Band, band
from server.pages.results import SPLITS, result_of
from server.submissions.feedback import Sight, current_evaluation, intervals_in, scores_in
from server.submissions.models import Evaluation, Submission
from server.submissions.reports import Row, details

SHOWN = 10


class Verdict(StrEnum):
    """What may be said of B."""

    BETTER = "better"
    WORSE = "worse"
    TIED = "tied"
    UNKNOWN = "unknown"


HEADINGS = {
    Verdict.BETTER: "B is better",
    Verdict.WORSE: "A is better",
    Verdict.TIED: "No significant difference",
    Verdict.UNKNOWN: "Not known yet",
}


@dataclass(frozen=True, slots=True)
class Classes:
    """Classes by how much B gains on A, of those that both define; `gained` and `lost` the largest first."""

    won: int
    lost: int
    even: int
    gained: list[Row]
    dropped: list[Row]


@dataclass(frozen=True, slots=True)
class Difference:
    """B - A of the headline on one split, with the digits that may be seen."""

    title: str
    metric: str
    a: float | None
    b: float | None
    a_interval: Interval | None
    b_interval: Interval | None
    difference: float | None
    interval: Interval | None
    verdict: Verdict
    drawn: Band | None
    classes: Classes | None

    @property
    def heading(self) -> str:
        return HEADINGS[self.verdict]

    @property
    def sentence(self) -> str:
        """What the verdict means."""
        if self.verdict in (Verdict.BETTER, Verdict.WORSE):
            higher = "B" if self.verdict == Verdict.BETTER else "A"
            return (
                f"The whole 95% interval of the difference lies on one side of 0: on other sets of the same number of "
                f"images, {higher} would probably still have the higher {self.metric}."
            )
        if self.verdict == Verdict.TIED:
            return (
                "The 95% interval of the difference includes 0: on another set of the same number of images, either "
                "could score higher."
            )
        if self.difference is None:
            return "One of the two scores is undefined."
        return "The interval of the difference is not available yet. Reload the page in a moment."


def compare(a: Submission, b: Submission, seen: Sight) -> list[Difference]:
    """Compare on every split that may be seen, the most telling one last; nothing where the scores are of two kinds."""
    ours, theirs = current_evaluation(a), current_evaluation(b)
    result = result_of(a, seen)
    if ours is None or theirs is None or result is None or ours.signature != theirs.signature:
        return []
    return [on_split(split, (a, b), (ours, theirs), seen) for split in result.splits]


def on_split(
    split: str, pair: tuple[Submission, Submission], scored: tuple[Evaluation, Evaluation], seen: Sight
) -> Difference:
    track = pair[0].phase.declared_track
    a, b = (scores_in(one, seen).get(split, {}).get(track.headline) for one in pair)
    ends = [intervals_in(one, seen).get(split, {}).get(track.headline) for one in pair]
    exact = interval_of(scored, split)
    difference = None if a is None or b is None else seen.rounded(b - a)
    known = difference is not None and exact is not None
    interval = seen.interval(*exact) if exact is not None and known else None
    return Difference(
        title=SPLITS[split],
        metric=track.metrics[0].title,
        a=a,
        b=b,
        a_interval=ends[0],
        b_interval=ends[1],
        difference=difference,
        interval=interval,
        verdict=verdict_of(interval),
        drawn=drawn(difference, interval),
        classes=classes_of(scored, split, seen, track.class_columns[0].name) if track.class_columns else None,
    )


def interval_of(scored: tuple[Evaluation, Evaluation], split: str) -> Interval | None:
    """Return the 95 % interval of B - A from the replicates kept; None without such of equal draws on both sides."""
    kept = vectors_of((one.pk for one in scored), split=split)
    ours, theirs = (kept.get(one.pk) for one in scored)
    return difference_between(theirs, ours)


def verdict_of(interval: Interval | None) -> Verdict:
    """Say more than "tied" only where the whole interval lies on one side of 0.

    >>> [str(verdict_of(ends)) for ends in ((0.1, 0.2), (-0.2, -0.1), (0.0, 0.0), None)]
    ['better', 'worse', 'tied', 'unknown']
    """
    if interval is None:
        return Verdict.UNKNOWN
    return Verdict.BETTER if interval[0] > 0 else Verdict.WORSE if interval[1] < 0 else Verdict.TIED


def drawn(difference: float | None, interval: Interval | None) -> Band | None:
    """Place the difference on a track with 0 in its middle."""
    if difference is None or interval is None:
        return None
    reach = max(abs(difference), *map(abs, interval)) or 1.0
    return band(difference, interval, (-reach, reach))


def classes_of(scored: tuple[Evaluation, Evaluation], split: str, seen: Sight, metric: str) -> Classes | None:
    """Compare class by class; None where the phase shows none."""
    if not seen.classes:
        return None
    ours, theirs = (details(one, seen, [split])[split].classes for one in scored)
    rows = both(ours, {row["label"]: row.get(metric) for row in theirs}, metric)
    rows.sort(key=lambda row: -row["difference"])
    gained, lost = ([row for row in rows if row["difference"] * sign > 0] for sign in (1, -1))
    even = len(rows) - len(gained) - len(lost)
    return Classes(len(gained), len(lost), even, gained[:SHOWN], lost[::-1][:SHOWN])


def both(ours: Sequence[Row], theirs: Mapping[str, float | None], metric: str) -> list[Row]:
    """Return the classes that both define, with their two values and the difference."""
    rows: list[Row] = []
    for row in ours:
        a, b = row.get(metric), theirs.get(row["label"])
        if a is not None and b is not None:
            name = row["name"] or row["label"]
            rows.append({"label": row["label"], "name": name, "a": a, "b": b, "difference": b - a})
    return rows
