"""Finds the hidden truth that a submission is scored against, and restores it where its file is damaged."""

import logging
from fcntl import LOCK_EX, flock
from pathlib import Path

from celery.exceptions import SoftTimeLimitExceeded

from evaluator.problems import DamagedTruth, Findings, InvalidParameters, InvalidTruth, Problem
from evaluator.truth import Truth as PreparedTruth
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
    """Prepare a truth again from its kept source: its prepared file is damaged, of another version, or
    another truth's.

    One process does so at a time; who waited for it finds the file sound. It costs the submission nothing: running out
    of time here is not its doing. Raises Unrestorable.
    """
    log.warning("%s: %s", truth, error)
    try:
        with Path(truth.source.path).open("rb") as source:
            flock(source, LOCK_EX)  # until it is closed
            if not is_sound(truth):
                prepare_again(truth)
                log.warning("%s was prepared again from its source", truth)
    except (OSError, SoftTimeLimitExceeded) as failure:
        raise Unrestorable(f"{truth} cannot be prepared again: {type(failure).__name__}") from failure


def is_sound(truth: Truth) -> bool:
    """Tell whether the prepared file is undamaged and belongs to this truth."""
    try:
        PreparedTruth.load(Path(truth.prepared.path), whole=True, expected=truth.sha256)
    except DamagedTruth:
        return False
    return True


def reason(error: InvalidTruth | InvalidParameters) -> str:
    """What a log may say about it: codes and places of a truth's faults, never what stands there."""
    if isinstance(error, InvalidParameters):
        return str(error)
    return "; ".join(f"{problem.code} in {problem.file}, line {problem.line}" for problem in error.problems)
