"""The database models for the organizers of a challenge, and for organizer roles that are offered to participants."""

from django.conf import settings
from django.db import models

from server.challenges.models.challenge import Challenge
from server.challenges.roles import Role


class Organizer(models.Model):
    """A user who organizes a challenge. The role determines what the user may do in the challenge."""

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="organizer_roles")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="organizer_roles")
    role = models.CharField(max_length=10, choices=Role, default=Role.OWNER, db_default=Role.OWNER)
    # `given_at` is null if no other user assigned the role, for example if an import made the user an organizer.
    given_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "challenges_challenge_organizers"
        unique_together = (("challenge", "user"),)

    def __str__(self) -> str:
        return f"{self.user}, {self.role} of {self.challenge}"


class RoleOffer(models.Model):
    """An offer of an organizer role in a challenge, made to a user who is in a team of the challenge.

    The user can accept or decline the offer.
    """

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="role_offers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="role_offers")
    role = models.CharField(max_length=10, choices=Role)
    offered_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("challenge", "user"), name="one_role_offer_per_person"),)

    def __str__(self) -> str:
        return f"{self.role} of {self.challenge} for {self.user}"
