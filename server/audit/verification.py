"""Verifies the audit log by its hash chain and by its records outside the database."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, transaction

from server.audit import external_records
from server.audit.models import Entry, Head
from server.audit.services import digest, record

RESTORED = "audit.restored"
FAULTS_SHOWN = 5


def is_hashed(entry: Entry, *, key: str) -> bool:
    fields = {name: getattr(entry, name) for name in ("previous", "number", "at", "action", "subject", "detail")}
    return digest(key=key, actor=(entry.actor_id, entry.actor_name), **fields) == entry.hash


def faults() -> Iterator[str]:
    """Yield one sentence for every fault in the hash chain of the audit log.

    Entries that were written before the audit key existed have plain hashes. After the first entry with a keyed hash,
    any plain hash is reported as a fault. The number of this first entry is also recorded outside the database, so that
    a log that was rewritten with plain hashes is detected.
    """
    notes = external_records.notes()
    yield from notes.faults
    keyed_from = notes.end.keyed_from if notes.end else None
    previous, expected, fits, changed = "", 1, False, False
    for entry in Entry.objects.order_by("number").iterator():
        if entry.number != expected:
            yield f"entry {expected} is missing"
        elif entry.previous != previous:
            yield f"entry {entry.number} does not follow entry {entry.number - 1}"
        if is_hashed(entry, key=settings.AUDIT_KEY):
            keyed_from, fits = min(keyed_from or entry.number, entry.number), True
        elif not is_hashed(entry, key=""):
            changed = True
            yield f"entry {entry.number} was changed"
        elif keyed_from is not None and entry.number >= keyed_from:
            yield f"entry {entry.number} was written without the audit key, which was in use from entry {keyed_from} on"
        previous, expected = entry.hash, entry.number + 1
    if changed and not fits:
        yield "no entry matches the audit key. If the log was written with another key, restore that key"
    yield from faults_of_head(expected - 1, previous)


def faults_of_head(number: int, hashed: str) -> Iterator[str]:
    head = Head.objects.filter(pk=1).first()
    if head is None and number:
        yield "the database row that stores the number and hash of the last entry is missing"
    elif head is not None and (head.number, head.hash) != (number, hashed):
        yield f"the log ends at entry {number}, but {head.number} entries were written"


def faults_of_database() -> list[str]:
    """Return SQLite's messages if the database file is damaged, for example by the `-wal` file of another database."""
    if connection.vendor != "sqlite":
        return []
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA integrity_check({FAULTS_SHOWN})")
            found = [line for (line,) in cursor.fetchall() if line != "ok"]
    except DatabaseError as error:
        # An OperationalError means that the database is locked or unreachable, not damaged. manage.py reports this
        # error.
        if isinstance(error, OperationalError):
            raise
        found = [str(error)]
    return [f"the database file is damaged: {line}" for line in found]


def is_named(one: tuple[int, str], restored: Entry) -> bool:
    """Return whether the number of a missing audit entry is in the range recorded in a "backup restored" entry.

    "Backup restored" entries that were written by earlier versions of this server contain only the first and the last
    number of the missing entries.
    """
    return bool(restored.detail["first"] <= one[0] <= restored.detail["last"])


class Comparison:
    """Compares the audit log in the database with its records outside the database, such as log files."""

    def __init__(self, logs: Iterable[Path]) -> None:
        known: dict[tuple[int, str], Path] = {}
        self.times: dict[tuple[int, str], str] = {}
        self.unreadable: list[str] = []
        for path in logs:
            try:
                for one, at in external_records.logged_entries(path):
                    known[one], self.times[one] = path, min(at, self.times.get(one, at))
            except external_records.Damaged as error:
                self.unreadable.append(str(error))
        self.logged = {number for number, _ in known}
        notes = external_records.notes()
        known |= {(one.number, one.hash): external_records.path_of_lost_ends() for one in notes.lost if one.number}
        if notes.end is not None and notes.end.number:
            known[notes.end.number, notes.end.hash] = external_records.path_of_end()
        self.count = 0
        self.unkeyed: set[int] = set()
        self.unlogged: list[int] = []
        # `incomplete` contains the "backup restored" entries written by earlier versions of this server, which did not
        # record the hashes of the missing entries.
        self.incomplete: list[Entry] = []
        excused: set[tuple[int, str]] = set()
        for entry in Entry.objects.order_by("number").iterator():
            self._compare(entry, known)
            if entry.action == RESTORED and entry.number not in self.unkeyed:
                excused |= self._excused_by(entry)
        self.contradicted = {one: path for one, path in known.items() if one not in excused}

    def _compare(self, entry: Entry, known: dict[tuple[int, str], Path]) -> None:
        self.count += 1
        known.pop((entry.number, entry.hash), None)
        if entry.number not in self.logged:
            self.unlogged.append(entry.number)
        if not is_hashed(entry, key=settings.AUDIT_KEY):
            self.unkeyed.add(entry.number)

    def _excused_by(self, restored: Entry) -> set[tuple[int, str]]:
        """Return the missing entries that an audit entry about a restored backup explains.

        Earlier versions recorded only the first and the last number of the missing entries. Entries that are written
        later can have the same numbers, so an audit entry from these versions explains only entries that were logged
        before it.
        """
        if "entries" in restored.detail:
            return {(number, hashed) for number, hashed in restored.detail["entries"]}
        self.incomplete.append(restored)
        recorded = external_records.log_time(restored.at)
        return {one for one, at in self.times.items() if is_named(one, restored) and at < recorded}

    def record_naming(self, one: tuple[int, str]) -> int | None:
        """Return the number of a "backup restored" entry that may explain why the audit entry `one` is missing.

        Only "backup restored" entries from earlier versions of this server are searched. They contain the first and the
        last number of the missing entries, but no hashes. Return None if no such range includes the number of `one`.
        Also return None if a log file contains `one`. In this case, `_excused_by` has already used the time in the log
        file to check whether such an entry explains it.
        """
        if one in self.times:
            return None
        return next((restored.number for restored in self.incomplete if is_named(one, restored)), None)

    @property
    def forged(self) -> list[str]:
        """One sentence for each recorded entry that was replaced in the database by an entry without a keyed hash."""
        return [
            f"entry {number} differs from the one in {path} ({hashed[:12]}…)"
            for (number, hashed), path in sorted(self.contradicted.items())
            if number in self.unkeyed
        ]

    @property
    def lost(self) -> list[tuple[int, str]]:
        """The number and hash of each recorded entry that is missing from the database.

        The database may contain a later entry with the same number.
        """
        return sorted(one for one in self.contradicted if one[0] not in self.unkeyed)


@transaction.atomic
def acknowledge(lost: list[tuple[int, str]]) -> Entry:
    """Record in the audit log that entries are missing because a backup was restored.

    The hashes of the missing entries are also recorded, because later entries get the same numbers. Without the
    hashes, these later entries could be deleted unnoticed.
    """
    detail = {"first": lost[0][0], "last": lost[-1][0], "entries": lost}
    entry = record(actor=None, action=RESTORED, subject="audit", detail=detail)
    transaction.on_commit(lambda: external_records.note(entry.number, entry.hash, is_back=True))
    return entry
