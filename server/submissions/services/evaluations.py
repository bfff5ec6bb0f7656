"""Writes evaluations: their scores, and later their intervals, bootstrap replicates and explanations."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from evaluator import __version__
from server.challenges.models import Truth
from server.compiled_queries import compiled_query
from server.sql import execute, insert
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
    insert(scores_of(evaluation, report))
    return evaluation


def scores_of(evaluation: Evaluation, report: dict[str, Any]) -> Iterator[Score]:
    """Yield a row for each score in a report, with its confidence interval if the report has one."""
    for name, split in report["splits"].items():
        for metric, value in split["metrics"].items():
            yield Score(evaluation=evaluation, split=name, metric=metric, value=value, **interval_fields(split, metric))


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
    """Write the confidence intervals in a report to the matching evaluation, or to a new one if there is none.

    Raises NotReproducible if the scores in the report differ from those of the evaluation.
    """
    found = find_same(submission, truth=truth, report=report)
    if found is None:
        return write(submission, truth=truth, report=report, cpu_seconds=cpu_seconds, now=now)
    with_ends = [one for one in scores_of(found, report) if one.low is not None]
    insert(with_ends, unique=("evaluation", "split", "metric"), renewed=("low", "high"))
    return found


def find_same(submission: Submission, *, truth: Truth, report: dict[str, Any]) -> Evaluation | None:
    """Return the submission's recorded evaluation that corresponds to a report, or None if there is none.

    The evaluation and the report must have the same ground truth, evaluator version and evaluation signature. The
    stored report, which is large, is not read.

    Raises NotReproducible if the evaluation's scores differ from the report's.
    """
    found = next(iter(same(submission=submission.pk, truth=truth.pk, signature=report["signature"])), None)
    if found is None:
        return None
    # Reuse the caller's submission, whose phase is already loaded. Otherwise, both would be read again.
    found.submission = submission
    recorded = {(split, metric): value for split, metric, value in values_of(evaluation=found.pk)}
    if recorded != {(one.split, one.metric): one.value for one in scores_of(found, report)}:
        raise NotReproducible(
            f"evaluation {found.pk} of submission {submission.pk} gave different scores when it was repeated"
        )
    return found


@compiled_query
def same(*, submission: UUID, truth: int, signature: str) -> QuerySet[Evaluation]:
    found = Evaluation.objects.filter(submission=submission, truth=truth, signature=signature)
    return found.filter(evaluator_version=__version__).defer("report").order_by()


@compiled_query
def values_of(*, evaluation: int) -> QuerySet[Score, tuple[str, str, float | None]]:
    return Score.objects.filter(evaluation=evaluation).order_by().values_list("split", "metric", "value")


def write_replicates(evaluation: Evaluation, vectors: Mapping[str, bytes]) -> None:
    """Replace the bootstrap replicates of the headline metric. `vectors` maps splits to float64 values as bytes."""
    execute("DELETE FROM submissions_replicates WHERE evaluation_id = %s", [evaluation.pk])
    insert(
        Replicates(evaluation=evaluation, split=split, seed=SEED, count=len(values) // FLOAT64_BYTES, values=values)
        for split, values in vectors.items()
    )


def write_explanation(evaluation: Evaluation, contents: Mapping[str, bytes]) -> None:
    """Replace the explanations of an evaluation's scores. `contents` maps each split to compressed JSON."""
    execute("DELETE FROM submissions_explanation WHERE evaluation_id = %s", [evaluation.pk])
    insert(Explanation(evaluation=evaluation, split=split, content=content) for split, content in contents.items())
