"""Writes entries to the audit log."""

import hmac
import json
import logging
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from server.audit import external_records
from server.audit.actors import actor_of
from server.audit.models import Entry, Head
from server.clock import database_now

log = logging.getLogger(__name__)

# The format of a log line with the number and hash of an audit entry. Anybody with write access to the database could
# delete the last entries and adjust the stored number of entries. If log files are copied to another machine, comparing
# them with the database reveals the missing entries.
LOG_LINE = "entry %d %s"
VALUE_CHARACTERS = 200
# The fields whose values identify people. These values are not logged, because log entries cannot be erased.
PERSONAL_FIELDS = ("allowed_people",)


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
    """Return the hash of an audit entry, which covers its content and the hash of the previous entry.

    If a key is given, the hash is an HMAC, which nobody can compute from the database alone. Entries that were written
    before the key existed have a plain hash.
    """
    content = [previous, number, at.isoformat(), *actor, action, subject, detail]
    text = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    return hmac.new(key.encode(), text, sha256).hexdigest() if key else sha256(text).hexdigest()


def readable(value: Any) -> str:
    """Return a value as a short string for the audit log. Objects in a list are represented by their ids."""
    words = (
        ", ".join(sorted(str(getattr(one, "pk", one)) for one in value))
        if isinstance(value, list | QuerySet)
        else str(value)
    )
    return words[:VALUE_CHARACTERS]


def readable_field(name: str, value: Any) -> str:
    """Return the value of a field as a short string for the audit log.

    For a list of people, the string contains only the number of people.
    """
    return f"{len(str(value or '').split())} people" if name in PERSONAL_FIELDS else readable(value)


@transaction.atomic
def record(*, actor: Any, action: str, subject: str, detail: dict[str, Any] | None = None) -> Entry:
    """Append an entry to the audit log, in the caller's transaction. `actor` is a user, or None for the server itself.

    The entry contains the id of the user instead of the name, and `detail` must not contain names of people or teams,
    because nothing can be erased from the log. Pages look up names by id (`Entry.actor`), so a name disappears when its
    account is deleted.

    The recorded actor of a management command is the user who runs the command, even if the action is on behalf of
    another user.

    All transactions take locks in the same order: challenge, phase, team, submission, leaderboard, and finally the head
    of the audit log. Otherwise, two transactions could wait for each other forever. A transaction that needs another
    lock takes it before it writes an entry. Rows to which other tables refer are locked with `no_key=True`. Otherwise,
    a transaction that inserts a reference to such a row would also wait: PostgreSQL checks the reference at the commit,
    when the transaction already holds the lock on the head.
    """
    Head.objects.get_or_create(pk=1)
    head = Head.objects.select_for_update().get(pk=1)
    external_records.keep_lost_end(head.number, head.hash)
    who = actor_of(actor)
    # If the actor has an account, an audit entry contains the account's id, but not its name.
    if who[0]:
        who = (who[0], "")
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
    # With `robust=True`, an error in a callback, such as a log file that cannot be written, does not affect the
    # response. The action is already committed by then. The callbacks are lambdas, because Django logs the name of a
    # callback that fails, and a partial has no name.
    transaction.on_commit(lambda: log.info(LOG_LINE, entry.number, entry.hash), robust=True)
    transaction.on_commit(lambda: external_records.note(entry.number, entry.hash), robust=True)
    return entry
