"""The organizers of a challenge with their roles."""

from django.conf import settings
from django.db import models

from server.challenges.models.challenges import Challenge
from server.challenges.roles import Role


class Organizer(models.Model):
    """A person who organizes a challenge, with a role. The roles decide what the person may do."""

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="organizer_roles")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="organizer_roles")
    role = models.CharField(max_length=10, choices=Role, default=Role.OWNER, db_default=Role.OWNER)
    # Null if no other person gave this role, for example if an import made the person an organizer.
    given_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "challenges_challenge_organizers"
        unique_together = (("challenge", "user"),)

    def __str__(self) -> str:
        return f"{self.user}, {self.role} of {self.challenge}"
