"""The scores of a submission by metric and split, as shown on its page."""

from dataclasses import dataclass

from evaluator.catalog import Metric
from evaluator.digits import Interval
from evaluator.report_page.content import SPLIT_TITLES, shown_splits
from server.submissions import feedback
from server.submissions.models import Submission


@dataclass(frozen=True, slots=True)
class ShownScore:
    """The value of a metric and its confidence interval. An undefined value is None."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Result:
    """The scores of a submission that the viewer may see.

    `headline` is the headline score on the private split or, if the viewer may not see it, on the public split. `rows`
    contains all metrics on all visible splits.
    """

    metric: Metric
    headline: ShownScore
    headline_split: str
    splits: list[str]
    rows: list[tuple[Metric, list[ShownScore]]]
    decimals: int | None
    signature: str

    @property
    def has_more(self) -> bool:
        """Whether there are scores to show in addition to the headline score."""
        return len(self.rows) > 1 or len(self.splits) > 1

    @property
    def headline_title(self) -> str:
        """The title of the headline metric, followed by the name of the split if there are several splits."""
        return f"{self.metric.title}, {self.headline_split}" if len(self.splits) > 1 else self.metric.title

    @property
    def split_titles(self) -> list[str]:
        return [SPLIT_TITLES[split] for split in self.splits]


def result_of(submission: Submission, access: feedback.ScoreAccess) -> Result | None:
    """Return the scores of a submission that the viewer may see, or None if there are none."""
    evaluation = feedback.shown_evaluation(submission, access)
    values = feedback.scores_in(submission, access)
    intervals = feedback.intervals_in(submission, access)
    metrics = submission.phase.declared_track.metrics
    if evaluation is None or not values:
        return None

    def score(split: str, metric: Metric) -> ShownScore:
        return ShownScore(values[split].get(metric.name), intervals.get(split, {}).get(metric.name))

    splits = shown_splits(values)
    deciding = "private" if "private" in splits else splits[0]
    return Result(
        metric=metrics[0],
        headline=score(deciding, metrics[0]),
        headline_split=deciding,
        splits=splits,
        rows=[(metric, [score(split, metric) for split in splits]) for metric in metrics],
        decimals=access.decimals,
        signature=evaluation.signature,
    )
