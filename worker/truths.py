"""Selects the ground truth to score a submission against, and restores it if its prepared file cannot be used."""

import logging
from fcntl import LOCK_EX, flock
from pathlib import Path

from evaluator.problems import DamagedTruth, Findings, InvalidParameters, InvalidTruth, PreparedOtherwise, Problem
from evaluator.tracks.compiling import refuse_prepared_otherwise
from evaluator.truth import Truth as PreparedTruth
from server.challenges.models import Phase, Truth
from server.organize.services.truths import Unrestorable, prepare_again

log = logging.getLogger(__name__)

UNUSABLE_TRUTH = (
    "The hidden ground truth or the settings of this phase cannot be used for scoring. "
    "Write to the organizers, and submit again when they have fixed it. This does not count against your quota."
)


def active_truth(phase: Phase) -> Truth:
    """Return the phase's active truth. Raises InvalidTruth if it has none."""
    truth = phase.truth
    if truth is None:
        missing = Problem("truth_missing_file", "the phase has no active truth", file=str(phase))
        raise InvalidTruth(Findings.of(missing))
    return truth


def restore(truth: Truth, error: DamagedTruth | PreparedOtherwise) -> None:
    """Prepare a truth again from its stored source, because its prepared file cannot be used.

    The file is damaged, or was prepared by another version of the evaluator, or with other settings of the phase.

    One process does so at a time; the others wait and then find the file intact. The submission is not charged for the
    CPU time that this takes. Raises Unrestorable. A restoration that takes longer than an attempt may counts as one.
    """
    log.warning("%s: %s", truth, error)
    try:
        with Path(truth.source.path).open("rb") as source:
            flock(source, LOCK_EX)  # released when the file is closed
            if not is_intact(truth):
                prepare_again(truth)
                log.warning("%s was prepared again from its source", truth)
    except OSError as failure:
        raise Unrestorable(f"{truth} cannot be prepared again: {type(failure).__name__}") from failure


def is_intact(truth: Truth) -> bool:
    """Return whether the prepared file is undamaged, belongs to this truth, and fits the settings of its phase."""
    track, parameters = truth.phase.declared_track, truth.phase.parameters
    try:
        prepared = PreparedTruth.load(Path(truth.prepared.path), whole=True, expected=truth.sha256)
        refuse_prepared_otherwise(prepared, track, track.resolve(parameters))
    except (DamagedTruth, PreparedOtherwise):
        return False
    return True


def fault_codes(error: InvalidTruth | InvalidParameters) -> str:
    """Return what a log may contain about a faulty truth: codes, files and lines, but never its content."""
    if isinstance(error, InvalidParameters):
        return str(error)
    return "; ".join(f"{problem.code} in {problem.file}, line {problem.line}" for problem in error.problems)
