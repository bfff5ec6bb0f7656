"""A scored submission's numbers as its page lays them out: metrics by split, the headline first."""

from dataclasses import dataclass

from evaluator.catalog import Metric
from evaluator.digits import Interval
from server.submissions import feedback
from server.submissions.models import Submission

SPLITS = {"public": "Public", "private": "Private", "all": "All"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a result, undefined where its value is None."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Result:
    """The headline of the most telling split, and every other metric on every split that may be seen."""

    metric: Metric
    headline: Cell
    headline_split: str
    splits: list[str]
    rows: list[tuple[Metric, list[Cell]]]
    decimals: int | None
    signature: str

    @property
    def has_more(self) -> bool:
        """Whether there is any number beside the headline."""
        return len(self.rows) > 1 or len(self.splits) > 1

    @property
    def headline_title(self) -> str:
        """The metric, and its split where there are several."""
        return f"{self.metric.title}, {self.headline_split}" if len(self.splits) > 1 else self.metric.title

    @property
    def split_titles(self) -> list[str]:
        return [SPLITS[split] for split in self.splits]


def result_of(submission: Submission, sight: feedback.Sight) -> Result | None:
    """Collect what may be seen; None where no evaluation is there to be read."""
    evaluation = feedback.shown_evaluation(submission, sight)
    values = feedback.scores_in(submission, sight)
    intervals = feedback.intervals_in(submission, sight)
    metrics = submission.phase.declared_track.metrics
    if evaluation is None or not values:
        return None

    def cell(split: str, metric: Metric) -> Cell:
        return Cell(values[split].get(metric.name), intervals.get(split, {}).get(metric.name))

    splits = [split for split in SPLITS if split in values]
    if values.get("all") == values.get("public") and "private" not in values:
        splits = ["public"]  # everything is public: a second column would say the same
    final = "private" if "private" in splits else splits[0]
    return Result(
        metric=metrics[0],
        headline=cell(final, metrics[0]),
        headline_split=final,
        splits=splits,
        rows=[(metric, [cell(split, metric) for split in splits]) for metric in metrics],
        decimals=sight.decimals,
        signature=evaluation.signature,
    )
