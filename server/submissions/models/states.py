"""The states of a submission, and why one ends without a score."""

from django.db import models


class Status(models.TextChoices):
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    SCORED = "scored", "scored"
    REJECTED = "rejected", "rejected"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


STAGES = ("checking", "matching", "scoring")  # while running
BOOTSTRAPPING = "bootstrapping"  # the stage of a scored submission whose intervals are still to come
UNSCORED = (Status.REJECTED, Status.FAILED, Status.CANCELLED)
FINISHED = (Status.SCORED, *UNSCORED)


class Fault(models.TextChoices):
    NONE = "", "nobody's"
    PARTICIPANT = "participant", "the file's"
    ORGANIZER = "organizer", "the truth's or the settings'"
    PLATFORM = "platform", "ours"


class Failure(models.TextChoices):
    """Why a file has no score though it has no defect: a code that programs match on."""

    UNUSABLE_TRUTH = "unusable_truth", "the truth or the settings cannot be used"
    OUT_OF_MEMORY = "out_of_memory", "more memory than a worker has"
    OUT_OF_TIME = "out_of_time", "more time than a scoring has"
    WORKER_LOST = "worker_lost", "its worker stopped again and again"
    ACCIDENT = "accident", "something broke"

    @property
    def fault(self) -> Fault:
        """Whose fault it is as a rule. Time and memory beyond the limits are the file's cost."""
        if self in (Failure.OUT_OF_MEMORY, Failure.OUT_OF_TIME):
            return Fault.PARTICIPANT
        return Fault.ORGANIZER if self is Failure.UNUSABLE_TRUTH else Fault.PLATFORM
