"""Two-factor authentication by TOTP and recovery codes: adapts `allauth.mfa`, and records changes in the audit log.

The secrets are encrypted with a key that is derived from SECRET_KEY.
"""

import base64
from hashlib import sha256
from typing import Any

from allauth.core import context, ratelimit
from allauth.mfa import signals
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.dispatch import receiver
from qrcode import QRCode
from qrcode.constants import ERROR_CORRECT_M

from server.accounts.models import User
from server.audit.services import record
from server.errors import Refused

DAY_SECONDS = 24 * 3600
# To be readable by scanners, a QR code needs a white margin of 4 modules. A module is one square of the code.
QUIET_ZONE = 4
Type = Authenticator.Type


class TwoFactorAdapter(DefaultMFAAdapter):
    """Adapts `allauth.mfa`: encrypts the stored secrets, and draws the QR code without inline styles."""

    def get_totp_label(self, user: AbstractBaseUser) -> str:
        return str(user.get_username())

    def encrypt(self, text: str) -> str:
        return cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return a decrypted secret. Raises Refused if it was encrypted with an unknown SECRET_KEY."""
        try:
            return cipher().decrypt(encrypted_text).decode()
        except InvalidToken:
            detail = "Two-factor authentication no longer works for this account. Contact the operator of this service."
            raise Refused("forbidden", detail) from None

    def build_totp_svg(self, url: str) -> str:
        return qr_svg(url)


def cipher() -> MultiFernet:
    """Return the cipher for the two-factor secrets in the database.

    It encrypts with SECRET_KEY, and also decrypts what was encrypted with one of SECRET_KEY_FALLBACKS.
    """
    return MultiFernet([cipher_of(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def cipher_of(key: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(sha256(f"two-factor {key}".encode()).digest()))


def encrypt_again() -> tuple[int, int]:
    """Re-encrypt the two-factor secrets of all accounts with the current SECRET_KEY.

    Return the number of accounts with such secrets, and the number whose secrets no known key can decrypt.
    """
    unreadable = set()
    rows = Authenticator.objects.filter(type__in=(Type.TOTP, Type.RECOVERY_CODES))
    for pk in rows.values_list("pk", flat=True):
        with transaction.atomic():
            one = rows.select_for_update().filter(pk=pk).first()
            if one is None:
                continue
            try:
                data = {name: encrypted_again(value) for name, value in one.data.items()}
            except InvalidToken:
                unreadable.add(one.user_id)
            else:
                rows.filter(pk=pk).update(data=data)
    return rows.values("user").distinct().count(), len(unreadable)


def encrypted_again(value: Any) -> Any:
    """Return a value from an authenticator's data, re-encrypted with the current key.

    Strings and lists of strings are re-encrypted. Numbers are returned unchanged.
    """
    if isinstance(value, list):
        return [encrypted_again(one) for one in value]
    return cipher().rotate(value).decode() if isinstance(value, str) else value


def qr_svg(text: str) -> str:
    """Return the QR code of a string as an SVG element that draws all dark squares with a single path."""
    code = QRCode(error_correction=ERROR_CORRECT_M, border=0)
    code.add_data(text)
    rows = code.get_matrix()
    size = len(rows) + 2 * QUIET_ZONE
    dark = "".join(
        f"M{x + QUIET_ZONE} {y + QUIET_ZONE}h1v1h-1z" for y, row in enumerate(rows) for x, one in enumerate(row) if one
    )
    return (
        f'<svg class="qr" viewBox="0 0 {size} {size}" role="img" aria-label="QR code for your authenticator app">'
        f'<rect width="{size}" height="{size}" fill="#fff"/><path d="{dark}" fill="#000"/></svg>'
    )


class LimitedCodes:
    """A form mixin that limits the number of wrong codes per account and day.

    django-allauth's limit per minute alone would allow 14,400 wrong codes per day.
    """

    user: User

    def clean_code(self) -> str:
        key = f"second-factor {self.user.pk}"
        if not ratelimit.consume(context.request, action="second_factor", key=key):
            detail = "Too many incorrect codes were entered for this account today. Try again tomorrow."
            raise Refused("rate_limited", detail, retry_after=DAY_SECONDS)
        code: str = super().clean_code()  # type: ignore[misc]
        ratelimit.clear(context.request, action="second_factor", key=key)
        return code


class CodeForm(LimitedCodes, AuthenticateForm):
    """The form for the second step of a login: a code from the authenticator app, or a recovery code."""


class CodeAgainForm(LimitedCodes, ReauthenticateForm):
    """The form that asks for another authentication code before a sensitive change to an account."""


@receiver([signals.authenticator_added, signals.authenticator_removed, signals.authenticator_reset])
@transaction.atomic
def follow_authenticators(user: User, authenticator: Authenticator, signal: Any, **more: Any) -> None:
    """Update `User.has_two_factor` after a change to a user's authenticators, and write an audit entry."""
    has_two_factor = Authenticator.objects.filter(user=user, type=Type.TOTP).exists()
    User.objects.filter(pk=user.pk).update(has_two_factor=has_two_factor)
    user.has_two_factor = has_two_factor
    verbs = {signals.authenticator_added: "added", signals.authenticator_removed: "removed"}
    action = f"user.{authenticator.type}_{verbs.get(signal, 'renewed')}"
    record(actor=user, action=action, subject=f"user {user.pk}")


@transaction.atomic
def reset(*, user: User, by: Any) -> bool:
    """Turn off two-factor authentication for a user who has lost the authenticator app and the recovery codes.

    Return False if it was not on. The caller must check that `by` may do this.
    """
    if not Authenticator.objects.filter(user=user).delete()[0]:
        return False
    User.objects.filter(pk=user.pk).update(has_two_factor=False)
    record(actor=by, action="user.two_factor_reset", subject=f"user {user.pk}")
    return True
