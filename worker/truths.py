"""Finds the hidden truth that a submission is scored against, and restores it where its file is damaged."""

import logging

from celery.exceptions import SoftTimeLimitExceeded

from evaluator.problems import DamagedTruth, Findings, InvalidParameters, InvalidTruth, Problem
from server.challenges.models import Phase, Truth
from server.organize.services.truths import Unrestorable, prepare_again

log = logging.getLogger(__name__)

BROKEN_TRUTH = (
    "The hidden truth or the settings of this phase cannot be used for scoring. "
    "Write to the organizers, and submit again when it is mended. Your quota was given back."
)


def active_truth(phase: Phase) -> Truth:
    """Return the phase's truth, or raise InvalidTruth where it has none."""
    truth = phase.truth
    if truth is None:
        missing = Problem("truth_missing_file", "the phase has no active truth", file=str(phase))
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
