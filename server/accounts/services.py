"""Creates accounts without sign-up, confirms email addresses, issues and revokes tokens, and logs password changes."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db import transaction

from evaluator.texts import one_line
from server.accounts.models import ApiToken, User
from server.audit import services as audit
from server.clock import database_now
from server.errors import Refused

NAME_CHARACTERS = 80


@transaction.atomic
def create_account(*, username: str, email: str, password: str | None = None) -> User:
    """Create an account with a confirmed email address. Without a password, nobody can log in to the account."""
    user = User.objects.create_user(username=username, email=email, password=password)
    confirm_own_address(user)
    record_account(user)
    return user


def record_account(user: User, **detail: Any) -> None:
    audit.record(actor=user, action="account.created", subject=f"user {user.pk}", detail=detail)


@transaction.atomic
def confirm_own_address(user: User) -> None:
    """Confirm the email address in a user's account, unless another account has confirmed it.

    Other addresses of the user are deleted.
    """
    email = user.email.lower()
    EmailAddress.objects.filter(user=user).exclude(email=email).delete()
    if email:
        address, _ = EmailAddress.objects.get_or_create(user=user, email=email, defaults={"primary": True})
        address.set_verified()


@transaction.atomic
def confirm_address(address: EmailAddress, *, by: Any) -> bool:
    """Confirm an email address for its account. Return False if another account has already confirmed the address."""
    known, confirmed = address.verified, bool(address.set_verified())
    if confirmed and not known:
        audit.record(actor=by, action="user.email_confirmed", subject=f"user {address.user_id}")
    return confirmed


def is_listed(user: User, *, domains: Collection[str], people: Collection[str]) -> bool:
    """Return whether a user has a confirmed email address at one of the domains, or is one of the given people.

    `people` contains email addresses and usernames in lower case. An item with "@" never refers to a username, because
    anybody could choose such a username.
    """
    if user.get_username().lower() in (one for one in people if "@" not in one):
        return True
    confirmed = EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    return any(email.lower() in people or email.lower().rpartition("@")[2] in domains for email in confirmed)


@transaction.atomic
def issue_token(*, user: User, name: str, scope: str, days: int) -> tuple[ApiToken, str]:
    """Create an API token and return it with its secret, which is not stored and cannot be shown again."""
    try:
        name = one_line(name, NAME_CHARACTERS)
    except ValueError:
        raise Refused(
            "invalid", f"The name of a token must have 1 to {NAME_CHARACTERS} printable characters."
        ) from None
    if scope not in ApiToken.Scope.values:
        raise Refused("invalid", f"The scope of a token must be one of {', '.join(ApiToken.Scope.values)}.")
    if not 1 <= days <= settings.API_TOKEN_DAYS:
        raise Refused("invalid", f"A token can be valid for 1 to {settings.API_TOKEN_DAYS} days.")
    secret = ApiToken.new_secret()
    token = ApiToken.objects.create(
        user=user,
        name=name,
        scope=scope,
        start=secret[: ApiToken._meta.get_field("start").max_length],
        sha256=ApiToken.digest(secret),
        expires_at=database_now() + timedelta(days=days),
    )
    audit.record(actor=user, action="token.issued", subject=f"token {token.pk}", detail=_described(token))
    return token, secret


@transaction.atomic
def revoke_token(*, token: ApiToken, by: Any) -> None:
    """Revoke an API token. Only its owner and staff may do this. Revoking a token again has no effect."""
    if by.pk != token.user_id and not by.is_staff:
        raise Refused("not_found", "This token does not exist, or it is not yours.")
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=database_now()):
        audit.record(actor=by, action="token.revoked", subject=f"token {token.pk}", detail=_described(token))


def record_password(*, user: User, by: Any) -> None:
    """Record in the audit log that a password was changed, and whether the account now has a usable password.

    Call this in a transaction.
    """
    detail = {"user": user.pk, "usable": user.has_usable_password()}
    audit.record(actor=by, action="user.password_changed", subject=f"user {user.pk}", detail=detail)


def _described(token: ApiToken) -> dict[str, Any]:
    return {"user": token.user_id, "scope": token.scope, "start": token.start}
