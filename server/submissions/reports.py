"""The report of a score: the results per class, curves and explanations that a person may see."""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.conf import settings

from server.submissions.feedback import ScoreAccess, current_evaluation, intervals_in, score_access, scores_in
from server.submissions.models import Evaluation, Explanation, Rerun, Submission

ReportRow = Mapping[str, Any]

WITHHELD = (
    "The organizers of this phase do not show results per class or explanations, because they reveal much about the "
    "ground truth."
)


class ExplanationState(StrEnum):
    """Progress of the explanation of a score."""

    READY = "ready"
    PENDING = "pending"
    GIVEN_UP = "given_up"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SplitDetail:
    """Results of one split, rounded for the reader. `left_out` is the number of omitted rows of each table."""

    classes: list[ReportRow] = field(default_factory=list)
    tables: dict[str, list[ReportRow]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    curves: list[ReportRow] = field(default_factory=list)


def details(evaluation: Evaluation, access: ScoreAccess, splits: Iterable[str]) -> dict[str, SplitDetail]:
    """Return the visible results of these splits; empty if the phase shows no results per class."""
    shown = [split for split in splits if split in access.splits] if access.classes else []
    explained = {one.split: unpacked(one) for one in evaluation.explanations.filter(split__in=shown)} if shown else {}
    scored = evaluation.report.get("splits", {}) if shown else {}
    return {split: detail(evaluation, scored.get(split, {}), explained.get(split, {}), access) for split in shown}


def unpacked(explanation: Explanation) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(zlib.decompress(explanation.content))
    return content


def detail(evaluation: Evaluation, scored: ReportRow, explained: ReportRow, access: ScoreAccess) -> SplitDetail:
    """Merge the report of the scoring with the explanation, which adds columns for each class."""
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
    """Return rows with rounded numbers, so that neither their order nor a curve reveals more digits."""

    if access.decimals is None:
        return list(rows)

    def shown(cell: Any) -> Any:
        if isinstance(cell, list):
            return [shown(one) for one in cell]
        return access.rounded(cell) if isinstance(cell, float) else cell

    return [{name: shown(cell) for name, cell in row.items()} for row in rows]


def explanation_state(submission: Submission, evaluation: Evaluation) -> ExplanationState:
    """Return whether a score has an explanation, will get one, or will not get one."""
    track = submission.phase.declared_track
    if not (track.explained_tables or track.curves):
        return ExplanationState.NONE
    if evaluation.explanations.exists():
        return ExplanationState.READY
    reruns = [(one.purpose, one.failure) for one in submission.reruns.filter(truth=evaluation.truth_id)]
    if settings.EXPLANATION_MAX_BYTES and any(not failure for _, failure in reruns):
        return ExplanationState.PENDING  # a pending interval counts too, because the explanation is computed after it
    given_up = any(purpose == Rerun.Purpose.EXPLANATION and failure for purpose, failure in reruns)
    return ExplanationState.GIVEN_UP if given_up else ExplanationState.NONE


def visible_report(submission: Submission, *, viewer: Any, now: datetime) -> dict[str, Any] | None:
    """Return the part of the current report that `viewer` may read; None if the submission has no score.

    Results per class, curves and errors reveal far more about the hidden truth than scores. If the organizers do not
    show them, they are left out and `withheld` is true.
    """
    evaluation = current_evaluation(submission)
    if evaluation is None:
        return None
    access, report = score_access(submission.phase, viewer=viewer, now=now), evaluation.report
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
