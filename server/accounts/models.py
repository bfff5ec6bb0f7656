"""People and the tokens their programs use."""

import secrets
from datetime import datetime
from hashlib import sha256

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower


class User(AbstractUser):
    """A person. Custom from the first migration, so that it can grow."""

    # Not unique: an address that nobody confirmed proves nothing, and refusing it would tell who has an account.
    # A confirmed address belongs to one account; django-allauth's `EmailAddress` says which are confirmed.
    email = models.EmailField()

    class Meta(AbstractUser.Meta):
        constraints = (models.UniqueConstraint(Lower("username"), name="username_unique_in_any_case"),)


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def usable(self, now: datetime) -> "ApiTokenQuerySet":
        """Neither revoked nor expired, of an account that may log in."""
        return self.filter(revoked_at=None, expires_at__gt=now, user__is_active=True)

    def of_secret(self, secret: str) -> "ApiTokenQuerySet":
        return self.filter(sha256=ApiToken.digest(secret))


class ApiToken(models.Model):
    """A key for programs: shown once, kept as its sha256, expiring, revocable."""

    class Scope(models.TextChoices):
        READ = "read", "read"
        SUBMIT = "submit", "read and submit"
        ORGANIZE = "organize", "read, submit and organize"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.SUBMIT)
    start = models.CharField(max_length=12, help_text="first characters, to tell tokens apart")
    sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.start}… {self.name}"

    @staticmethod
    def digest(secret: str) -> str:
        """Return what is kept of a secret."""
        return sha256(secret.encode()).hexdigest()

    @staticmethod
    def new_secret() -> str:
        """Return a fresh secret of 256 bits with a prefix that scanners recognise."""
        return f"podium_{secrets.token_urlsafe(32)}"
