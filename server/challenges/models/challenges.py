"""The database models for the phases of challenges, and for their ground truths."""

from datetime import datetime
from pathlib import Path

from django.db import models
from django.db.models import Q
from django.db.models.fields.files import FieldFile

from evaluator.bundle.keys import REVEALS
from evaluator.bundle.rules import LADDER_MAX
from evaluator.catalog import TRACKS, Track
from server.challenges.models.challenge import Challenge
from server.challenges.truth_storage import truth_key, truth_storage
from server.clock import is_over

LADDER_STANDARD_ERRORS = 2.0


class Phase(models.Model):
    """A part of a challenge that accepts submissions, with its own track, ground truth, dates, quota and feedback."""

    class Feedback(models.TextChoices):
        EXACT = "exact", "exact"
        ROUNDED = "rounded", "rounded"
        LADDER = "ladder", "ladder: only clear improvements"

    AT_CLOSE, MANUAL = REVEALS

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="phases")
    slug = models.SlugField(max_length=80)
    title = models.CharField(max_length=120)
    position = models.PositiveSmallIntegerField(default=0)
    track = models.CharField(max_length=60)
    parameters = models.JSONField(default=dict, blank=True)
    public_share = models.FloatField(default=1.0)
    split_seed = models.BigIntegerField(default=0)
    # The salt determines which images are private, so it must be kept secret.
    salt = models.CharField(max_length=34, blank=True, default="", db_default="", editable=False)
    opens_at = models.DateTimeField(null=True, blank=True, help_text="empty: the same as the challenge")
    closes_at = models.DateTimeField(null=True, blank=True, help_text="empty: the same as the challenge")
    reveal = models.CharField(
        max_length=10, choices=[(name, name) for name in REVEALS], default=AT_CLOSE, db_default=AT_CLOSE
    )
    # Private scores are not shown before `reveals_at`. If `reveal` is `manual`, they stay hidden while `reveals_at` is
    # null.
    reveals_at = models.DateTimeField(null=True, blank=True, editable=False)
    # `extended_at` is the time at which organizers last extended the phase for all teams.
    extended_at = models.DateTimeField(null=True, blank=True, editable=False)
    # `extended_until` is the latest end of all extensions for single teams; see `Extension`.
    extended_until = models.DateTimeField(null=True, blank=True, editable=False)
    freeze_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="from then until the phase is over, participants see the public leaderboard of this time",
    )
    paused_at = models.DateTimeField(null=True, blank=True, editable=False)
    # `resumed_at` is the end of the last pause of submissions. It is null during a pause and before the first pause.
    resumed_at = models.DateTimeField(null=True, blank=True, editable=False)
    # `pause_reason` is the reason why submissions were last paused. Participants can read it.
    pause_reason = models.CharField(max_length=300, blank=True, default="", db_default="", editable=False)
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
    # `sample_sha256` is the SHA-256 hash of the sample submission. It is empty if the sample was stored before this
    # field existed.
    sample_sha256 = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    candidates = models.FileField(
        upload_to="samples/", blank=True, help_text="the list of candidates that submissions rank, if the track has one"
    )
    # A phase that is older than the gate feature may accept submissions without passing the gate (the automatic checks
    # of its ground truth) until the ground truth is replaced.
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

    @property
    def declared_track(self) -> Track:
        return TRACKS[self.track]

    @property
    def opening(self) -> datetime:
        return self.opens_at or self.challenge.opens_at

    @property
    def closing(self) -> datetime | None:
        return self.closes_at or self.challenge.closes_at

    @property
    def ending(self) -> datetime | None:
        """The time at which the phase is over for all teams: its end or, if later, the end of the last extension."""
        return self.closing and max(self.closing, self.extended_until or self.closing)

    def has_opened(self, now: datetime) -> bool:
        return self.opening <= now

    def has_closed(self, now: datetime) -> bool:
        """Return whether the phase has closed, so that teams without an extension can no longer submit."""
        return is_over(self.closing, now)

    def has_ended(self, now: datetime) -> bool:
        """Return whether the phase is over for all teams, including teams with an extension."""
        return is_over(self.ending, now)

    def is_open(self, now: datetime) -> bool:
        return self.has_opened(now) and not self.has_closed(now)

    @property
    def shown_from(self) -> datetime | None:
        """The time when participants can first read the private scores, or None if this time is not known yet."""
        ending = self.ending
        if ending is None or (self.reveal == self.MANUAL and self.reveals_at is None):
            return None
        return max(ending, self.reveals_at or ending)

    def shows_private(self, now: datetime) -> bool:
        """Return whether participants can read the private scores of the phase."""
        return is_over(self.shown_from, now)

    @property
    def is_paused(self) -> bool:
        """Whether organizers have paused submissions to the phase. Earlier submissions are still scored."""
        return self.paused_at is not None and self.resumed_at is None

    @property
    def pause_text(self) -> str:
        """The message to participants that submissions are paused, or an empty string if they are not paused."""
        text = f"Submissions are paused until the organizers resume them. Reason: {self.pause_reason}"
        return text if self.is_paused else ""

    def is_frozen(self, now: datetime) -> bool:
        """Return whether participants see the public leaderboard as it was at `freeze_at`, not the current one."""
        return self.freeze_at is not None and self.freeze_at <= now and not self.shows_private(now)

    @property
    def is_ladder(self) -> bool:
        """Whether the phase uses ladder feedback, which shows only scores that clearly exceed the team's best score."""
        return bool(self.feedback == self.Feedback.LADDER)

    def has_ladder(self, now: datetime) -> bool:
        """Return whether ladder feedback, which hides scores that are not a clear improvement, is in effect.

        Ladder feedback ends when participants can read the private scores.
        """
        return self.is_ladder and not self.shows_private(now)

    @property
    def truth(self) -> "Truth | None":
        return next((truth for truth in self.truths.all() if truth.active), None)

    @property
    def kit(self) -> FieldFile | None:
        """The kit for checking submissions offline, or None if none exists yet for the phase's active ground truth."""
        return (self.truth and self.truth.kit) or None

    def download_name(self, ending: str) -> str:
        """Return the file name for a download of the phase.

        It contains the slugs of the challenge and the phase, and ends with `ending`, such as `kit.json`.
        """
        return f"{self.challenge.slug}-{self.slug}-{ending}"


class Truth(models.Model):
    """One version of the hidden ground truth of a phase, checked and prepared for scoring. Its sha256 identifies it."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="truths")
    version = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    prepared = models.FileField(storage=truth_storage, upload_to=truth_key)
    source = models.FileField(
        storage=truth_storage, upload_to=truth_key, help_text="the original truth folder, as a zip file"
    )
    # The check kit, a file for checking submissions locally, is created by `server.organize.services.kits`.
    kit = models.FileField(upload_to="kits/", blank=True, default="", db_default="")
    # `kit_made_with` contains the settings used to create the check kit. If they differ from the current settings, the
    # kit is outdated.
    kit_made_with = models.JSONField(null=True, blank=True, editable=False)
    active = models.BooleanField(default=False)
    used = models.BooleanField(
        default=False, db_default=False, help_text="whether leaderboards have ever shown scores against this truth"
    )
    images = models.PositiveIntegerField(default=0)
    # `prepared_with` contains the phase settings used to prepare the ground truth; see `shaping_settings`. It is null
    # if these settings are unknown.
    prepared_with = models.JSONField(null=True, blank=True, editable=False)
    # `gate` contains the result of `podium gate`, which checks the ground truth, and the settings that were tested; see
    # `challenges.gate`. It is null if the gate has not been run.
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
        """The folder with the bootstrap draws (random samples of images). It is deleted with the ground truth."""
        return Path(self.prepared.path).with_suffix(".draws")
