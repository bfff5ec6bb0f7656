"""Models for notices to users about events in their challenges, and for the notices that users want by email."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q

from server.challenges.models import Challenge, Team
from server.leaderboards.models import Board


class Kind(models.TextChoices):
    """A kind of notice. For each kind, users choose whether to also receive an email."""

    SCORED = "scored", "A submission was scored more than 2 minutes after its upload"
    REJECTED = "rejected", "A submission was rejected"
    FAILED = "failed", "Scoring a submission failed"
    OVERTAKEN = "overtaken", "Your team is no longer in the top three"
    ANNOUNCED = "announced", "Organizers published an announcement"
    DEADLINE = "deadline", "A phase closes in 24 hours"
    RESCORED = "rescored", "A phase was rescored"
    CHANGED = "changed", "Organizers paused submissions, extended a phase or gave your team more submissions"
    INVITED = "invited", "A team invited you"
    ASKED = "asked", "Someone asked to join or merge with a team of which you are the captain"
    ORGANIZES = "organizes", "You were given a role as an organizer"
    SCHEDULE = "schedule", "A challenge that you own was not published as scheduled"


class Announcement(models.Model):
    """A message from the organizers to all participants in a challenge."""

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="announcements")
    title = models.CharField(max_length=120)
    text = models.TextField(max_length=5000)
    with_mail = models.BooleanField(
        default=True,
        db_default=True,
        help_text="whether this announcement is also sent by email to people who want emails about announcements",
    )
    announced_at = models.DateTimeField()
    announced_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="announcements"
    )

    class Meta:
        ordering = ("-announced_at",)

    def __str__(self) -> str:
        return self.title


class Event(models.Model):
    """An event about which users are notified once. Its text contains no scores and no names of people or teams."""

    kind = models.CharField(max_length=10, choices=Kind)
    key = models.CharField(max_length=120, help_text="identifies the event among all events of its kind")
    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="events")
    text = models.CharField(max_length=500)
    path = models.CharField(max_length=200, help_text="URL of the page to which the notice links")
    happened_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("kind", "key"), name="one_event_of_a_key"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class NoticeQuerySet(models.QuerySet["Notice"]):
    def unread(self) -> "NoticeQuerySet":
        return self.filter(read_at=None)

    def mail_due(self, now: datetime) -> "NoticeQuerySet":
        """Return the notices whose emails should be sent now, longest overdue first."""
        return self.filter(mail_at__lte=now).order_by("mail_at", "pk")


class Notice(models.Model):
    """A notice in a user's inbox about an event, and the state of the email about it."""

    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="notices")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    read_at = models.DateTimeField(null=True)
    mail_at = models.DateTimeField(
        null=True, help_text="when the next attempt to send its email begins; empty if there is none"
    )
    mail_attempts = models.PositiveSmallIntegerField(default=0)
    mailed_at = models.DateTimeField(null=True)

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = (models.UniqueConstraint(fields=("user", "event"), name="one_notice_of_an_event"),)
        indexes = (models.Index(fields=("mail_at",), condition=Q(mail_at__isnull=False), name="notice_mail_due"),)

    def __str__(self) -> str:
        return f"{self.event_id} for {self.user_id}"


class MailChoice(models.Model):
    """A kind of notice that a user also wants to receive by email."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mail_choices")
    kind = models.CharField(max_length=10, choices=Kind)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("user", "kind"), name="one_choice_of_a_kind"),)

    def __str__(self) -> str:
        return f"{self.kind} for {self.user_id}"


class Progress(models.Model):
    """A single row with the time up to which events have been processed. It is locked while notices are written."""

    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"until {self.until}"


class TopThree(models.Model):
    """The teams in the top three of a leaderboard when it was last checked."""

    board = models.OneToOneField(Board, primary_key=True, on_delete=models.CASCADE, related_name="top_three")
    version = models.PositiveBigIntegerField()
    teams = models.ManyToManyField(Team, related_name="+")

    def __str__(self) -> str:
        return f"top three of {self.board_id}"
