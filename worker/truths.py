"""Finds the hidden truth that a submission is scored against."""

from pathlib import Path

from evaluator.problems import Findings, InvalidParameters, InvalidTruth, Problem
from server.challenges.models import Phase, Truth

BROKEN_TRUTH = (
    "The hidden truth or the settings of this phase cannot be used for scoring. "
    "Write to the organizers, and submit again when it is mended. Your quota was given back."
)


def readable(truth: Truth | None, phase: Phase) -> Truth:
    """Return the truth, or raise InvalidTruth where the phase has none or its file is gone."""
    if truth is None or not Path(truth.prepared.path).is_file():
        missing = Problem("truth_missing_file", "the phase has no truth that can be read", file=str(phase))
        raise InvalidTruth(Findings.of(missing))
    return truth


def reason(error: InvalidTruth | InvalidParameters) -> str:
    """What a log may say about it: codes and places of a truth's faults, never what stands there."""
    if isinstance(error, InvalidParameters):
        return str(error)
    return "; ".join(f"{problem.code} in {problem.file}, line {problem.line}" for problem in error.problems)
