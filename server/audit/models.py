"""Models for the audit log, whose append-only entries form a hash chain."""

from django.contrib.auth import get_user_model
from django.db import models


class Entry(models.Model):
    """An entry in the audit log, which records one action.

    Its hash covers its content and the hash of the previous entry, so that changed and missing entries are detected.

    The id of the actor is stored as text, because entries are kept after an account is deleted. `actor_name` is
    the name of an operating system user. Older entries may also contain account names, which are no longer recorded.
    """

    number = models.PositiveBigIntegerField(primary_key=True)
    at = models.DateTimeField()
    actor_id = models.CharField(max_length=40, blank=True)
    actor_name = models.CharField(max_length=150, blank=True)
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=200)
    detail = models.JSONField(default=dict, blank=True)
    previous = models.CharField(max_length=64)
    hash = models.CharField(max_length=64, unique=True)

    class Meta:
        verbose_name_plural = "entries"
        ordering = ("-number",)
        indexes = (models.Index(fields=("subject", "number"), name="audit_by_subject"),)

    def __str__(self) -> str:
        return f"{self.number} {self.action} {self.subject}"

    @property
    def actor(self) -> str:
        """The current name of the user who performed the action, or the id of a deleted account."""
        if not self.actor_id.isdecimal():
            return self.actor_name
        user = get_user_model().objects.filter(pk=self.actor_id).first()
        return user.get_username() if user else f"deleted account {self.actor_id}"


class Head(models.Model):
    """A single row with the number and hash of the last entry in the audit log.

    It is locked while an entry is added. It also shows whether entries are missing at the end of the log.
    """

    number = models.PositiveBigIntegerField(default=0)
    hash = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"{self.number} {self.hash[:12]}"
