"""Writes evaluations: their scores, and later their intervals, bootstrap replicates and explanations."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from evaluator import __version__
from server.challenges.models import Truth
from server.sql import insert
from server.submissions.models import Evaluation, Explanation, Replicates, Score, Submission

FLOAT64_BYTES = 8
# The bootstrap seed is the same for all submissions, so that their scores can be compared replicate by replicate.
SEED = 0


class NotReproducible(Exception):
    """Raised if a second scoring of a file against the same ground truth produced different scores."""


def write(
    submission: Submission, *, truth: Truth, report: dict[str, Any], cpu_seconds: float, now: datetime
) -> Evaluation:
    """Write a new evaluation of a submission, with its scores, to the database."""
    splits: dict[str, dict[str, Any]] = report["splits"]
    evaluation = Evaluation(
        submission=submission,
        truth=truth,
        evaluator_version=__version__,
        signature=report["signature"],
        report={**report, "splits": {name: without_scores(split) for name, split in splits.items()}},
        cpu_seconds=cpu_seconds,
        created_at=now,
    )
    insert([evaluation])
    insert(
        Score(evaluation=evaluation, split=name, metric=metric, value=value, **interval_fields(split, metric))
        for name, split in splits.items()
        for metric, value in split["metrics"].items()
    )
    return evaluation


def without_scores(split: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a split's report that is stored as JSON. Metrics and intervals are stored in separate rows."""
    return {name: value for name, value in split.items() if name not in ("metrics", "intervals")}


def interval_fields(split: dict[str, Any], metric: str) -> dict[str, float]:
    """Return the fields `low` and `high` for a metric's confidence interval, or an empty dict if it has none."""
    ends = split["intervals"].get(metric)
    return dict(zip(("low", "high"), ends, strict=True)) if ends else {}


def add_intervals(
    submission: Submission, *, truth: Truth, report: dict[str, Any], cpu_seconds: float, now: datetime
) -> Evaluation:
    """Write confidence intervals to the recorded evaluation, or to a new one if none is recorded.

    Raises NotReproducible if the scores differ from the recorded ones.
    """
    found = find_same(submission, truth=truth, report=report)
    if found is None:
        return write(submission, truth=truth, report=report, cpu_seconds=cpu_seconds, now=now)
    scores = list(found.scores.all())
    for score in scores:
        for field, value in interval_fields(report["splits"][score.split], score.metric).items():
            setattr(score, field, value)
    Score.objects.bulk_update(scores, ["low", "high"])
    return found


def find_same(submission: Submission, *, truth: Truth, report: dict[str, Any]) -> Evaluation | None:
    """Return the submission's recorded evaluation that corresponds to a report, or None if there is none.

    The evaluation and the report must have the same ground truth, evaluator version and evaluation signature. The
    stored report, which is large, is not read.

    Raises NotReproducible if the evaluation's scores differ from the report's.
    """
    same = Evaluation.objects.filter(
        submission=submission, truth=truth, evaluator_version=__version__, signature=report["signature"]
    )
    found = same.defer("report").first()
    if found is None:
        return None
    metrics = {name: split["metrics"] for name, split in report["splits"].items()}
    if {(one.split, one.metric): one.value for one in found.scores.all()} != {
        (split, metric): value for split, values in metrics.items() for metric, value in values.items()
    }:
        raise NotReproducible(
            f"evaluation {found.pk} of submission {submission.pk} gave different scores when it was repeated"
        )
    return found


def write_replicates(evaluation: Evaluation, vectors: Mapping[str, bytes]) -> None:
    """Replace the bootstrap replicates of the headline metric. `vectors` maps splits to float64 values as bytes."""
    evaluation.replicates.all().delete()
    Replicates.objects.bulk_create(
        Replicates(evaluation=evaluation, split=split, seed=SEED, count=len(values) // FLOAT64_BYTES, values=values)
        for split, values in vectors.items()
    )


def write_explanation(evaluation: Evaluation, contents: Mapping[str, bytes]) -> None:
    """Replace the explanations of an evaluation's scores. `contents` maps each split to compressed JSON."""
    evaluation.explanations.all().delete()
    Explanation.objects.bulk_create(
        Explanation(evaluation=evaluation, split=split, content=content) for split, content in contents.items()
    )
