"""Finds the hidden truth that a submission is scored against, and restores it where its file is damaged."""

import logging
from pathlib import Path

from celery.exceptions import SoftTimeLimitExceeded

from evaluator.problems import DamagedTruth, Findings, InvalidParameters, InvalidTruth, Problem
from server.challenges.models import Phase, Truth
from server.organize.services.truths import Unrestorable, prepare_again

log = logging.getLogger(__name__)

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


def restore(truth: Truth, error: DamagedTruth) -> None:
    """Prepare a truth again from its kept source: its prepared file is damaged, or of another version.

    That costs the submission nothing: running out of time here is not its doing. Raises Unrestorable.
    """
    log.warning("%s is prepared again from its source: %s", truth, error)
    try:
        prepare_again(truth)
    except SoftTimeLimitExceeded as late:
        raise Unrestorable(f"{truth}: preparing it again took too long") from late


def reason(error: InvalidTruth | InvalidParameters) -> str:
    """What a log may say about it: codes and places of a truth's faults, never what stands there."""
    if isinstance(error, InvalidParameters):
        return str(error)
    return "; ".join(f"{problem.code} in {problem.file}, line {problem.line}" for problem in error.problems)
