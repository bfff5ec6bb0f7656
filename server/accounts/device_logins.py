"""Logs in a program with a short code that its user approves in the browser (RFC 8628).

The program requests an API token. It gets a secret device code, and a user code that it shows to its user. The user
logs in on the website, enters the user code, and sees which program requests which access. The user then approves or
denies the request. Only the program that has the device code can fetch the token, and only once.
"""

import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from evaluator.texts import one_line
from server.accounts.models import ApiToken, DeviceLogin, User
from server.accounts.services import NAME_CHARACTERS, issue_token
from server.audit import services as audit
from server.clock import database_now
from server.errors import Refused

VALID_SECONDS = 15 * 60
INTERVAL_SECONDS = 5
TOKEN_DAYS = 90
# User codes contain no vowels, so that they do not spell words, and no characters that look alike.
ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"
# A user code consists of two groups of 4 letters. The user types it to approve a login on another device.
HALF = 4

EXPIRED = "This code has expired or was already used. Start the login again."
UNKNOWN = "This code does not exist or has expired. Start the login again in your program."
PENDING = "The login has not been approved or denied yet. Send the request again after `interval` seconds."
TOO_SOON = f"Wait {INTERVAL_SECONDS} seconds between requests."


def start(*, name: str, scope: str, network: str) -> tuple[DeviceLogin, str]:
    """Create a program's request for an API token. Return the request and its device code, which is not stored."""
    try:
        name = one_line(name, NAME_CHARACTERS)
    except ValueError:
        raise Refused("invalid", f"The name must have 1 to {NAME_CHARACTERS} printable characters.") from None
    now = database_now()
    DeviceLogin.objects.filter(expires_at__lte=now).delete()
    device_code = secrets.token_urlsafe(32)
    login = DeviceLogin.objects.create(
        sha256=ApiToken.digest(device_code),
        user_code=new_user_code(),
        name=name,
        network=network,
        scope=scope,
        expires_at=now + timedelta(seconds=VALID_SECONDS),
    )
    return login, device_code


def new_user_code() -> str:
    first, second = ("".join(secrets.choice(ALPHABET) for _ in range(HALF)) for _ in range(2))
    return f"{first}-{second}"


def as_shown(typed: str) -> str:
    """Normalize a user code entered by a user: upper case, with a hyphen in the middle.

    >>> as_shown(" bcdf ghjk ")
    'BCDF-GHJK'
    """
    letters = "".join(sign for sign in typed.upper() if sign in ALPHABET)
    return f"{letters[:HALF]}-{letters[HALF : 2 * HALF]}"


def waiting_login(typed: str) -> DeviceLogin:
    """Return the pending token request with the given user code. Raises Refused if there is none."""
    found = DeviceLogin.objects.waiting(database_now()).filter(user_code=as_shown(typed)).first()
    if found is None:
        raise Refused("not_found", UNKNOWN)
    return found


def token_days() -> int:
    """Return the number of days for which the token of an approved device login is valid."""
    return min(TOKEN_DAYS, settings.API_TOKEN_DAYS)


@transaction.atomic
def decide(*, user: User, login: DeviceLogin, approve: bool) -> None:
    """Approve or deny a program's token request. Raises Refused if the request is no longer pending."""
    decision = DeviceLogin.Decision.APPROVED if approve else DeviceLogin.Decision.DENIED
    waiting = DeviceLogin.objects.waiting(database_now()).filter(pk=login.pk)
    if not waiting.update(decision=decision, user=user):
        raise Refused("not_found", UNKNOWN)
    detail = {"user": user.pk, "scope": login.scope}
    audit.record(actor=user, action=f"device.{decision}", subject=f"user {user.pk}", detail=detail)


def fetch_token(device_code: str) -> tuple[ApiToken, str]:
    """Issue the token for an approved request and return it with its secret. This is possible only once per request.

    Raises Refused with an error code from RFC 8628 if the request is pending, denied or expired, if its token has
    already been fetched, or if the program polls more often than every INTERVAL_SECONDS.
    """
    with transaction.atomic():
        now = database_now()
        login = DeviceLogin.objects.select_for_update().of_device_code(device_code).first()
        if login is None or login.expires_at <= now:
            raise Refused("expired_token", EXPIRED)
        if login.decision == DeviceLogin.Decision.APPROVED and login.user and login.user.is_active:
            login.delete()
            return issue_token(user=login.user, name=login.name, scope=login.scope, days=token_days())
        refusal = refusal_of(login, now)
    # The exception is raised after the transaction. Inside the transaction, it would undo the changes made by
    # `refusal_of`.
    raise refusal


def refusal_of(login: DeviceLogin, now: datetime) -> Refused:
    """Return the exception to raise when a program polls for a token whose request is not approved.

    A denied request is deleted. For a pending request, the time of the poll is saved.
    """
    if login.decision:
        login.delete()
        return Refused("access_denied", "The login was denied in the browser.")
    too_soon = login.asked_at is not None and (now - login.asked_at).total_seconds() < INTERVAL_SECONDS - 1
    login.asked_at = now
    login.save(update_fields=["asked_at"])
    return Refused("slow_down", TOO_SOON) if too_soon else Refused("authorization_pending", PENDING)
