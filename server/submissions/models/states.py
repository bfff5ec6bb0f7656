"""States of a submission, and reasons why a submission ends without a score."""

from django.db import models


class Status(models.TextChoices):
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    SCORED = "scored", "scored"
    REJECTED = "rejected", "rejected"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


# The stages of a submission while it is being scored.
STAGES = ("checking", "matching", "scoring")
# The stage of a scored submission until its confidence intervals are computed.
BOOTSTRAPPING = "bootstrapping"
UNSCORED = (Status.REJECTED, Status.FAILED, Status.CANCELLED)
FINISHED = (Status.SCORED, *UNSCORED)


class Fault(models.TextChoices):
    NONE = "", "nobody"
    PARTICIPANT = "participant", "the file"
    ORGANIZER = "organizer", "the ground truth or the settings"
    PLATFORM = "platform", "the platform"


class Failure(models.TextChoices):
    """The reasons why a file without defects may have no score. API clients depend on these codes."""

    UNUSABLE_TRUTH = "unusable_truth", "the ground truth or the settings cannot be used"
    OUT_OF_MEMORY = "out_of_memory", "scoring needed too much memory"
    OUT_OF_TIME = "out_of_time", "scoring took too long"
    WORKER_LOST = "worker_lost", "the worker stopped repeatedly"
    ACCIDENT = "accident", "an unexpected error"

    @property
    def fault(self) -> Fault:
        """Return who is usually responsible if a submission fails for this reason.

        Participants are responsible for files that exceed the time or memory limit.
        """
        if self in (Failure.OUT_OF_MEMORY, Failure.OUT_OF_TIME):
            return Fault.PARTICIPANT
        return Fault.ORGANIZER if self is Failure.UNUSABLE_TRUTH else Fault.PLATFORM
