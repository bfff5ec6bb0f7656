"""The files in a backup: all files to which the database refers, and the records of the audit log."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.files import File
from django.core.files.storage import Storage, default_storage
from django.db import connection
from django.db.models import FileField, Model

from server.audit.external_records import NOTE, Damaged, logged_entries, text_of
from server.challenges.truth_storage import storages
from server.runtime.backup.database import Query
from server.runtime.backup.manifest import CHUNK_BYTES, Stored, Unusable
from server.stored_files.copies import in_objects, is_local
from server.submissions.models import Submission

AUDIT_RECORDS = ("audit_head", "audit_lost")
RECORDS = "records"
MOVE_AWAY = (
    "If a new installation was started here by mistake, stop it, move uploads, truths, audit_head, audit_lost and logs "
    "out of PODIUM_HOME, remove the key podium:installation from Redis, replace a PostgreSQL database with an empty "
    "one, and restore again."
)


class Unreadable(Exception):
    """Raised if a file that belongs in the backup cannot be read. The message names the file and the reason."""

    def __init__(self, path: str, error: OSError) -> None:
        super().__init__(f"{path} cannot be read ({error.strerror or error}).")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A stored file to which a row of the database refers.

    folder : "uploads" or "truths", the name of the file's storage
    sha256 : the checksum in the database; empty if unknown
    field : the model field that contains the file's name
    """

    folder: str
    name: str
    sha256: str
    field: FileField

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}"


def wanted(query: Query) -> dict[str, Wanted]:
    """Return the stored files to which a database snapshot refers, keyed by their paths in the backup.

    File fields whose columns do not exist yet, because the database has not been migrated, are skipped.
    """
    quote = connection.ops.quote_name
    found = {}
    for model, field in existing_file_fields():
        folder = "uploads" if field.storage is default_storage else "truths"
        column, table = quote(str(field.column)), quote(model._meta.db_table)
        known = "sha256" if model is Submission else "''"
        for name, sha256 in query(f"SELECT {column}, {known} FROM {table} WHERE {column} <> ''"):
            found[f"{folder}/{name}"] = Wanted(folder, name, sha256, field)
    return found


def existing_file_fields() -> Iterator[tuple[type[Model], FileField]]:
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        for model in apps.get_models():
            fields = [field for field in model._meta.local_fields if isinstance(field, FileField)]
            table = model._meta.db_table
            if fields and table in tables:
                columns = {column.name for column in connection.introspection.get_table_description(cursor, table)}
                yield from ((model, field) for field in fields if field.column in columns)


def is_still_named(one: Wanted) -> bool:
    """Return whether the database still refers to a file, which may have been removed since the snapshot."""
    return bool(one.field.model._default_manager.filter(**{one.field.name: one.name}).exists())


def copied(one: Wanted, folder: Path) -> Stored:
    """Copy a stored file into a backup.

    Raises FileNotFoundError if the file is not in the storage, and Unreadable if it cannot be read. In both cases, the
    backup does not contain the file.
    """
    target = folder / one.path
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    try:
        with target.open("wb") as copy:
            for chunk in chunks_of(one):
                digest.update(chunk)
                size += copy.write(chunk)
            copy.flush()
            os.fsync(copy.fileno())
    except (FileNotFoundError, Unreadable):
        target.unlink(missing_ok=True)
        raise
    return Stored(size, digest.hexdigest())


def chunks_of(one: Wanted) -> Iterator[bytes]:
    """Yield the chunks of a stored file.

    Raises FileNotFoundError or Unreadable, or StoreUnavailable if the object store does not respond at all.
    """
    storage = storages()[one.folder]
    try:
        with storage.open(one.name) as source:
            while chunk := source.read(CHUNK_BYTES):
                yield chunk
    except FileNotFoundError:
        raise
    except OSError as error:
        # Without the object store, no other file can be read either, and each would take a timeout.
        if not is_local(storage):
            in_objects(storage).check()
        raise Unreadable(one.path, error) from error


def audit_records() -> list[Path]:
    """Return the log files in which audit entries are recorded outside the database."""
    home = Path(settings.PODIUM_HOME)
    found = [*(home / name for name in AUDIT_RECORDS), *sorted((home / "logs").glob("audit.log*"))]
    return [path for path in found if path.is_file()]


def copy_audit_record(source: Path, folder: Path) -> str:
    """Copy a log file of audit entries into a backup, and return its path there. Raises Unreadable.

    Call this function before copying the database, so that the copied database contains every entry that the log files
    mention, and a restored log is complete. A line that is still being written is left out.
    """
    path = f"{RECORDS}/{source.relative_to(settings.PODIUM_HOME)}"
    try:
        content = source.read_bytes()
    except OSError as error:
        raise Unreadable(str(source), error) from error
    target = folder / path
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    target.write_bytes(content if source.suffix == ".gz" else content[: content.rfind(b"\n") + 1])
    return path


def refuse_other_records(backup: Path) -> None:
    """Raise Unusable if PODIUM_HOME has records of the audit log of another installation.

    Otherwise, the records in the backup would not be restored, and the entries of the other installation would be
    recorded as missing. The logs of two installations have different entries with the same numbers. After an earlier
    restore, this is also true of one installation, but then some entries are equal.
    """
    own, restored = entries_recorded_in(Path(settings.PODIUM_HOME)), entries_recorded_in(backup / RECORDS)
    if own.isdisjoint(restored) and not {number for number, _ in own}.isdisjoint(number for number, _ in restored):
        raise Unusable(f"The audit log in {settings.PODIUM_HOME} belongs to another installation. {MOVE_AWAY}")


def entries_recorded_in(home: Path) -> set[tuple[int, str]]:
    """Return the number and hash of each audit entry that the records in a folder name. Damaged files are skipped."""
    found: set[tuple[int, str]] = set()
    for path in (home / "logs").glob("audit.log*"):
        with suppress(Damaged):
            found |= {entry for entry, _ in logged_entries(path)}
    for name in AUDIT_RECORDS:
        with suppress(Damaged):
            found |= {(int(number), hashed) for number, hashed, _ in NOTE.findall(text_of(home / name)) if int(number)}
    return found


def put_back(path: str, expected: Stored, backup: Path) -> bool:
    """Put a file from a backup back into its storage. Return False if the storage already has an identical file.

    A different file with the same name is replaced. Records of the audit log are never replaced, because records that
    are newer than the backup show which entries the restored database does not contain.
    """
    folder, _, name = path.partition("/")
    if folder == RECORDS:
        return _put_record(name, backup / path)
    storage = storages()[folder]
    if storage.exists(name):
        if _is_same(storage, name, expected, backup / path):
            return False
        storage.delete(name)
    with (backup / path).open("rb") as source:
        saved = storage.save(name, File(source))
    if saved != name:
        raise OSError(f"The storage saved {name} under a different name ({saved}), so the file could not be restored.")
    return True


def _put_record(name: str, copy: Path) -> bool:
    target = Path(settings.PODIUM_HOME) / name
    if target.exists() and target.stat().st_size:
        return False
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copyfile(copy, target)
    target.chmod(0o600)
    return True


def _is_same(storage: Storage, name: str, expected: Stored, copy: Path) -> bool:
    if storage.size(name) != expected.bytes:
        return False
    with storage.open(name) as stored, copy.open("rb") as other:
        while chunk := stored.read(CHUNK_BYTES):
            if other.read(len(chunk)) != chunk:
                return False
    return True
