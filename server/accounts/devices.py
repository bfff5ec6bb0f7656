"""Lists the devices on which a user is signed in, and signs the user out. Each browser counts as a device."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from allauth.usersessions.models import UserSession
from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction

from server.accounts.models import User
from server.audit.services import record
from server.clock import database_now

BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrome", "Chrome"), ("Safari", "Safari"))
SYSTEMS = (
    *(("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows")),
    *(("Mac OS X", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux")),
)


@dataclass(frozen=True, slots=True)
class Device:
    """A browser with an active session of a user."""

    pk: int
    name: str
    network: str
    since: datetime
    is_current: bool


def device_name(user_agent: str) -> str:
    """Return a short name for a browser from its User-Agent header.

    >>> device_name("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    'Firefox on Linux'
    >>> device_name("curl/8.0")
    'curl'
    """
    browser = next((name for mark, name in BROWSERS if f"{mark}/" in user_agent or f"{mark}A/" in user_agent), "")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    if browser:
        return f"{browser} on {system}" if system else browser
    found = re.match(r"[\w.-]{1,30}", user_agent)
    return found[0] if found else "Unknown browser"


def signed_in(user: User, current: str) -> list[Device]:
    """Return the devices on which a user is signed in: the current device first, then by most recent login."""
    rows = UserSession.objects.filter(user=user).order_by("-created_at")
    alive = valid_sessions(user)
    found = [
        Device(row.pk, device_name(row.user_agent), row.ip, row.created_at, row.session_key == current)
        for row in rows
        if row.session_key in alive
    ]
    return sorted(found, key=lambda one: not one.is_current)


def valid_sessions(user: User) -> set[str]:
    """Return the keys of a user's sessions that have neither expired nor been ended by a password change."""
    own = UserSession.objects.filter(user=user).values("session_key")
    hashes = {user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()}
    sessions = Session.objects.filter(session_key__in=own, expire_date__gt=database_now())
    return {one.session_key for one in sessions if one.get_decoded().get(HASH_SESSION_KEY) in hashes}


@transaction.atomic
def sign_out(user: User, sessions: Sequence[UserSession]) -> None:
    """End the given sessions of a user."""
    Session.objects.filter(session_key__in=[one.session_key for one in sessions]).delete()
    UserSession.objects.filter(pk__in=[one.pk for one in sessions]).delete()
    if sessions:
        record(actor=user, action="user.signed_out", subject=f"user {user.pk}", detail={"devices": len(sessions)})
