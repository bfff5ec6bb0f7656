"""Users and their API tokens."""

import secrets
from datetime import datetime
from hashlib import sha256

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower


class User(AbstractUser):
    """A user account. The project has its own user model, so that fields can be added by migrations."""

    # Email addresses are not unique. An unconfirmed address proves nothing, and rejecting an address at sign-up would
    # reveal who has an account. A confirmed address belongs to only one account; django-allauth's `EmailAddress`
    # records which addresses are confirmed.
    email = models.EmailField()
    display_name = models.CharField(max_length=80, blank=True, default="", db_default="")
    affiliation = models.CharField(max_length=120, blank=True, default="", db_default="")
    country = models.CharField(max_length=2, blank=True, default="", db_default="", help_text="ISO 3166 code")
    has_two_factor = models.BooleanField(
        default=False, db_default=False, help_text="whether login also requires a code from an authenticator app"
    )
    unread_notices = models.PositiveIntegerField(default=0, db_default=0)

    class Meta(AbstractUser.Meta):
        constraints = (models.UniqueConstraint(Lower("username"), name="username_unique_in_any_case"),)

    @property
    def shown_name(self) -> str:
        """The display name of the user, or the username if there is no display name."""
        return self.display_name or self.get_username()


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def usable(self, now: datetime) -> "ApiTokenQuerySet":
        """Return the tokens that are neither revoked nor expired and that belong to active accounts."""
        return self.filter(revoked_at=None, expires_at__gt=now, user__is_active=True)

    def of_secret(self, secret: str) -> "ApiTokenQuerySet":
        return self.filter(sha256=ApiToken.digest(secret))


class ApiToken(models.Model):
    """An API token that a program uses to authenticate. It expires and can be revoked.

    Only the sha256 of its secret is stored.
    """

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
        """Return the sha256 of a secret. The database contains only this hash, not the secret."""
        return sha256(secret.encode()).hexdigest()

    @staticmethod
    def new_secret() -> str:
        """Return a random 256-bit secret for a new token, with a prefix that secret scanners recognize."""
        return f"podium_{secrets.token_urlsafe(32)}"


class DeviceLoginQuerySet(models.QuerySet["DeviceLogin"]):
    def of_device_code(self, device_code: str) -> "DeviceLoginQuerySet":
        return self.filter(sha256=ApiToken.digest(device_code))

    def waiting(self, now: datetime) -> "DeviceLoginQuerySet":
        """Return the token requests that have been neither approved nor denied and have not expired."""
        return self.filter(decision="", expires_at__gt=now)


class DeviceLogin(models.Model):
    """A program's request for an API token, which a logged-in user approves or denies in the browser (RFC 8628).

    When the program fetches the token, the token is created and the request is deleted.
    """

    class Decision(models.TextChoices):
        APPROVED = "approved", "approved"
        DENIED = "denied", "denied"

    sha256 = models.CharField(max_length=64, unique=True, help_text="digest of the device code, which is not stored")
    user_code = models.CharField(max_length=9, unique=True)
    name = models.CharField(max_length=80, help_text="name given by the program; the token gets the same name")
    network = models.CharField(max_length=45, help_text="network from which the program sent the request")
    scope = models.CharField(max_length=10, choices=ApiToken.Scope)
    decision = models.CharField(max_length=8, choices=Decision, blank=True)
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="device_logins")
    expires_at = models.DateTimeField()
    asked_at = models.DateTimeField(null=True, help_text="when the program last asked whether the login was approved")

    objects = DeviceLoginQuerySet.as_manager()

    class Meta:
        constraints = (
            models.CheckConstraint(
                name="device_login_decided_by_a_user",
                condition=models.Q(decision="", user=None) | (~models.Q(decision="") & models.Q(user__isnull=False)),
            ),
        )

    def __str__(self) -> str:
        return f"{self.user_code} {self.name}"
