"""States of a submission, and reasons why a submission ends without a score."""

from django.db import models


class Status(models.TextChoices):
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    SCORED = "scored", "scored"
    REJECTED = "rejected", "rejected"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


STAGES = ("checking", "matching", "scoring")  # of a running submission
BOOTSTRAPPING = "bootstrapping"  # stage of a scored submission whose intervals are not computed yet
UNSCORED = (Status.REJECTED, Status.FAILED, Status.CANCELLED)
FINISHED = (Status.SCORED, *UNSCORED)


class Fault(models.TextChoices):
    NONE = "", "nobody"
    PARTICIPANT = "participant", "the file"
    ORGANIZER = "organizer", "the ground truth or the settings"
    PLATFORM = "platform", "the platform"


class Failure(models.TextChoices):
    """Why a file without defects has no score. Programs match on these codes."""

    UNUSABLE_TRUTH = "unusable_truth", "the truth or the settings cannot be used"
    OUT_OF_MEMORY = "out_of_memory", "more memory than a worker has"
    OUT_OF_TIME = "out_of_time", "more time than a scoring may take"
    WORKER_LOST = "worker_lost", "its worker stopped repeatedly"
    ACCIDENT = "accident", "an unexpected error"

    @property
    def fault(self) -> Fault:
        """Return whose fault this failure usually is. Exceeding the time or memory limit is the participant's."""
        if self in (Failure.OUT_OF_MEMORY, Failure.OUT_OF_TIME):
            return Fault.PARTICIPANT
        return Fault.ORGANIZER if self is Failure.UNUSABLE_TRUTH else Fault.PLATFORM
