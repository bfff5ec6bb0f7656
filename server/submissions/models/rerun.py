"""Reruns, which score a submission again at a lower priority than its first scoring."""

from django.db import models
from django.db.models import Q

from server.challenges.models import Truth
from server.submissions.models.lease import Leased
from server.submissions.models.submission import Submission


class RerunQuerySet(models.QuerySet["Rerun"]):
    def scoring(self) -> "RerunQuerySet":
        """Return the reruns that compute scores or confidence intervals, without those that explain a score."""
        return self.filter(purpose=Rerun.Purpose.INTERVALS)

    def pending(self) -> "RerunQuerySet":
        """Return reruns (jobs that score a submission again) that are queued or running, but not those that failed."""
        return self.filter(failure="")

    def given_up(self) -> "RerunQuerySet":
        """Return reruns (jobs that score a submission again) that failed and will not be tried again."""
        return self.exclude(failure="")

    def blocked(self) -> "RerunQuerySet":
        """Return reruns that failed, or were postponed because a stored file could not be read."""
        return self.exclude(failure="", waiting_for="")

    def queued(self) -> "RerunQuerySet":
        """Return reruns (jobs that score a submission again) that no worker has claimed yet."""
        return self.pending().filter(lease_token=None)

    def claimable(self) -> "RerunQuerySet":
        """Return queued reruns, loaded with all related rows that a worker needs for them."""
        return self.queued().select_related("truth", "submission__phase")

    def running(self) -> "RerunQuerySet":
        return self.filter(lease_token__isnull=False)


class Rerun(Leased):
    """A job that scores a submission again. The row is deleted when the job is done."""

    class Purpose(models.TextChoices):
        INTERVALS = "intervals", "intervals"
        EXPLANATION = "explanation", "an explanation"

    # A unique constraint below begins with this field, and its index also serves queries for this field alone.
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="reruns", db_index=False)
    truth = models.ForeignKey(Truth, on_delete=models.CASCADE, related_name="reruns")
    purpose = models.CharField(max_length=12, choices=Purpose, default=Purpose.INTERVALS)
    attempts = models.PositiveSmallIntegerField(default=0)
    enqueued_at = models.DateTimeField(help_text="when this job was last queued")
    not_before = models.DateTimeField(
        null=True, blank=True, help_text="when the next attempt may begin; empty if it may begin now"
    )
    postponed = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        help_text="number of attempts that were postponed because a stored file could not be used",
    )
    waiting_for = models.CharField(
        max_length=300,
        blank=True,
        default="",
        db_default="",
        help_text="the problem with a stored file that postponed the rerun, if any",
    )
    failure = models.CharField(
        max_length=300, blank=True, help_text="why the rerun was given up; the score does not change"
    )

    objects = RerunQuerySet.as_manager()

    class Meta:
        indexes = (
            models.Index(fields=("failure", "enqueued_at"), name="rerun_waiting"),
            models.Index(fields=("lease_until",), name="rerun_leased", condition=Q(lease_token__isnull=False)),
        )
        constraints = (
            models.UniqueConstraint(fields=("submission", "truth", "purpose"), name="one_rerun_of_a_kind"),
            models.CheckConstraint(
                name="rerun_lease_is_whole",
                condition=Q(lease_token=None, lease_until=None)
                | Q(lease_token__isnull=False, lease_until__isnull=False, failure=""),
            ),
        )

    def __str__(self) -> str:
        return f"{self.purpose} of {self.submission_id} against {self.truth_id}"

    @property
    def reason(self) -> str:
        """The reason why this rerun failed, or was postponed because a stored file could not be read."""
        return self.failure or self.waiting_for

    @property
    def is_given_up(self) -> bool:
        return bool(self.failure)

    @property
    def team_id(self) -> int:
        return self.submission.team_id
