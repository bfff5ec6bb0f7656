"""Computes the ceiling of a ground truth: the best possible score, and how many objects no prediction can match."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evaluator.catalog import TRACKS
from evaluator.problems import Findings, InvalidSubmission, Problem
from evaluator.report import ClassRow, Report
from evaluator.request import Resources, ScoringRequest
from evaluator.scoring import ceiling, score
from evaluator.texts import counted
from evaluator.unreachable import unreachable

TOLERANCE = 1e-9


def score_ceiling(
    track: str, truth: Path, out: Path, parameters: Mapping[str, Any], resources: Resources | None = None
) -> Report:
    """Write the best possible submission for a ground truth to ``out``, score it, and return the report.

    The predictions are exactly the objects in the ground truth. The file omits images without objects. Therefore, it is
    scored without the parameter that requires submissions to contain every image.

    Raises
    ------
    InvalidSubmission, InvalidTruth, DamagedTruth, PreparedOtherwise
    """
    chosen = without_required_images(track, parameters)
    ceiling(track, truth, out, parameters=chosen)
    return score(ScoringRequest(track, truth, out, parameters=chosen, resources=resources or Resources()))


def without_required_images(track: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the track parameters that allows a submission to omit images. Scores do not change."""
    is_optional = any(parameter.name == "require_all_images" for parameter in TRACKS[track].parameters)
    return {**parameters, **({"require_all_images": False} if is_optional else {})}


def ceilings(track: str, truth: Path, parameters: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the best possible score on each split, and the reasons why metrics are below 1.

    For each split, ``score`` is the headline metric of the best possible submission. ``unreachable`` is the number of
    objects that this submission does not match, or None if the track does not count objects. The other items are those
    of :func:`evaluator.unreachable.unreachable`. If the best possible submission is rejected, the result has only the
    split ``all``, with an undefined score.
    """
    with TemporaryDirectory(prefix="podium-ceiling-") as folder:
        try:
            report = score_ceiling(track, truth, Path(folder) / f"ceiling.{TRACKS[track].form.suffix}", parameters)
        except InvalidSubmission:
            return {"all": {"score": None, "unreachable": None}}
    found = ceilings_of(report)
    return {name: {**found[name], **unreachable(track, split, parameters)} for name, split in report.splits.items()}


def ceilings_of(report: Report) -> dict[str, dict[str, Any]]:
    """Return the values ``score`` and ``unreachable`` of :func:`ceilings` for each split.

    ``report`` is the report on the best possible submission.
    """
    return {
        name: {"score": split.metrics[split.headline], "unreachable": _unreachable(split.classes)}
        for name, split in report.splits.items()
    }


def _unreachable(rows: list[ClassRow]) -> float | None:
    if rows and all("true_positives" in row for row in rows):
        return float(sum(float(row["truths"] or 0) - float(row["true_positives"] or 0) for row in rows))
    return None


def add_ceiling_warnings(found: Mapping[str, Mapping[str, Any]], warnings: Findings) -> None:
    """Record a warning for each split whose best possible score is below 1 or undefined."""
    for split, one in found.items():
        if one["score"] is None:
            reason = "there are no objects, or this submission is rejected"
            message = f"the ground truth, scored as a submission, has no score on split {split}: {reason}"
            warnings.add(Problem("truth_undefined", message))
        elif one["score"] < 1 - TOLERANCE:
            lost = "" if one["unreachable"] is None else f"; {counted(one['unreachable'], 'object')} cannot be matched"
            message = f"the ground truth, scored as a submission, gets {one['score']:.5f} on split {split}{lost}"
            warnings.add(Problem("truth_ceiling", message))
