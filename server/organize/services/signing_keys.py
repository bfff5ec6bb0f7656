"""Manages the key that signs results. A lost key is never replaced automatically."""

from hashlib import sha256

from django.conf import settings
from django.db import transaction

from evaluator import signing
from server.accounts.models import User
from server.audit import services as audit
from server.clock import database_now
from server.errors import Refused
from server.organize.models import SigningKey

REPLACED = (
    "Results cannot be signed: the key of this server is not the key that signed earlier results. Restore SIGNING_KEY "
    "or the file signing_key from a backup. If the key is lost, run: manage.py signing_key --replace"
)


def private_key() -> bytes:
    return sha256(f"results {settings.SIGNING_KEY.strip()}".encode()).digest()


def public_key() -> str:
    """Return the public key of this server. Anybody can use it to verify the server's results."""
    return signing.public_key(private_key())


def earlier_keys() -> list[str]:
    """Return the public keys that verify earlier results of this service, oldest first, except this server's key."""
    return list(SigningKey.objects.exclude(public_key=public_key()).values_list("public_key", flat=True))


def is_replaced() -> bool:
    """Return whether the most recent results were signed with a key other than the key of this server."""
    last = SigningKey.objects.last()
    return last is not None and last.public_key != public_key()


def trusted_key() -> bytes:
    """Return the private key that signs results, and record the first use of a key.

    Raises Refused if the most recent results were signed with another key.
    """
    if is_replaced():
        raise Refused("maintenance", REPLACED)
    if not SigningKey.objects.exists():
        SigningKey.objects.get_or_create(public_key=public_key(), defaults={"used_at": database_now()})
    return private_key()


@transaction.atomic
def replace(*, by: User | None) -> bool:
    """Make the key of this server the current key, and keep the earlier keys.

    Return False if it is the current key already, or if no key has been used yet.
    """
    if not is_replaced():
        return False
    own = public_key()
    # If the server uses an earlier key again, the key's old row is deleted, so that its new row is the most recent.
    SigningKey.objects.filter(public_key=own).delete()
    SigningKey.objects.create(public_key=own, used_at=database_now())
    audit.record(actor=by, action="signing_key.replaced", subject=f"key {own}")
    return True
