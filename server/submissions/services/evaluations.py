"""What a scoring leaves behind: its evaluation, one row a number, and later the intervals."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from evaluator import __version__
from server.challenges.models import Truth
from server.submissions.models import Evaluation, Explanation, Replicates, Score, Submission

FLOAT64_BYTES = 8
SEED = 0  # one for all: only replicates of equal draws can be compared in pairs


class Unrepeatable(Exception):
    """A second scoring of the same file against the same truth gave other numbers than the first."""


def write(
    submission: Submission, *, truth: Truth, report: dict[str, Any], cpu_seconds: float, now: datetime
) -> Evaluation:
    """Write the rows of a new evaluation."""
    splits: dict[str, dict[str, Any]] = report["splits"]
    evaluation = Evaluation.objects.create(
        submission=submission,
        truth=truth,
        evaluator_version=__version__,
        signature=report["signature"],
        report={**report, "splits": {name: without_scores(split) for name, split in splits.items()}},
        cpu_seconds=cpu_seconds,
        created_at=now,
    )
    Score.objects.bulk_create(
        Score(evaluation=evaluation, split=name, metric=metric, value=value, **ends(split, metric))
        for name, split in splits.items()
        for metric, value in split["metrics"].items()
    )
    return evaluation


def without_scores(split: dict[str, Any]) -> dict[str, Any]:
    """Metrics and intervals are rows of their own; the report keeps the rest."""
    return {name: value for name, value in split.items() if name not in ("metrics", "intervals")}


def ends(split: dict[str, Any], metric: str) -> dict[str, float]:
    low_and_high = split["intervals"].get(metric)
    return dict(zip(("low", "high"), low_and_high, strict=True)) if low_and_high else {}


def write_again(
    submission: Submission, *, truth: Truth, report: dict[str, Any], cpu_seconds: float, now: datetime
) -> Evaluation:
    """Give the recorded evaluation its intervals, or write it where there is none. Raises Unrepeatable."""
    found = same(submission, truth=truth, report=report)
    if found is None:
        return write(submission, truth=truth, report=report, cpu_seconds=cpu_seconds, now=now)
    scores = list(found.scores.all())
    for score in scores:
        for end, value in ends(report["splits"][score.split], score.metric).items():
            setattr(score, end, value)
    Score.objects.bulk_update(scores, ["low", "high"])
    return found


def same(submission: Submission, *, truth: Truth, report: dict[str, Any]) -> Evaluation | None:
    """Return the recorded evaluation of the same kind, if there is one. Raises Unrepeatable."""
    found = Evaluation.objects.filter(
        submission=submission, truth=truth, evaluator_version=__version__, signature=report["signature"]
    ).first()
    if found is None:
        return None
    metrics = {name: split["metrics"] for name, split in report["splits"].items()}
    if {(one.split, one.metric): one.value for one in found.scores.all()} != {
        (split, metric): value for split, values in metrics.items() for metric, value in values.items()
    }:
        raise Unrepeatable(f"evaluation {found.pk} of submission {submission.pk} has other scores the second time")
    return found


def write_replicates(evaluation: Evaluation, vectors: Mapping[str, bytes]) -> None:
    """Keep the headline's replicates by split, float64 one after another."""
    evaluation.replicates.all().delete()
    Replicates.objects.bulk_create(
        Replicates(evaluation=evaluation, split=split, seed=SEED, count=len(values) // FLOAT64_BYTES, values=values)
        for split, values in vectors.items()
    )


def write_explanation(evaluation: Evaluation, contents: Mapping[str, bytes]) -> None:
    """Keep what explains the scores, by split."""
    evaluation.explanations.all().delete()
    Explanation.objects.bulk_create(
        Explanation(evaluation=evaluation, split=split, content=content) for split, content in contents.items()
    )
