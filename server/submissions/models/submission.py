"""Submissions: uploaded files and their state."""

import uuid
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from evaluator.problems import NOTHING_TO_SCORE
from server.challenges.models import Challenge, Membership, Phase, Team
from server.submissions.models.lease import Leased
from server.submissions.models.states import FINISHED, Failure, Fault, Status


def upload_key(submission: "Submission", name: str) -> str:
    """Return a random name under which an uploaded file is stored. The participant's file name is kept in a column."""
    return f"submissions/{uuid.uuid4().hex}"


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def visible_to(self, user: Any) -> "SubmissionQuerySet":
        """Return the submissions of the user's teams and those in challenges that the user organizes.

        Staff see all submissions.
        """
        if not user.is_authenticated:
            return self.none()
        if user.is_staff:
            return self
        own = Membership.objects.order_by().filter(user=user.pk).values("team")
        organized = Challenge.objects.order_by().organized_by(user).values("pk")
        return self.filter(Q(team__in=own) | Q(phase__challenge__in=organized))

    def finished(self) -> "SubmissionQuerySet":
        return self.filter(status__in=FINISHED)

    def running(self) -> "SubmissionQuerySet":
        return self.filter(status=Status.RUNNING)

    def queued(self) -> "SubmissionQuerySet":
        return self.filter(status=Status.QUEUED)

    def claimable(self) -> "SubmissionQuerySet":
        """Return queued submissions, each loaded with the phase and the team, which a worker needs to score it."""
        return self.queued().select_related("phase", "team")

    def stored(self) -> "SubmissionQuerySet":
        """Return submissions whose uploaded files have not been removed."""
        return self.exclude(file="")

    def settled(self) -> "SubmissionQuerySet":
        """Return finished submissions whose confidence intervals are not pending."""
        return self.finished().filter(stage="")


class Submission(Leased):
    """One uploaded file and the state of its scoring."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # The index `submission_of_team` begins with the phase, so the phase has no index of its own.
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="submissions", db_index=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="submissions")
    submitted_by = models.ForeignKey(
        Team,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="the team that submitted the file, if that team has been merged into another team",
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="submissions")
    # `file` is empty if the file has been removed. After some time, files that were not scored are removed, and so are
    # scored files that do not count in the final results.
    file = models.FileField(upload_to=upload_key, max_length=200)
    file_name = models.CharField(max_length=255)
    size_bytes = models.PositiveBigIntegerField()
    small = models.BooleanField(
        default=False,
        db_default=False,
        help_text="whether the file is small, judged by its uncompressed size and by the cost of scoring it",
    )
    sha256 = models.CharField(max_length=64)
    note = models.CharField(max_length=500, blank=True)
    method = models.CharField(max_length=120, blank=True, default="", db_default="", help_text="name of the method")
    paper_url = models.CharField(max_length=500, blank=True, default="", db_default="")
    code_url = models.CharField(max_length=500, blank=True, default="", db_default="")
    idempotency_key = models.CharField(
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text="idempotency key of the upload; a repeated request has the same key",
    )
    final = models.BooleanField(default=False)
    hidden_at = models.DateTimeField(
        null=True, blank=True, help_text="when organizers hid the submission from the leaderboards"
    )
    forced = models.BooleanField(
        default=False,
        db_default=False,
        help_text="whether the file is scored even if none of its predictions can score",
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    stage = models.CharField(max_length=20, blank=True)
    progress = models.FloatField(default=0.0)
    attempts = models.PositiveSmallIntegerField(default=0)
    losses = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="number of attempts during which the worker died"
    )
    received_at = models.DateTimeField()
    enqueued_at = models.DateTimeField(help_text="when this job was last queued")
    not_before = models.DateTimeField(
        null=True, blank=True, help_text="when the next attempt may begin; empty if it may begin now"
    )
    postponed = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        help_text="number of attempts that were postponed because a stored file could not be used",
    )
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    fault = models.CharField(max_length=12, choices=Fault, default=Fault.NONE, blank=True)
    failure_code = models.CharField(max_length=20, choices=Failure, blank=True)
    failure = models.CharField(
        max_length=300, blank=True, help_text="what went wrong and what to do, if the submission has failed"
    )
    problems = models.JSONField(
        default=dict, blank=True, help_text="JSON with the keys errors, counts, notices and total"
    )

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ("-received_at",)
        indexes = (
            models.Index(fields=("phase", "team", "-received_at"), name="submission_of_team"),
            models.Index(
                fields=("phase", "team", "status", "finished_at"),
                condition=Q(finished_at__isnull=False),
                name="submission_ended",
            ),
            models.Index(fields=("status", "enqueued_at"), name="submission_waiting"),
            models.Index(
                fields=("finished_at",), condition=Q(finished_at__isnull=False), name="submission_ended_lately"
            ),
        )
        constraints = (
            models.UniqueConstraint(
                name="submission_once_for_each_key",
                fields=("team", "idempotency_key"),
                condition=~Q(idempotency_key=""),
            ),
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
        """Whether the submission is finished and its confidence intervals are not pending."""
        return self.is_finished and not self.stage

    @property
    def has_nothing_to_score(self) -> bool:
        """Whether the file was rejected because no prediction in it could be correct, whatever the annotations are.

        Such a file is scored if it is submitted again with `force`.
        """
        return self.status == Status.REJECTED and NOTHING_TO_SCORE in self.problems.get("counts", {})

    @property
    def scored_at(self) -> datetime | None:
        return self.finished_at if self.status == Status.SCORED else None
