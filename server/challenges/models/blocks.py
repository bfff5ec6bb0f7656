"""The database model for people who cannot join a challenge."""

from django.conf import settings
from django.db import models

from server.challenges.models.challenge import Challenge


class Block(models.Model):
    """An account that is blocked from joining a challenge or a team in it, and the reason for the block."""

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="blocks")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="blocks")
    reason = models.CharField(max_length=300)
    blocked_at = models.DateTimeField()

    class Meta:
        ordering = ("-blocked_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("challenge", "user"), name="one_block_per_person_and_challenge"),
        )

    def __str__(self) -> str:
        return f"{self.user}, blocked from {self.challenge}"
