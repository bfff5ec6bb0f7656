"""The database model for challenges."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from server.challenges.roles import Right
from server.challenges.visibility import ChallengeQuerySet
from server.clock import is_over


class Challenge(models.Model):
    """A competition with its pages, rules, dates, teams, and one or more phases."""

    class Visibility(models.TextChoices):
        DRAFT = "draft", "draft: organizers only"
        PUBLIC = "public", "public"
        UNLISTED = "unlisted", "unlisted: anyone who knows the URL"
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
    # `allowed_people` lists people who may join. It is personal data, so it is never shown to participants, and not
    # copied into the audit log.
    allowed_people = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Email addresses and usernames, separated by spaces. Only these people, and those with a confirmed "
        "address at an allowed domain, can join.",
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
    # While `archived_at` is set, the challenge is archived, and nothing in it can be changed.
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)
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
        return self.archived_at is not None or is_over(self.closes_at, now)

    def is_organized_by(self, user: Any, right: Right = Right.READ) -> bool:
        """Return whether a user has the given right as an organizer of the challenge, or is staff."""
        return Challenge.objects.organized_by(user, right).filter(pk=self.pk).exists()

    def has_organizer(self, user: Any) -> bool:
        """Return whether a user is an organizer of the challenge or staff.

        Unlike `is_organized_by`, this does not check whether the user has the required two-factor authentication.
        """
        return user.is_staff or self.organizers.filter(pk=user.pk).exists()
