"""The organizers of a challenge with their roles, and roles that are offered to participants."""

from django.conf import settings
from django.db import models

from server.challenges.models.challenge import Challenge
from server.challenges.roles import Role


class Organizer(models.Model):
    """A person who organizes a challenge. The role determines what the person may do."""

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="organizer_roles")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="organizer_roles")
    role = models.CharField(max_length=10, choices=Role, default=Role.OWNER, db_default=Role.OWNER)
    # Null if no other person assigned the role, for example if an import made the person an organizer.
    given_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "challenges_challenge_organizers"
        unique_together = (("challenge", "user"),)

    def __str__(self) -> str:
        return f"{self.user}, {self.role} of {self.challenge}"


class RoleOffer(models.Model):
    """A role that is offered to a person who is in a team of the challenge. The person accepts or declines it."""

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="role_offers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="role_offers")
    role = models.CharField(max_length=10, choices=Role)
    offered_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("challenge", "user"), name="one_role_offer_per_person"),)

    def __str__(self) -> str:
        return f"{self.role} of {self.challenge} for {self.user}"
