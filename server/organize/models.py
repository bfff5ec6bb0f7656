"""Rescorings of phases, statistics of ground truths, scheduled publications, and keys that have signed results."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from server.challenges.models import Challenge, Phase, Truth

# The maximum lengths of the reason for a rescoring and of the organizer's name in the public change log.
REASON_CHARACTERS, SIGNED_CHARACTERS = 500, 80


class Rescoring(models.Model):
    """A rescoring of all submissions to a phase. The leaderboards do not change until it is applied."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="rescorings")
    truth = models.ForeignKey(Truth, on_delete=models.CASCADE, related_name="rescorings")
    signature = models.CharField(max_length=400, help_text="signature of the scores that the leaderboards will show")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    started_at = models.DateTimeField()
    applied_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(
        max_length=REASON_CHARACTERS,
        blank=True,
        default="",
        db_default="",
        help_text="the reason, for the public change log",
    )
    signed = models.CharField(
        max_length=SIGNED_CHARACTERS,
        blank=True,
        default="",
        db_default="",
        help_text="the organizer's name in the public change log",
    )

    class Meta:
        ordering = ("-started_at",)
        constraints = (
            models.UniqueConstraint(
                fields=("phase",), condition=Q(applied_at=None), name="one_open_rescoring_per_phase"
            ),
        )

    def __str__(self) -> str:
        return f"{self.phase} to {self.signature}"


class TruthStatistics(models.Model):
    """Statistics of a ground truth for organizers: counts, histograms, class balance and the best possible score."""

    truth = models.OneToOneField(Truth, primary_key=True, on_delete=models.CASCADE, related_name="statistics")
    content = models.JSONField(help_text="as written by `podium prepare --statistics`")

    class Meta:
        verbose_name_plural = "truth statistics"

    def __str__(self) -> str:
        return f"statistics of {self.truth}"


class SigningKey(models.Model):
    """The public key of a key pair that this service has used to sign results. The newest row is the current key."""

    public_key = models.CharField(max_length=64, unique=True)
    used_at = models.DateTimeField(help_text="when it first signed results, or when it replaced another key")

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.public_key


class Publication(models.Model):
    """The scheduled publication of a draft. The row is removed when the draft is published."""

    challenge = models.OneToOneField(Challenge, on_delete=models.CASCADE, related_name="publication")
    at = models.DateTimeField()
    visibility = models.CharField(max_length=10, choices=Challenge.Visibility)
    failed_at = models.DateTimeField(null=True, blank=True)
    failure = models.CharField(
        max_length=500, blank=True, default="", help_text="why the draft was not published at this time"
    )

    def __str__(self) -> str:
        return f"{self.challenge} at {self.at}"
