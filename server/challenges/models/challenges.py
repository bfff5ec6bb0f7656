"""Models for challenges, their phases and ground truths."""

from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.fields.files import FieldFile

from evaluator.bundle.rules import LADDER_MAX
from evaluator.catalog import TRACKS, Track
from server.challenges.roles import Right
from server.challenges.truth_storage import truth_key, truth_storage
from server.challenges.visibility import ChallengeQuerySet
from server.clock import is_over

LADDER_STANDARD_ERRORS = 2.0


class Challenge(models.Model):
    """A competition with its pages, rules, dates, teams, and one or more phases."""

    class Visibility(models.TextChoices):
        DRAFT = "draft", "draft: organizers only"
        PUBLIC = "public", "public"
        UNLISTED = "unlisted", "unlisted: anybody who knows the URL"
        PRIVATE = "private", "private: members only"

    class Registration(models.TextChoices):
        OPEN = "open", "open"
        APPROVAL = "approval", "approval: an organizer approves each member"

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=120)
    summary = models.CharField(max_length=240, blank=True)
    description = models.TextField(blank=True, help_text="Markdown")
    rules = models.TextField(blank=True, help_text="Markdown")
    data = models.TextField(blank=True, help_text="Markdown")
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.PUBLIC)
    opens_at = models.DateTimeField()
    closes_at = models.DateTimeField(null=True, blank=True)
    join_until = models.DateTimeField(null=True, blank=True)
    registration = models.CharField(max_length=10, choices=Registration, default=Registration.OPEN)
    allowed_domains = models.CharField(
        max_length=1000,
        blank=True,
        help_text="Email domains, separated by spaces. Only people with a confirmed address at one of these domains "
        "can join.",
    )
    team_max_size = models.PositiveSmallIntegerField(default=5)
    merge_until = models.DateTimeField(null=True, blank=True)
    contact = models.CharField(
        max_length=200, blank=True, default="", db_default="", help_text="an email address or the URL of a page"
    )
    organizers = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="challenges.Organizer", related_name="organized_challenges", blank=True
    )
    organizers_need_two_factor = models.BooleanField(
        default=False,
        db_default=False,
        help_text="whether only organizers with two-factor authentication may act as organizers",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ChallengeQuerySet.as_manager()

    class Meta:
        ordering = ("-opens_at", "slug")
        constraints = (
            models.CheckConstraint(
                name="challenge_closes_after_it_opens", condition=Q(closes_at=None) | Q(closes_at__gt=F("opens_at"))
            ),
            models.CheckConstraint(name="challenge_team_holds_somebody", condition=Q(team_max_size__gte=1)),
        )

    def __str__(self) -> str:
        return self.title

    def has_closed(self, now: datetime) -> bool:
        return is_over(self.closes_at, now)

    def is_organized_by(self, user: Any, right: Right = Right.READ) -> bool:
        """Return whether the person has this right as an organizer now."""
        return Challenge.objects.organized_by(user, right).filter(pk=self.pk).exists()

    def has_organizer(self, user: Any) -> bool:
        """Return whether the person is an organizer or staff, even if the required two-factor authentication is
        missing.
        """
        return user.is_staff or self.organizers.filter(pk=user.pk).exists()


class Phase(models.Model):
    """A part of a challenge that accepts submissions, with its own track, ground truth, dates, quota and feedback."""

    class Feedback(models.TextChoices):
        EXACT = "exact", "exact"
        ROUNDED = "rounded", "rounded"
        LADDER = "ladder", "ladder: only clear improvements"

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="phases")
    slug = models.SlugField(max_length=80)
    title = models.CharField(max_length=120)
    position = models.PositiveSmallIntegerField(default=0)
    track = models.CharField(max_length=60)
    parameters = models.JSONField(default=dict, blank=True)
    public_share = models.FloatField(default=1.0)
    split_seed = models.BigIntegerField(default=0)
    # this value must be kept secret
    salt = models.CharField(max_length=34, blank=True, default="", db_default="", editable=False)
    opens_at = models.DateTimeField(null=True, blank=True, help_text="empty: the same as the challenge")
    closes_at = models.DateTimeField(null=True, blank=True, help_text="empty: the same as the challenge")
    # this date is stored for exports, but has no effect yet
    freeze_at = models.DateTimeField(null=True, blank=True, editable=False)
    quota_per_day = models.PositiveIntegerField(default=5)
    quota_total = models.PositiveIntegerField(null=True, blank=True)
    attempts_per_day = models.PositiveIntegerField(default=20)
    finals = models.PositiveSmallIntegerField(default=2)
    feedback = models.CharField(max_length=10, choices=Feedback, default=Feedback.EXACT)
    feedback_decimals = models.PositiveSmallIntegerField(null=True, blank=True)
    feedback_classes = models.BooleanField(default=False)
    ladder_standard_errors = models.FloatField(
        default=LADDER_STANDARD_ERRORS,
        blank=True,
        help_text="by how many standard errors a score must exceed the team's best to be shown; "
        f"empty: {LADDER_STANDARD_ERRORS:g}",
    )
    signature = models.CharField(
        max_length=400, blank=True, help_text="signature of the scores that the leaderboards of this phase show"
    )
    sample_submission = models.FileField(upload_to="samples/", blank=True)
    # the sha256 of the sample submission; empty for samples that are older than this field
    sample_sha256 = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    candidates = models.FileField(
        upload_to="samples/", blank=True, help_text="the list of candidates that submissions rank, if the track has one"
    )
    # Phases that are older than the gate may accept submissions without it, until their ground truth is replaced.
    gate_exempt = models.BooleanField(default=False, db_default=False, editable=False)
    revealed_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="when participants could first read the private scores; the phase cannot be reopened after that",
    )

    class Meta:
        ordering = ("position", "slug")
        constraints = (
            models.UniqueConstraint(fields=("challenge", "slug"), name="phase_slug_unique_in_challenge"),
            models.CheckConstraint(
                name="phase_share_is_a_fraction", condition=Q(public_share__gte=0, public_share__lte=1)
            ),
            models.CheckConstraint(
                name="phase_decimals_iff_rounded",
                condition=Q(feedback="rounded", feedback_decimals__isnull=False)
                | (~Q(feedback="rounded") & Q(feedback_decimals=None)),
            ),
            models.CheckConstraint(
                name="phase_ladder_shows_no_classes",
                condition=~Q(feedback="ladder", feedback_classes=True),
                violation_error_message="Results per class would reveal scores that ladder feedback hides. Turn off "
                "ladder feedback or results per class.",
            ),
            models.CheckConstraint(
                name="phase_ladder_margin_is_positive",
                condition=Q(ladder_standard_errors__gt=0, ladder_standard_errors__lte=LADDER_MAX),
                violation_error_message=f"A ladder's margin must be above 0 and at most {LADDER_MAX} standard errors.",
            ),
        )

    def __str__(self) -> str:
        return f"{self.challenge.slug}/{self.slug}"

    def clean(self) -> None:
        if self.ladder_standard_errors is None:
            self.ladder_standard_errors = LADDER_STANDARD_ERRORS

    @property
    def declared_track(self) -> Track:
        return TRACKS[self.track]

    @property
    def opening(self) -> datetime:
        return self.opens_at or self.challenge.opens_at

    @property
    def closing(self) -> datetime | None:
        return self.closes_at or self.challenge.closes_at

    def has_opened(self, now: datetime) -> bool:
        return self.opening <= now

    def has_closed(self, now: datetime) -> bool:
        return is_over(self.closing, now)

    def is_open(self, now: datetime) -> bool:
        return self.has_opened(now) and not self.has_closed(now)

    @property
    def is_ladder(self) -> bool:
        """Whether the phase uses ladder feedback: only scores that clearly improve on the team's best are shown."""
        return bool(self.feedback == self.Feedback.LADDER)

    def has_ladder(self, now: datetime) -> bool:
        """Return whether ladder feedback currently hides scores. When the phase is over, all scores are shown."""
        return self.is_ladder and not self.has_closed(now)

    @property
    def truth(self) -> "Truth | None":
        return next((truth for truth in self.truths.all() if truth.active), None)

    @property
    def kit(self) -> FieldFile | None:
        """The check kit of the active truth, or None if there is none yet."""
        return (self.truth and self.truth.kit) or None

    def download_name(self, ending: str) -> str:
        """Return the download name of a file of this phase, given the end of the name, such as `kit.json`."""
        return f"{self.challenge.slug}-{self.slug}-{ending}"


class Truth(models.Model):
    """One version of a phase's hidden ground truth, checked and compiled. Its sha256 identifies it."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="truths")
    version = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    prepared = models.FileField(storage=truth_storage, upload_to=truth_key)
    source = models.FileField(
        storage=truth_storage, upload_to=truth_key, help_text="the original truth folder, as a zip file"
    )
    # `organize.services.kits` makes this file
    kit = models.FileField(upload_to="kits/", blank=True, default="", db_default="")
    kit_made_with = models.JSONField(null=True, blank=True, editable=False)  # the settings that the kit contains
    active = models.BooleanField(default=False)
    used = models.BooleanField(
        default=False, db_default=False, help_text="whether leaderboards have ever shown scores against this truth"
    )
    images = models.PositiveIntegerField(default=0)
    # The `shaping_settings` at the time of preparation; null if unknown.
    prepared_with = models.JSONField(null=True, blank=True, editable=False)
    # The result of `podium gate` and the settings that were tested; see `challenges.gate`. Null if it has not been run.
    gate = models.JSONField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-version",)
        constraints = (
            models.UniqueConstraint(fields=("phase", "version"), name="truth_version_unique_in_phase"),
            models.UniqueConstraint(fields=("phase", "sha256"), name="truth_sha256_unique_in_phase"),
            models.UniqueConstraint(fields=("phase",), condition=Q(active=True), name="one_active_truth_per_phase"),
        )

    def __str__(self) -> str:
        return f"{self.phase} v{self.version}"

    @property
    def draws(self) -> Path:
        """The folder of bootstrap draws for this truth. The folder is removed together with the truth."""
        return Path(self.prepared.path).with_suffix(".draws")
