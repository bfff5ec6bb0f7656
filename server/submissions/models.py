"""One uploaded file, its scorings, and what it cost: the rows that the way of a submission is made of."""

import struct
import uuid
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from server.challenges.models import Phase, Team, Truth


class Status(models.TextChoices):
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    SCORED = "scored", "scored"
    REJECTED = "rejected", "rejected"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


STAGES = ("checking", "matching", "scoring")  # while running
BOOTSTRAPPING = "bootstrapping"  # the stage of a scored submission whose intervals are still to come
PUBLISHED = "whose public scores a ladder shows for it: its own, or the team's best; empty: not decided yet"
FINISHED = (Status.SCORED, Status.REJECTED, Status.FAILED, Status.CANCELLED)


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
        return Fault.ORGANIZER if self is Failure.UNUSABLE_TRUTH else Fault.PLATFORM


def upload_key(submission: "Submission", name: str) -> str:
    """Return an opaque name; the participant's own file name is a column."""
    return f"submissions/{uuid.uuid4().hex}"


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def visible_to(self, user: Any) -> "SubmissionQuerySet":
        """A team's own; an organizer's challenge's; staff's: all. Everything else does not exist for them."""
        if not user.is_authenticated:
            return self.none()
        if user.is_staff:
            return self
        mine = Q(team__memberships__user=user) | Q(phase__challenge__organizers=user)
        return self.filter(mine).distinct()

    def finished(self) -> "SubmissionQuerySet":
        return self.filter(status__in=FINISHED)

    def settled(self) -> "SubmissionQuerySet":
        """Those about which nothing will change by itself any more, their intervals included."""
        return self.finished().filter(stage="")


class Submission(models.Model):
    """One uploaded file and how far it has come."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="submissions")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="submissions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="submissions")
    file = models.FileField(upload_to=upload_key, max_length=200)
    file_name = models.CharField(max_length=255)
    size_bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    note = models.CharField(max_length=500, blank=True)
    final = models.BooleanField(default=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    stage = models.CharField(max_length=20, blank=True)
    progress = models.FloatField(default=0.0)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    received_at = models.DateTimeField()
    enqueued_at = models.DateTimeField(help_text="when a message was last sent for it")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    fault = models.CharField(max_length=12, choices=Fault, default=Fault.NONE, blank=True)
    failure_code = models.CharField(max_length=20, choices=Failure, blank=True)
    failure = models.CharField(
        max_length=300, blank=True, help_text="what went wrong and what to do, where it was not the file"
    )
    problems = models.JSONField(default=dict, blank=True, help_text="errors, counts, notices, total")

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ("-received_at",)
        indexes = (
            models.Index(fields=("phase", "team", "-received_at"), name="submission_of_team"),
            models.Index(fields=("status", "enqueued_at"), name="submission_waiting"),
        )
        constraints = (
            models.CheckConstraint(name="submission_status_is_known", condition=Q(status__in=Status.values)),
            models.CheckConstraint(
                name="submission_progress_is_a_fraction", condition=Q(progress__gte=0, progress__lte=1)
            ),
            models.CheckConstraint(
                name="submission_leased_iff_running",
                condition=Q(status="running", lease_token__isnull=False, lease_until__isnull=False)
                | (~Q(status="running") & Q(lease_token=None, lease_until=None)),
            ),
            models.CheckConstraint(
                name="submission_finished_iff_it_ended",
                condition=Q(status__in=("queued", "running"), finished_at=None)
                | (Q(finished_at__isnull=False) & ~Q(status__in=("queued", "running"))),
            ),
            models.CheckConstraint(
                name="submission_failed_says_why", condition=~Q(status="failed") | (~Q(failure="") & ~Q(fault=""))
            ),
        )

    def __str__(self) -> str:
        return f"{self.file_name} ({self.status})"

    @property
    def is_finished(self) -> bool:
        return self.status in FINISHED

    @property
    def is_settled(self) -> bool:
        """Whether nothing about it will change by itself any more, its intervals included."""
        return self.is_finished and not self.stage

    @property
    def scored_at(self) -> datetime | None:
        return self.finished_at if self.status == Status.SCORED else None


class Evaluation(models.Model):
    """One scoring of a submission: against one truth, by one version of the evaluator."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="evaluations")
    truth = models.ForeignKey(Truth, on_delete=models.PROTECT, related_name="evaluations")
    evaluator_version = models.CharField(max_length=20)
    signature = models.CharField(max_length=400)
    report = models.JSONField(help_text="per class and notices; never read by a board")
    cpu_seconds = models.FloatField()
    published = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+", help_text=PUBLISHED)
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("submission", "truth", "evaluator_version", "signature"), name="one_evaluation_of_a_kind"
            ),
        )
        indexes = (models.Index(fields=("signature", "submission"), name="evaluation_on_board"),)

    def __str__(self) -> str:
        return f"{self.submission_id} {self.signature}"


class Score(models.Model):
    """One number of an evaluation. What a board sorts by is this column, never a key in JSON."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="scores")
    split = models.CharField(max_length=10)
    metric = models.CharField(max_length=60)
    value = models.FloatField(null=True, help_text="empty: undefined")
    low = models.FloatField(null=True, blank=True)
    high = models.FloatField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("evaluation", "split", "metric"), name="one_score_per_split_and_metric"),
            models.CheckConstraint(name="score_split_is_known", condition=Q(split__in=("all", "public", "private"))),
            models.CheckConstraint(
                name="score_interval_has_two_ends",
                condition=Q(low=None, high=None) | Q(low__isnull=False, high__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.split} {self.metric} {self.value}"


class Replicates(models.Model):
    """The bootstrap replicates of the headline on one split, apart so that no board query drags them along."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="replicates")
    split = models.CharField(max_length=10)
    seed = models.BigIntegerField()
    count = models.PositiveIntegerField()
    values = models.BinaryField(help_text="float64, little-endian; NaN: undefined in that replicate")

    class Meta:
        verbose_name_plural = "replicates"
        constraints = (models.UniqueConstraint(fields=("evaluation", "split"), name="one_vector_per_split"),)

    def __str__(self) -> str:
        return f"{self.evaluation_id} {self.split}"

    @property
    def vector(self) -> tuple[float, ...]:
        return struct.unpack(f"<{self.count}d", self.values)


class Explanation(models.Model):
    """Why a score on one split is what it is: curves, errors, slices. Compressed, apart from all that boards read."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="explanations")
    split = models.CharField(max_length=10)
    content = models.BinaryField(help_text="JSON, compressed: classes, tables, left_out, curves")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("evaluation", "split"), name="one_explanation_per_split"),)

    def __str__(self) -> str:
        return f"{self.evaluation_id} {self.split}"


class RerunQuerySet(models.QuerySet["Rerun"]):
    def scoring(self) -> "RerunQuerySet":
        """Those that bring a score or its intervals, not only what explains it."""
        return self.filter(purpose=Rerun.Purpose.INTERVALS)

    def pending(self) -> "RerunQuerySet":
        """Waiting or running; the others were given up."""
        return self.filter(failure="")

    def waiting(self) -> "RerunQuerySet":
        return self.pending().filter(lease_token=None)


class Rerun(models.Model):
    """A scoring that is still to be done beside the first. It is gone when it is done."""

    class Purpose(models.TextChoices):
        INTERVALS = "intervals", "intervals"
        EXPLANATION = "explanation", "an explanation"

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="reruns")
    truth = models.ForeignKey(Truth, on_delete=models.CASCADE, related_name="reruns")
    purpose = models.CharField(max_length=12, choices=Purpose, default=Purpose.INTERVALS)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    enqueued_at = models.DateTimeField(help_text="when a message was last sent for it")
    failure = models.CharField(max_length=300, blank=True, help_text="why it was given up; the score stays")

    objects = RerunQuerySet.as_manager()

    class Meta:
        indexes = (models.Index(fields=("failure", "enqueued_at"), name="rerun_waiting"),)
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


class QuotaEntry(models.Model):
    """A line of a team's ledger: +1 when a file is taken, -1 when it is given back, with the reason."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="quota_entries")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="quota_entries")
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="quota_entries")
    amount = models.SmallIntegerField()
    reason = models.CharField(max_length=20)
    day = models.DateField(help_text="the UTC day it counts for")
    at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "quota entries"
        ordering = ("at", "pk")
        indexes = (models.Index(fields=("phase", "team", "day"), name="quota_of_team_and_day"),)
        constraints = (
            models.CheckConstraint(name="quota_entry_is_one", condition=Q(amount__in=(1, -1))),
            models.UniqueConstraint(fields=("submission", "amount"), name="charged_once_and_given_back_once"),
        )

    def __str__(self) -> str:
        return f"{self.amount:+d} {self.reason}"
