"""The report on a score: the results per class, curves and explanations that the viewer may see."""

import json
import zlib
from collections.abc import Iterable
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from evaluator.report_page.content import SplitDetail
from evaluator.report_page.tables import ReportRow
from server.compiled_queries import compiled_query
from server.submissions.feedback import ScoreAccess, current_evaluation, intervals_in, scores_in
from server.submissions.models import Evaluation, Explanation, Rerun, Submission

WITHHELD = (
    "The organizers of this phase do not show results per class or explanations, because they reveal a lot about the "
    "ground truth."
)


class ExplanationState(StrEnum):
    """Whether the explanation of a score, such as its curves, has been computed."""

    READY = "ready"
    PENDING = "pending"
    GIVEN_UP = "given_up"
    NONE = "none"


def details(evaluation: Evaluation, access: ScoreAccess, splits: Iterable[str]) -> dict[str, SplitDetail]:
    """Return the class results, tables and curves for each of the given splits that the viewer may see.

    Return an empty dict if the viewer may not see results per class.
    """
    shown = [split for split in splits if split in access.splits] if access.classes else []
    explained = {one.split: unpacked(one) for one in evaluation.explanations.filter(split__in=shown)} if shown else {}
    scored = stored_report(evaluation).get("splits", {}) if shown else {}
    return {split: detail(evaluation, scored.get(split, {}), explained.get(split, {}), access) for split in shown}


def stored_report(evaluation: Evaluation) -> dict[str, Any]:
    """Return the report of an evaluation. It is read separately, because it is large."""
    if "report" not in vars(evaluation):
        ((evaluation.report,),) = reports_of(evaluation=evaluation.pk)
    report: dict[str, Any] = evaluation.report
    return report


@compiled_query
def reports_of(*, evaluation: int) -> QuerySet[Any, Any]:
    return Evaluation.objects.filter(pk=evaluation).values_list("report")


def unpacked(explanation: Explanation) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(zlib.decompress(explanation.content))
    return content


def detail(evaluation: Evaluation, scored: ReportRow, explained: ReportRow, access: ScoreAccess) -> SplitDetail:
    """Return the results on a split from the report on the score (`scored`) and its explanation (`explained`).

    The explanation's table of classes is preferred, because it has additional columns.
    """
    track = evaluation.submission.phase.declared_track
    rows = {**explained.get("tables", {}), **scored}
    names = [table.name for table in (*track.tables, *track.explained_tables)]
    return SplitDetail(
        classes=rounded(explained.get("classes") or scored.get("classes", []), access),
        tables={name: rounded(rows[name], access) for name in names if rows.get(name)},
        left_out={name: count for name, count in explained.get("left_out", {}).items() if name not in scored},
        curves=rounded(explained.get("curves", []), access),
    )


def rounded(rows: Iterable[ReportRow], access: ScoreAccess) -> list[ReportRow]:
    """Return rows with rounded numbers.

    Pages must sort and draw only rounded numbers, because exact ones would reveal more digits.
    """

    if access.decimals is None:
        return list(rows)

    def shown(cell: Any) -> Any:
        if isinstance(cell, list):
            return [shown(one) for one in cell]
        return access.rounded(cell) if isinstance(cell, float) else cell

    return [{name: shown(cell) for name, cell in row.items()} for row in rows]


def explanation_state(submission: Submission, evaluation: Evaluation) -> ExplanationState:
    """Return whether the explanation of a score exists, is being computed, or will not be computed."""
    track = submission.phase.declared_track
    if not (track.explained_tables or track.curves):
        return ExplanationState.NONE
    if explained_splits(evaluation=evaluation.pk):
        return ExplanationState.READY
    reruns = reruns_of(submission=submission.pk, truth=evaluation.truth_id)
    if settings.EXPLANATION_MAX_BYTES and any(not failure for _, failure in reruns):
        # The explanation is computed after the confidence interval. It is also pending while the interval is pending.
        return ExplanationState.PENDING
    given_up = any(purpose == Rerun.Purpose.EXPLANATION and failure for purpose, failure in reruns)
    return ExplanationState.GIVEN_UP if given_up else ExplanationState.NONE


@compiled_query
def explained_splits(*, evaluation: int) -> QuerySet[Any, Any]:
    return Explanation.objects.filter(evaluation=evaluation).values_list("split")


@compiled_query
def reruns_of(*, submission: UUID, truth: int) -> QuerySet[Any, Any]:
    """Return (purpose, failure message) for each rerun of a submission against a ground truth."""
    return Rerun.objects.filter(submission=submission, truth=truth).values_list("purpose", "failure")


def visible_report(submission: Submission, *, access: ScoreAccess) -> dict[str, Any] | None:
    """Return the part of the current report that a viewer may read, or None if the submission has no score.

    Results per class, curves and errors reveal far more about the hidden ground truth than scores do. If the viewer
    may not see them, they are left out, and `withheld` is a sentence that explains this.
    """
    evaluation = current_evaluation(submission)
    if evaluation is None:
        return None
    report = stored_report(evaluation)
    scores, intervals = scores_in(submission, access), intervals_in(submission, access)
    shown = details(evaluation, access, scores)
    return {
        "track": submission.phase.track,
        "signature": evaluation.signature,
        "parameters": report.get("parameters", {}),
        "explanation": explanation_state(submission, evaluation) if access.classes else ExplanationState.NONE,
        "splits": {
            split: {
                "headline": submission.phase.declared_track.headline,
                "metrics": metrics,
                "intervals": intervals.get(split, {}),
                **as_json(shown.get(split)),
            }
            for split, metrics in scores.items()
        },
        "notices": report.get("notices", []),
        "withheld": None if access.classes else WITHHELD,
    }


def as_json(shown: SplitDetail | None) -> dict[str, Any]:
    if shown is None:
        return {"classes": None, "tables": {}, "left_out": {}, "curves": []}
    return {"classes": shown.classes, "tables": shown.tables, "left_out": shown.left_out, "curves": shown.curves}
