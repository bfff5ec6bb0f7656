"""Models for changes to teams that need another person's consent, and for the public profiles of teams."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.signals import post_delete
from django.dispatch import receiver

from server.accounts.models import ApiToken
from server.challenges.models import Challenge, Membership, Team


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def waiting(self, now: datetime) -> "InvitationQuerySet":
        """Return the invitations and requests to join that have not expired."""
        return self.filter(expires_at__gt=now)

    def of_token(self, token: str) -> "InvitationQuerySet":
        """Return the invitation whose link contains the given token."""
        return self.filter(kind=Invitation.Kind.LINK, token_sha256=ApiToken.digest(token))


class Invitation(models.Model):
    """An invitation to a team, or a person's request to join a team. It is deleted once it is accepted or declined."""

    class Kind(models.TextChoices):
        LINK = "link", "invitation by link"
        PERSON = "person", "invitation by username"
        REQUEST = "request", "request to join"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    kind = models.CharField(max_length=8, choices=Kind)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="team_invitations",
        help_text="the person who is invited or requests to join; empty for an invitation by link",
    )
    token_sha256 = models.CharField(max_length=64, blank=True, help_text="digest of the token in the link")
    rules_accepted = models.BooleanField(
        default=False, help_text="whether the person who requests to join has accepted the rules"
    )
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ("created_at",)
        constraints = (
            models.UniqueConstraint(fields=("team", "user"), name="one_invitation_per_team_and_person"),
            models.UniqueConstraint(
                fields=("token_sha256",), condition=~Q(token_sha256=""), name="one_invitation_per_token"
            ),
            models.CheckConstraint(
                name="invitation_has_a_person_or_a_token",
                condition=(Q(kind="link", user=None) & ~Q(token_sha256=""))
                | (Q(user__isnull=False, token_sha256="") & ~Q(kind="link")),
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} for {self.team}"


class SentInvitation(models.Model):
    """A record of one person contacting another by an invitation, a request to join, or a proposed merge.

    These records limit how often people are contacted. Unlike an invitation, a record is kept for some time after
    the recipient has decided, even if the team is deleted.
    """

    sender = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    recipient = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="+")
    sent_at = models.DateTimeField(db_index=True)
    is_merge = models.BooleanField(default=False, db_default=False, help_text="whether a merge of teams was proposed")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("sender", "recipient", "challenge", "is_merge"), name="one_sent_contact_per_pair"
            ),
        )

    def __str__(self) -> str:
        return f"{self.sender_id} to {self.recipient_id}"


class MergeProposal(models.Model):
    """A captain's proposal to merge two teams. It is deleted when the other captain accepts or declines it."""

    team = models.ForeignKey(
        Team,
        on_delete=models.CASCADE,
        related_name="proposed_merges",
        help_text="the team that proposes the merge and keeps its name",
    )
    other = models.ForeignKey(
        Team,
        on_delete=models.CASCADE,
        related_name="merge_offers",
        help_text="the team that would be merged into the proposing team",
    )
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ("created_at",)
        constraints = (
            models.UniqueConstraint(fields=("team", "other"), name="one_proposal_per_pair"),
            models.CheckConstraint(name="merge_of_two_teams", condition=~Q(team=models.F("other"))),
        )

    def __str__(self) -> str:
        return f"merge of {self.other} into {self.team}"


class TeamProfile(models.Model):
    """A team's description of its method, shown on the team's public page."""

    team = models.OneToOneField(Team, primary_key=True, on_delete=models.CASCADE, related_name="profile")
    method = models.CharField(max_length=120, blank=True)
    paper_url = models.URLField(max_length=500, blank=True)
    code_url = models.URLField(max_length=500, blank=True)

    def __str__(self) -> str:
        return f"profile of {self.team_id}"


@receiver(post_delete, sender=Membership)
def follow_captain(instance: Membership, **signal: Any) -> None:
    """Make the member who joined first the captain of a team whose captain's membership was deleted."""
    others = Membership.objects.filter(team=instance.team_id)
    if instance.is_captain and not others.filter(is_captain=True).exists():
        Membership.objects.filter(pk__in=others.order_by("joined_at", "pk").values("pk")[:1]).update(is_captain=True)
