"""Composes the sentences that tell organizers why a job was postponed or abandoned."""

from django.conf import settings

from evaluator.problems import InvalidParameters, InvalidSubmission, InvalidTruth
from server.submissions.services.evaluations import NotReproducible
from worker import limits
from worker.storage_check import Unreadable
from worker.truths import fault_codes


def obstacle(error: Exception) -> str:
    """Return the reason why a job was postponed, as a sentence for organizers.

    The sentence contains no file paths. Paths are written only to the log.
    """
    if isinstance(error, Unreadable):
        return "The stored submission or the ground truth is missing or damaged. The worker's log names the file."
    if isinstance(error, OSError):
        return f"The worker cannot read or write a file: {error.strerror or type(error).__name__}."
    return f"{error}."


def reason(error: Exception) -> str:
    """Return the reason why a rerun was abandoned, as a sentence for organizers."""
    if is_too_large(error):
        return (
            f"Files with more than {settings.EXPLANATION_MAX_BYTES} uncompressed bytes get no explanation if the "
            "compiled kernels cannot read them."
        )
    if isinstance(error, InvalidSubmission):
        return f"The file does not match this ground truth: {', '.join(error.findings.counts)}."
    if isinstance(error, InvalidTruth | InvalidParameters):
        return f"The ground truth or the settings cannot be used: {fault_codes(error)}."
    return str(error) if isinstance(error, NotReproducible) else limits.exceeded_text(error)


def is_too_large(error: Exception) -> bool:
    """Return whether the error means that the file is too large to compute an explanation of its score.

    If a rerun (a job that scores a submission again) is abandoned for this reason, no alarm is raised.
    """
    return isinstance(error, InvalidSubmission) and "too_large" in error.findings.counts
