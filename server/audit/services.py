"""Write and verify the audit log."""

import json
import logging
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.db import transaction

from server.audit.models import Entry, Head
from server.clock import database_now

log = logging.getLogger(__name__)

# Whoever can write to the database can also write a shorter log with an end of its own. What processes have logged lies
# elsewhere, and can be sent elsewhere still.
SAID = "entry %d %s"
HEARD = re.compile(rf"\S+ \S+ INFO {re.escape(__name__)} entry (\d+) ([0-9a-f]{{64}})")


def digest(
    *, previous: str, number: int, at: datetime, actor: tuple[str, str], action: str, subject: str, detail: Any
) -> str:
    """Hash one entry together with the hash before it; the text is JSON with sorted keys."""
    content = [previous, number, at.isoformat(), *actor, action, subject, detail]
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@transaction.atomic
def record(*, actor: Any, action: str, subject: str, detail: dict[str, Any] | None = None) -> Entry:
    """Append one entry; `actor` is a user or None for the service itself. Part of the caller's transaction.

    Locks are taken in this order everywhere, or two transactions wait for each other for ever: challenge, phase,
    team, submission, and the head of the log last. Whoever needs one of the others after an entry takes it before.
    Lock with `no_key=True` what other tables refer to, else a mere reference, a ledger's to its team, waits too, and
    that at its commit: PostgreSQL checks references last, when the head of the log is locked.
    """
    Head.objects.get_or_create(pk=1)
    head = Head.objects.select_for_update().get(pk=1)
    who = (str(actor.pk), actor.get_username()) if actor is not None and actor.pk else ("", "")
    fields: dict[str, Any] = {
        "number": head.number + 1,
        "at": database_now(),
        "action": action,
        "subject": subject,
        "detail": detail or {},
    }
    head_hash = digest(previous=head.hash, actor=who, **fields)
    entry = Entry.objects.create(previous=head.hash, hash=head_hash, actor_id=who[0], actor_name=who[1], **fields)
    Head.objects.filter(pk=1).update(number=entry.number, hash=entry.hash)
    transaction.on_commit(partial(log.info, SAID, entry.number, entry.hash))
    return entry


def faults() -> Iterator[str]:
    """Yield one sentence for every place where the chain does not hold."""
    previous, expected = "", 1
    for entry in Entry.objects.order_by("number").iterator():
        if entry.number != expected:
            yield f"entry {expected} is missing"
        elif entry.previous != previous:
            yield f"entry {entry.number} does not follow entry {entry.number - 1}"
        fields = {name: getattr(entry, name) for name in ("previous", "number", "at", "action", "subject", "detail")}
        if digest(actor=(entry.actor_id, entry.actor_name), **fields) != entry.hash:
            yield f"entry {entry.number} was changed"
        previous, expected = entry.hash, entry.number + 1
    head = Head.objects.filter(pk=1).first()
    if head is None and expected > 1:
        yield "where the log ends is not on record"
    elif head is not None and (head.number, head.hash) != (expected - 1, previous):
        yield f"the log ends at entry {expected - 1}, but {head.number} were written"


def heard(paths: Iterable[Path]) -> Iterator[tuple[Path, int, str]]:
    """Yield number and hash of every entry that these log files say was written, with the file that says so."""
    for path in paths:
        with path.open(errors="replace") as lines:
            for line in lines:
                if said := HEARD.match(line):
                    yield path, int(said[1]), said[2]


def contradictions(paths: Iterable[Path]) -> Iterator[str]:
    """Yield one sentence for every entry that a log file tells of and that is not there, or is another one."""
    told = {(number, hashed): path for path, number, hashed in heard(paths)}
    for one in Entry.objects.values_list("number", "hash").iterator():
        told.pop(one, None)
    for (number, hashed), path in sorted(told.items()):
        yield f"entry {number} is not there as {path} tells of it ({hashed[:12]}…)"
