"""Computes the ceiling of a truth: its score as a submission, and the number of objects that cannot be matched."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evaluator.catalog import TRACKS
from evaluator.problems import Findings, InvalidSubmission, Problem
from evaluator.report import ClassRow
from evaluator.request import ScoringRequest
from evaluator.scoring import ceiling, score

TOLERANCE = 1e-9


def ceilings(track: str, truth: Path, parameters: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return for each split the headline ``score``, and ``unreachable``, the number of objects that are not matched.

    ``unreachable`` is None if the track does not count objects. If the truth is rejected as a submission, there is only
    the split ``all``, with an undefined score.
    """
    optional = (
        {"require_all_images": False} if any(p.name == "require_all_images" for p in TRACKS[track].parameters) else {}
    )
    chosen = {**parameters, **optional}
    with TemporaryDirectory(prefix="podium-ceiling-") as folder:
        best = Path(folder) / f"ceiling.{TRACKS[track].form.suffix}"
        ceiling(track, truth, best, parameters=chosen)
        try:
            report = score(ScoringRequest(track, truth, best, parameters=chosen))
        except InvalidSubmission:
            return {"all": {"score": None, "unreachable": None}}
    return {
        name: {"score": split.metrics[split.headline], "unreachable": _unreachable(split.classes)}
        for name, split in report.splits.items()
    }


def _unreachable(rows: list[ClassRow]) -> float | None:
    if rows and all("true_positives" in row for row in rows):
        return float(sum(float(row["truths"] or 0) - float(row["true_positives"] or 0) for row in rows))
    return None


def add_ceiling_warnings(found: Mapping[str, Mapping[str, Any]], warnings: Findings) -> None:
    """Add a warning for each split whose ceiling is below 1 or undefined."""
    for split, one in found.items():
        if one["score"] is None:
            reason = "there are no objects, or this submission is rejected"
            message = f"the truth as a submission has no score on split {split}: {reason}"
            warnings.add(Problem("truth_undefined", message))
        elif one["score"] < 1 - TOLERANCE:
            lost = "" if one["unreachable"] is None else f"; {one['unreachable']:g} objects cannot be matched"
            message = f"the truth as a submission scores {one['score']:.5f} on split {split}{lost}"
            warnings.add(Problem("truth_ceiling", message))
