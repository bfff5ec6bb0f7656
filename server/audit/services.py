"""Write the audit log."""

import hmac
import json
import logging
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.db import transaction

from server.audit import witness
from server.audit.actors import actor_of
from server.audit.models import Entry, Head
from server.clock import database_now

log = logging.getLogger(__name__)

# Who can write to the database can also write a shorter log with an end of its own. What processes have logged lies
# elsewhere, and can be sent elsewhere still.
SAID = "entry %d %s"


def digest(
    *,
    key: str = "",
    previous: str,
    number: int,
    at: datetime,
    actor: tuple[str, str],
    action: str,
    subject: str,
    detail: Any,
) -> str:
    """Hash one entry together with the hash before it; the text is JSON with sorted keys.

    With a key it is an HMAC, which nobody can compute from the database alone. Entries from before there was a key
    have a plain hash.
    """
    content = [previous, number, at.isoformat(), *actor, action, subject, detail]
    text = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    return hmac.new(key.encode(), text, sha256).hexdigest() if key else sha256(text).hexdigest()


@transaction.atomic
def record(*, actor: Any, action: str, subject: str, detail: dict[str, Any] | None = None) -> Entry:
    """Append one entry; `actor` is a user or None for the service itself. Part of the caller's transaction.

    In a management command the actor is whoever runs it, whomever it is for.

    Locks are taken in this order everywhere, or two transactions wait for each other for ever: challenge, phase,
    team, submission, and the head of the log last. Whoever needs one of the others after an entry takes it before.
    Lock with `no_key=True` what other tables refer to, else a mere reference, a ledger's to its team, waits too, and
    that at its commit: PostgreSQL checks references last, when the head of the log is locked.
    """
    Head.objects.get_or_create(pk=1)
    head = Head.objects.select_for_update().get(pk=1)
    witness.notice_going_back(head.number, head.hash)
    who = actor_of(actor)
    fields: dict[str, Any] = {
        "number": head.number + 1,
        "at": database_now(),
        "action": action,
        "subject": subject,
        "detail": detail or {},
    }
    head_hash = digest(key=settings.AUDIT_KEY, previous=head.hash, actor=who, **fields)
    entry = Entry.objects.create(previous=head.hash, hash=head_hash, actor_id=who[0], actor_name=who[1], **fields)
    Head.objects.filter(pk=1).update(number=entry.number, hash=entry.hash)
    # robust: the deed is committed, and a file that cannot be written must not turn its answer into an error. Not
    # partials: Django logs the name of a function that failed, and a partial has none.
    transaction.on_commit(lambda: log.info(SAID, entry.number, entry.hash), robust=True)
    transaction.on_commit(lambda: witness.note(entry.number, entry.hash), robust=True)
    return entry
