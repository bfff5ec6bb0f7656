"""What a person may read of a score beside its numbers: class by class, curves, and why it is what it is."""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.conf import settings

from server.submissions.feedback import Sight, current_evaluation, intervals_in, scores_in, sight
from server.submissions.models import Evaluation, Explanation, Rerun, Submission

Row = Mapping[str, Any]

WITHHELD = "The organizers of this phase show no results per class and no explanations: both tell much about the truth."


class State(StrEnum):
    """How far the explanation of a score is."""

    READY = "ready"
    PENDING = "pending"
    GIVEN_UP = "given_up"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Detail:
    """One split, with the digits that its reader may see. `left_out`: how many rows a table had more."""

    classes: list[Row] = field(default_factory=list)
    tables: dict[str, list[Row]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    curves: list[Row] = field(default_factory=list)


def details(evaluation: Evaluation, seen: Sight, splits: Iterable[str]) -> dict[str, Detail]:
    """Return what may be seen of these splits; nothing where the phase shows no classes."""
    shown = [split for split in splits if split in seen.splits] if seen.classes else []
    told = {one.split: unpacked(one) for one in evaluation.explanations.filter(split__in=shown)} if shown else {}
    scored = evaluation.report.get("splits", {}) if shown else {}
    return {split: detail(evaluation, scored.get(split, {}), told.get(split, {}), seen) for split in shown}


def unpacked(explanation: Explanation) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(zlib.decompress(explanation.content))
    return content


def detail(evaluation: Evaluation, scored: Row, told: Row, seen: Sight) -> Detail:
    """Put together what a scoring and its explanation say of one split; the second says the more of classes."""
    track = evaluation.submission.phase.declared_track
    rows = {**told.get("tables", {}), **scored}
    names = [table.name for table in (*track.tables, *track.explained_tables)]
    return Detail(
        classes=rounded(told.get("classes") or scored.get("classes", []), seen),
        tables={name: rounded(rows[name], seen) for name in names if rows.get(name)},
        left_out={name: count for name, count in told.get("left_out", {}).items() if name not in scored},
        curves=rounded(told.get("curves", []), seen),
    )


def rounded(rows: Iterable[Row], seen: Sight) -> list[Row]:
    """Return rows with the digits that may be seen, so that no order and no curve tells what they do not."""

    if seen.decimals is None:
        return list(rows)

    def shown(cell: Any) -> Any:
        if isinstance(cell, list):
            return [shown(one) for one in cell]
        return seen.rounded(cell) if isinstance(cell, float) else cell

    return [{name: shown(cell) for name, cell in row.items()} for row in rows]


def state_of(submission: Submission, evaluation: Evaluation) -> State:
    """Tell whether the score is explained, or will be."""
    track = submission.phase.declared_track
    if not (track.explained_tables or track.curves):
        return State.NONE
    if evaluation.explanations.exists():
        return State.READY
    asked = submission.reruns.filter(truth=evaluation.truth_id)
    waiting = [(one.purpose, one.failure) for one in asked]
    if settings.EXPLANATION_MAX_BYTES and any(not failure for _, failure in waiting):
        return State.PENDING  # an explanation comes after the intervals
    given_up = any(purpose == Rerun.Purpose.EXPLANATION and failure for purpose, failure in waiting)
    return State.GIVEN_UP if given_up else State.NONE


def visible_report(submission: Submission, *, viewer: Any, now: datetime) -> dict[str, Any] | None:
    """What `viewer` may read of the current report, None where nothing is scored.

    Metrics are shown as anywhere else. Rows per class, curves and errors tell far more about hidden truth: without the
    organizers' leave they are left out, and `withheld` says so.
    """
    evaluation = current_evaluation(submission)
    if evaluation is None:
        return None
    seen, report = sight(submission.phase, viewer=viewer, now=now), evaluation.report
    scores, intervals = scores_in(submission, seen), intervals_in(submission, seen)
    told = details(evaluation, seen, scores)
    return {
        "track": submission.phase.track,
        "signature": evaluation.signature,
        "parameters": report.get("parameters", {}),
        "explanation": state_of(submission, evaluation) if seen.classes else State.NONE,
        "splits": {
            split: {
                "headline": submission.phase.declared_track.headline,
                "metrics": metrics,
                "intervals": intervals.get(split, {}),
                **in_words(told.get(split)),
            }
            for split, metrics in scores.items()
        },
        "notices": report.get("notices", []),
        "withheld": None if seen.classes else WITHHELD,
    }


def in_words(told: Detail | None) -> dict[str, Any]:
    if told is None:
        return {"classes": None, "tables": {}, "left_out": {}, "curves": []}
    return {"classes": told.classes, "tables": told.tables, "left_out": told.left_out, "curves": told.curves}
