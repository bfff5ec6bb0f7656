"""Users and their API tokens."""

import secrets
from datetime import datetime
from hashlib import sha256

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower


class User(AbstractUser):
    """A user account. The model has been a custom one since the first migration, so that fields can be added."""

    # Not unique: an unconfirmed address proves nothing, and refusing one would reveal who has an account. A confirmed
    # address belongs to one account; django-allauth's `EmailAddress` records which addresses are confirmed.
    email = models.EmailField()

    class Meta(AbstractUser.Meta):
        constraints = (models.UniqueConstraint(Lower("username"), name="username_unique_in_any_case"),)


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def usable(self, now: datetime) -> "ApiTokenQuerySet":
        """Return tokens of active accounts that are neither revoked nor expired."""
        return self.filter(revoked_at=None, expires_at__gt=now, user__is_active=True)

    def of_secret(self, secret: str) -> "ApiTokenQuerySet":
        return self.filter(sha256=ApiToken.digest(secret))


class ApiToken(models.Model):
    """A secret that authenticates programs. It is shown once, stored as its sha256, expires and can be revoked."""

    class Scope(models.TextChoices):
        READ = "read", "read"
        SUBMIT = "submit", "read and submit"
        ORGANIZE = "organize", "read, submit and organize"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.SUBMIT)
    start = models.CharField(max_length=12, help_text="first characters of the secret, to distinguish tokens")
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
        """Return the digest that is stored instead of a secret."""
        return sha256(secret.encode()).hexdigest()

    @staticmethod
    def new_secret() -> str:
        """Return a new random secret of 256 bits. Secret scanners recognise its prefix."""
        return f"podium_{secrets.token_urlsafe(32)}"
