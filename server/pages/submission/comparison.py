"""Compares two submissions: the score difference with its interval, and the classes that differ most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from evaluator.catalog import Track
from evaluator.digits import Interval, sign_of
from evaluator.report_page.content import SPLIT_TITLES
from server.leaderboards.differences import difference_between, vectors_of
from server.leaderboards.queries import BoardRow, ShownBoard
from server.pages.formatting.svg import IntervalBar, interval_bar
from server.pages.submission.results import result_of
from server.submissions.feedback import ScoreAccess, current_evaluation, intervals_in, scores_in
from server.submissions.models import Evaluation, Submission
from server.submissions.reports import ReportRow, details

CLASSES_SHOWN = 10


class Verdict(StrEnum):
    """The result of comparing submission B with submission A."""

    BETTER = "better"
    WORSE = "worse"
    TIED = "tied"
    UNKNOWN = "unknown"


HEADINGS = {
    Verdict.BETTER: "B is better",
    Verdict.WORSE: "A is better",
    Verdict.TIED: "No significant difference",
    Verdict.UNKNOWN: "Not available yet",
}


@dataclass(frozen=True, slots=True)
class Side:
    """One of two compared submissions, with the headline score and interval that the viewer may see on one split."""

    score: float | None
    interval: Interval | None
    evaluation_id: int


@dataclass(frozen=True, slots=True)
class ClassDifferences:
    """A comparison of the results per class of two submissions, A and B.

    It contains the numbers of classes for which B is better than, worse than or equal to A, and the classes with the
    largest differences.
    """

    better: int
    worse: int
    equal: int
    most_gained: list[ReportRow]
    most_lost: list[ReportRow]


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between the headline scores of two submissions, B − A, on one split.

    All numbers are rounded as the feedback of the phase requires.
    """

    title: str
    metric: str
    a: float | None
    b: float | None
    a_interval: Interval | None
    b_interval: Interval | None
    difference: float | None
    interval: Interval | None
    verdict: Verdict
    bar: IntervalBar | None
    classes: ClassDifferences | None

    @property
    def heading(self) -> str:
        return HEADINGS[self.verdict]

    @property
    def explanation(self) -> str:
        """A sentence that explains the result of comparing the two submissions."""
        if self.verdict in (Verdict.BETTER, Verdict.WORSE):
            higher = "B" if self.verdict == Verdict.BETTER else "A"
            return (
                "The 95% interval of the difference does not include 0: on another set with the same number of "
                f"images, {higher} would probably still have the higher {self.metric}."
            )
        if self.verdict == Verdict.TIED:
            return (
                "The 95% interval of the difference includes 0: on another set with the same number of images, either "
                "could score higher."
            )
        if self.difference is None:
            return "One of the two scores is undefined."
        return "The interval of the difference will be shown when the intervals of both scores have been computed."


def differences(a: Submission, b: Submission, access: ScoreAccess) -> list[Difference]:
    """Return the score difference between two submissions for each split that the viewer may see.

    Return an empty list if the scores have different evaluation signatures. They were then computed with different
    parameters, ground truths or evaluator versions, so they are not comparable.
    """
    scored_a, scored_b = current_evaluation(a), current_evaluation(b)
    result = result_of(a, access)
    if scored_a is None or scored_b is None or result is None or scored_a.signature != scored_b.signature:
        return []
    return [difference_on(split, (a, b), (scored_a, scored_b), access) for split in result.splits]


def difference_on(
    split: str, pair: tuple[Submission, Submission], scored: tuple[Evaluation, Evaluation], access: ScoreAccess
) -> Difference:
    track = pair[0].phase.declared_track
    a, b = (
        Side(
            scores_in(one, access).get(split, {}).get(track.headline),
            intervals_in(one, access).get(split, {}).get(track.headline),
            evaluation.pk,
        )
        for one, evaluation in zip(pair, scored, strict=True)
    )
    found = difference_of(a, b, split, track, access)
    columns = track.class_columns
    return replace(found, classes=class_differences(scored, split, access, columns[0].name)) if columns else found


def difference_of_entries(a: BoardRow, b: BoardRow, board: ShownBoard, track: Track) -> Difference:
    """Return the score difference between the entries of two teams on a leaderboard.

    It contains no results per class, because a team may only see its own results per class.
    """
    first, second = (Side(one.score, one.interval, one.evaluation_id or 0) for one in (a, b))
    return difference_of(first, second, board.split, track, board.access)


def difference_of(a: Side, b: Side, split: str, track: Track, access: ScoreAccess) -> Difference:
    replicates = vectors_of((a.evaluation_id, b.evaluation_id), split=split)
    difference = None if a.score is None or b.score is None else access.rounded(b.score - a.score)
    vectors = replicates.get(b.evaluation_id), replicates.get(a.evaluation_id)
    exact = difference_between(*vectors, difference) if difference is not None else None
    interval = access.interval_of_difference(*exact) if exact is not None else None
    return Difference(
        title=SPLIT_TITLES[split],
        metric=track.metrics[0].title,
        a=a.score,
        b=b.score,
        a_interval=a.interval,
        b_interval=b.interval,
        difference=difference,
        interval=interval,
        verdict=verdict_of(interval),
        bar=bar_around_zero(difference, interval),
        classes=None,
    )


def verdict_of(interval: Interval | None) -> Verdict:
    """Return the verdict of a comparison, given the interval of the difference B − A.

    The verdict is "better" or "worse" if the interval does not include 0, "tied" if it does, and "unknown" if there is
    no interval.

    >>> [str(verdict_of(ends)) for ends in ((0.1, 0.2), (-0.2, -0.1), (0.0, 0.0), None)]
    ['better', 'worse', 'tied', 'unknown']
    """
    if interval is None:
        return Verdict.UNKNOWN
    return {1: Verdict.BETTER, -1: Verdict.WORSE, 0: Verdict.TIED}[sign_of(interval)]


def bar_around_zero(difference: float | None, interval: Interval | None) -> IntervalBar | None:
    """Return the bar for the interval of a score difference, on an axis with 0 in the middle."""
    if difference is None or interval is None:
        return None
    reach = max(abs(difference), *map(abs, interval)) or 1.0
    return interval_bar(difference, interval, (-reach, reach))


def class_differences(
    scored: tuple[Evaluation, Evaluation], split: str, access: ScoreAccess, metric: str
) -> ClassDifferences | None:
    """Compare the results per class of two submissions. Return None if the phase does not show results per class."""
    if not access.classes:
        return None
    a, b = (details(one, access, [split])[split].classes for one in scored)
    rows = common_classes(a, {row["label"]: row.get(metric) for row in b}, metric)
    rows.sort(key=lambda row: -row["difference"])
    better, worse = ([row for row in rows if row["difference"] * sign > 0] for sign in (1, -1))
    equal = len(rows) - len(better) - len(worse)
    return ClassDifferences(len(better), len(worse), equal, better[:CLASSES_SHOWN], worse[::-1][:CLASSES_SHOWN])


def common_classes(
    rows_of_a: Sequence[ReportRow], values_of_b: Mapping[str, float | None], metric: str
) -> list[ReportRow]:
    """Return the classes for which both submissions have a value, with the two values and their difference."""
    rows: list[ReportRow] = []
    for row in rows_of_a:
        a, b = row.get(metric), values_of_b.get(row["label"])
        if a is not None and b is not None:
            name = row["name"] or row["label"]
            rows.append({"label": row["label"], "name": name, "a": a, "b": b, "difference": b - a})
    return rows
