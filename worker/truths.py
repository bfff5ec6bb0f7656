"""Selects the ground truth that a submission is scored against, and restores it if necessary.

If the prepared file of a ground truth cannot be used, it is prepared again from the stored source.
"""

import logging
from collections.abc import Callable
from typing import TypeVar

from django.db.models import QuerySet

from evaluator.problems import DamagedTruth, Findings, InvalidParameters, InvalidTruth, PreparedOtherwise, Problem
from evaluator.tracks.compiling import refuse_prepared_otherwise
from evaluator.truth import Truth as PreparedTruth
from server import metrics
from server.challenges.models import Phase, Truth
from server.compiled_queries import compiled_query
from server.organize.services.truths import Unrestorable, prepare_again
from worker.truth_cache import local_truth, restoring

log = logging.getLogger(__name__)

Result = TypeVar("Result")

UNUSABLE_TRUTH = (
    "The hidden ground truth or the settings of this phase cannot be used for scoring. "
    "Contact the organizers, and submit again when they have fixed the problem. This does not count against your "
    "quota."
)


def active_truth(phase: Phase) -> Truth:
    """Return the active ground truth of a phase. Raises InvalidTruth if there is none."""
    truth = next(iter(active_truths(phase=phase.pk)), None)
    if truth is None:
        missing = Problem("truth_missing_file", "the phase has no active ground truth", file=str(phase))
        raise InvalidTruth(Findings.of(missing))
    truth.phase = phase
    return truth


@compiled_query
def active_truths(*, phase: int) -> QuerySet[Truth]:
    return Truth.objects.filter(phase=phase, active=True).order_by()


def with_usable_truth(truth: Truth, read: Callable[[], Result]) -> Result:
    """Call a function that reads the prepared file of a ground truth, and return the result of the function.

    If the prepared file cannot be used, it is restored, and the function is called again. Raises Unrestorable if the
    file cannot be restored.
    """
    try:
        return read()
    except (DamagedTruth, PreparedOtherwise) as error:
        restore(truth, error)
        return read()


def restore(truth: Truth, error: DamagedTruth | PreparedOtherwise) -> None:
    """Prepare a ground truth again from its stored source, because its prepared file cannot be used.

    The prepared file is damaged, or was prepared by a different version of the evaluator or with different settings.

    Only one process restores a ground truth at a time. The other processes wait, and then find that the file is intact.
    The CPU time of the restoration does not count toward the submission's limit. A restoration that takes longer than
    the time limit for an attempt uses up that attempt. Raises Unrestorable if the source cannot be prepared.
    """
    log.warning("%s: %s", truth, error)
    try:
        with restoring(truth):
            if not is_intact(truth):
                prepare_again(truth)
                metrics.restored_truths.inc()
                log.warning("%s was prepared again from its source", truth)
    except OSError as failure:
        raise Unrestorable(f"{truth} cannot be prepared again: {type(failure).__name__}") from failure


def is_intact(truth: Truth) -> bool:
    """Return whether a ground truth's prepared file is undamaged, has the right hash and fits the phase's settings."""
    track, parameters = truth.phase.declared_track, truth.phase.parameters
    try:
        with local_truth(truth) as path:
            prepared = PreparedTruth.load(path, whole=True, expected=truth.sha256)
        refuse_prepared_otherwise(prepared, track, track.resolve(parameters))
    except (DamagedTruth, PreparedOtherwise):
        return False
    return True


def fault_codes(error: InvalidTruth | InvalidParameters) -> str:
    """Return loggable details of a faulty ground truth: error codes, file names and line numbers, but no content."""
    if isinstance(error, InvalidParameters):
        return str(error)
    return "; ".join(f"{problem.code} in {problem.file}, line {problem.line}" for problem in error.problems)
