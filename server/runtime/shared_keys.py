"""Compares the secret keys of a part of the service with those of the other parts, by fingerprints in the database.

A part with different keys would do damage that nobody notices: its entries in the audit log could not be verified,
people would be logged out when their next request reaches another host, and results would be signed with an unknown
key.
"""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError
from django.dispatch import receiver

from server.accounts.audited_command import AuditedCommand, starts
from server.runtime.joining import WrongInstallation
from server.runtime.models import SharedKey

KEYS = ("SECRET_KEY", "AUDIT_KEY", "SIGNING_KEY")


def fingerprint(name: str, key: str) -> str:
    """Return a shortened hash of a secret key, from which the key cannot be computed."""
    return hashlib.sha256(f"{name} {key}".encode()).hexdigest()[:16]


def fingerprints() -> dict[str, str]:
    """Return the fingerprint of each secret key in the settings of this process, keyed by setting."""
    return {name: fingerprint(name, getattr(settings, name)) for name in KEYS}


def differing(known: Mapping[str, str]) -> list[str]:
    """Return the names of the secret keys in the settings of this process whose fingerprints differ from `known`.

    While SECRET_KEY is being changed, `known` may also contain the fingerprint of an earlier value, which must be in
    SECRET_KEY_FALLBACKS.
    """
    usable = {name: {own} for name, own in fingerprints().items()}
    usable["SECRET_KEY"] |= {fingerprint("SECRET_KEY", key) for key in settings.SECRET_KEY_FALLBACKS}
    return [name for name in KEYS if name in known and known[name] not in usable[name]]


def of_installation() -> dict[str, str]:
    """Return the fingerprints of the installation's secret keys that are stored in the database, keyed by setting."""
    return dict(SharedKey.objects.values_list("name", "fingerprint"))


def check(*, first: bool) -> None:
    """Raise WrongInstallation if a secret key of this process differs from that of the installation.

    If `first` is true (in the web part, which starts first), missing fingerprints are stored, and the fingerprint of an
    earlier SECRET_KEY is replaced.
    """
    known = of_installation()
    if names := differing(known):
        raise WrongInstallation(explanation(names))
    if first:
        note(name for name, own in fingerprints().items() if known.get(name) != own)


@receiver(starts)
def refuse_other_audit_key(sender: type[AuditedCommand], **signal: Any) -> None:
    """Raise CommandError if a command would write audit entries with a key that is not that of the installation."""
    names: list[str] = []
    # If the fingerprints cannot be read, the command itself explains what is wrong with the database.
    with suppress(DatabaseError):
        names = differing(of_installation())
    if "AUDIT_KEY" in names and not sender.accepts_other_keys:
        raise CommandError(explanation(names), returncode=WrongInstallation.returncode)


def note(names: Iterable[str]) -> None:
    """Store the fingerprints of the named secret keys of this process as the fingerprints of the installation."""
    own = fingerprints()
    for name in names:
        SharedKey.objects.update_or_create(name=name, defaults={"fingerprint": own[name]})


def explanation(names: list[str]) -> str:
    places = " and ".join(f"{name} (or PODIUM_HOME/{name.lower()})" for name in names)
    advice = ["Copy the key from another host or from its backup."]
    if "SECRET_KEY" in names:
        advice.append("If you are changing SECRET_KEY, add its earlier value to SECRET_KEY_FALLBACKS.")
    advice.append(
        "If it is lost, or was replaced on purpose, stop all parts, set the new key on every host, and run "
        "`manage.py shared_keys --accept`."
    )
    return f"{places}: not the key that this installation uses. {' '.join(advice)}"
