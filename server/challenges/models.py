"""Challenges with their phases and ground truths, and the teams that take part."""

import secrets
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import FileSystemStorage
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

from evaluator.catalog import TRACKS, Track
from server.challenges.visibility import ChallengeQuerySet
from server.clock import is_over

LADDER_STANDARD_ERRORS = 2.0
LADDER_MAX = 10


def truth_storage() -> FileSystemStorage:
    """Return the storage of ground truths. It is separate from uploads, and its files are never served."""
    return FileSystemStorage(location=settings.TRUTH_ROOT, base_url=None, file_permissions_mode=0o600)


def truth_key(truth: "Truth", name: str) -> str:
    """Return a file name that nobody can guess."""
    return f"{secrets.token_hex(16)}{''.join(Path(name).suffixes)}"


class Challenge(models.Model):
    """A competition: pages, rules, dates, teams and one or more phases."""

    class Visibility(models.TextChoices):
        PUBLIC = "public", "public"
        UNLISTED = "unlisted", "unlisted: anybody who knows the address"
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
        help_text="Mail domains, separated by spaces: only people with a confirmed address at one of them can join.",
    )
    team_max_size = models.PositiveSmallIntegerField(default=5)
    merge_until = models.DateTimeField(null=True, blank=True)
    organizers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="organized_challenges", blank=True)
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

    def is_organized_by(self, user: Any) -> bool:
        return user.is_authenticated and (user.is_staff or self.organizers.filter(pk=user.pk).exists())


class Phase(models.Model):
    """A part of a challenge that accepts submissions: a track with parameters, a truth, dates, quota and feedback."""

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
    salt = models.CharField(max_length=34, blank=True, default="", db_default="", editable=False)  # salt.txt; secret
    opens_at = models.DateTimeField(null=True, blank=True, help_text="empty: the same as the challenge")
    closes_at = models.DateTimeField(null=True, blank=True, help_text="empty: the same as the challenge")
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
        help_text="by how many standard errors a score must beat the team's best to be shown; "
        f"empty: {LADDER_STANDARD_ERRORS:g}",
    )
    signature = models.CharField(
        max_length=400, blank=True, help_text="signature of the scores that its leaderboards show"
    )
    sample_submission = models.FileField(upload_to="samples/", blank=True)
    candidates = models.FileField(
        upload_to="samples/", blank=True, help_text="the list of candidates that submissions rank, if the track has one"
    )
    revealed_at = models.DateTimeField(
        null=True, blank=True, help_text="when others could first read its private scores; it cannot reopen after that"
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
                violation_error_message="Results per class would show what the ladder hides. Turn one of them off.",
            ),
            models.CheckConstraint(
                name="phase_ladder_margin_is_positive",
                condition=Q(ladder_standard_errors__gt=0, ladder_standard_errors__lte=LADDER_MAX),
                violation_error_message=f"A ladder's margin is above 0 and at most {LADDER_MAX} standard errors.",
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
        """Whether the phase gives ladder feedback: only scores that clearly improve on the team's best are shown."""
        return bool(self.feedback == self.Feedback.LADDER)

    def has_ladder(self, now: datetime) -> bool:
        """Return whether the ladder hides scores now. When the phase is over, all scores are shown."""
        return self.is_ladder and not self.has_closed(now)

    @property
    def truth(self) -> "Truth | None":
        return next((truth for truth in self.truths.all() if truth.active), None)


class Truth(models.Model):
    """One version of a phase's hidden ground truth, checked and compiled. Its sha256 identifies it."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="truths")
    version = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    prepared = models.FileField(storage=truth_storage, upload_to=truth_key)
    source = models.FileField(
        storage=truth_storage, upload_to=truth_key, help_text="the original truth folder, as a zip file"
    )
    active = models.BooleanField(default=False)
    used = models.BooleanField(
        default=False, db_default=False, help_text="whether leaderboards have ever shown scores against it"
    )
    images = models.PositiveIntegerField(default=0)
    prepared_with = models.JSONField(null=True, blank=True, editable=False)  # see `shaping.py`; null if unknown
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
        """The folder of bootstrap draws for this truth. When the truth is removed, the folder is removed too."""
        return Path(self.prepared.path).with_suffix(".draws")


class Team(models.Model):
    """A team that submits. A person who joins alone is a team of one; a baseline is a team without members."""

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="teams")
    name = models.CharField(max_length=80)
    is_baseline = models.BooleanField(default=False)
    served_at = models.DateTimeField(
        null=True, blank=True, help_text="when scoring of one of the team's files last began"
    )
    disqualified_at = models.DateTimeField(
        null=True, blank=True, help_text="since when it is on no leaderboard; empty: it is not disqualified"
    )
    disqualification_reason = models.CharField(max_length=500, blank=True, default="", db_default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)
        indexes = (models.Index(fields=("challenge", "is_baseline"), name="team_of_challenge"),)  # lists count teams
        constraints = (
            models.UniqueConstraint("challenge", Lower("name"), name="team_name_unique_in_challenge"),
            models.CheckConstraint(
                name="team_disqualified_with_a_reason",
                condition=Q(disqualified_at=None, disqualification_reason="")
                | (Q(disqualified_at__isnull=False) & ~Q(disqualification_reason="")),
            ),
        )

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person in a team, with the time at which they accepted the rules. One team per person and challenge."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    is_captain = models.BooleanField(default=False)
    rules_accepted_at = models.DateTimeField()
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("joined_at",)
        constraints = (models.UniqueConstraint(fields=("challenge", "user"), name="one_team_per_person_and_challenge"),)

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class JoinRequest(models.Model):
    """A request to join a challenge whose organizers approve members. It is deleted when the person joins."""

    class Status(models.TextChoices):
        WAITING = "waiting", "waiting for approval"
        DECLINED = "declined", "declined"

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="join_requests")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="join_requests")
    team_name = models.CharField(max_length=80, blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    rules_accepted_at = models.DateTimeField()
    requested_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("requested_at",)
        constraints = (
            models.UniqueConstraint(fields=("challenge", "user"), name="one_request_per_person_and_challenge"),
        )

    def __str__(self) -> str:
        return f"{self.user} for {self.challenge}"
