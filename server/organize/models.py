"""Rescorings of phases."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from server.challenges.models import Phase, Truth


class Rescoring(models.Model):
    """A rescoring: all submissions of a phase are scored again. The leaderboards do not change until it is applied."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="rescorings")
    truth = models.ForeignKey(Truth, on_delete=models.CASCADE, related_name="rescorings")
    signature = models.CharField(max_length=400, help_text="signature of the scores that the leaderboards will show")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    started_at = models.DateTimeField()
    applied_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-started_at",)
        constraints = (
            models.UniqueConstraint(
                fields=("phase",), condition=Q(applied_at=None), name="one_open_rescoring_per_phase"
            ),
        )

    def __str__(self) -> str:
        return f"{self.phase} to {self.signature}"
