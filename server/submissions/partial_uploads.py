"""Partial uploads: files that arrive in several requests, using the tus 1.0.0 protocol.

Each partial upload is a subfolder of the folder in which this machine keeps uploads in progress. It contains
`about.json` and the bytes received so far. The sweeper (a periodic task) removes the subfolder when nothing has arrived
for a day. Other machines cannot access the upload.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from fcntl import LOCK_EX, LOCK_NB, flock
from hashlib import file_digest
from pathlib import Path
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile

from server.submissions.upload_handler import HashedFile, upload_folder

PREFIX, ABOUT, CONTENT, DIGEST = "upload-", "about.json", "content", "sha256"
# An unfinished upload is kept for this long after its last byte arrived.
VALID = timedelta(days=1)
# Unfinished uploads that have been idle for this long are removed if another upload needs their disk space.
IDLE = timedelta(minutes=15)
# Unfinished uploads that have received fewer bytes per second count as idle too. Otherwise, an account could reserve
# space for large files, and keep it, while it uploads almost nothing. The first part may take two minutes.
SLOWEST_BYTES = 2**16
SLOW_AFTER = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class PartialUpload:
    """A user's upload of one file to a phase. `length` is the size of the complete file."""

    id: UUID
    user: int
    phase: int
    length: int
    file_name: str
    note: str
    # The idempotency key identifies repeated requests for the same submission.
    key: str
    # If true, the file is scored even if no prediction in it could be correct.
    force: bool = False

    @property
    def folder(self) -> Path:
        return upload_folder() / f"{PREFIX}{self.id.hex}"

    @property
    def content(self) -> Path:
        return self.folder / CONTENT

    @property
    def offset(self) -> int:
        """The number of bytes received.

        If the file has been submitted, it has been moved away, so all of its bytes must have been received.
        """
        return self.content.stat().st_size if self.content.exists() else self.length

    @property
    def changed_at(self) -> datetime:
        """The time at which the last byte arrived, according to the file system's clock."""
        changed = self.content if self.content.exists() else self.folder
        return datetime.fromtimestamp(changed.stat().st_mtime, UTC)

    @property
    def expires_at(self) -> datetime:
        return self.changed_at + VALID

    @property
    def is_idle(self) -> bool:
        """Whether the upload has received nothing for some time, or has been too slow since it began."""
        now = datetime.now(UTC)
        began_at = datetime.fromtimestamp((self.folder / ABOUT).stat().st_mtime, UTC)
        expected = SLOWEST_BYTES * (now - began_at - SLOW_AFTER).total_seconds()
        return self.changed_at + IDLE < now or self.offset < min(self.length, expected)

    def sha256(self) -> str:
        """Return the sha256 of the complete file. The sha256 is stored, so that only one request has to compute it."""
        stored = self.folder / DIGEST
        if not stored.exists():
            with self.content.open("rb") as content:
                digest = file_digest(content, "sha256").hexdigest()
            hidden = stored.with_suffix(".new")
            hidden.write_text(digest)
            hidden.rename(stored)
        return stored.read_text()


class ReceivedFile(HashedFile):
    """The file of a partial upload whose bytes have all arrived. The storage moves the file instead of copying it."""

    def __init__(self, path: Path, name: str, sha256: str) -> None:
        self.path, self.opened, self.sha256 = path, path.open("rb+"), sha256
        # `HashedFile.__init__` is not called, because it would create another temporary file.
        UploadedFile.__init__(self, self.opened, name, "", path.stat().st_size)

    def temporary_file_path(self) -> str:
        return str(self.path)

    def close(self) -> None:
        self.opened.close()


def create(upload: PartialUpload) -> None:
    """Create the folder of a partial upload atomically."""
    hidden = upload_folder() / f".{upload.id.hex}"
    hidden.mkdir(mode=0o700)
    (hidden / ABOUT).write_text(json.dumps({**asdict(upload), "id": upload.id.hex}))
    (hidden / CONTENT).touch(mode=0o600)
    hidden.rename(upload.folder)


def find(identifier: UUID, *, user: int) -> PartialUpload | None:
    """Return the upload of this user with the given id, or None if it is not on this machine or has expired."""
    found = read(upload_folder() / f"{PREFIX}{identifier.hex}")
    with suppress(FileNotFoundError):
        return found if found and found.user == user and found.expires_at > datetime.now(UTC) else None
    return None


def read(folder: Path) -> PartialUpload | None:
    with suppress(FileNotFoundError):
        about = json.loads((folder / ABOUT).read_text())
        return PartialUpload(**{**about, "id": UUID(about["id"])})
    return None


def unfinished() -> list[PartialUpload]:
    """Return the uploads on this machine whose files have not been submitted yet."""
    found = [read(folder) for folder in upload_folder().glob(f"{PREFIX}*") if (folder / CONTENT).exists()]
    return [upload for upload in found if upload]


def discard(upload: PartialUpload) -> None:
    shutil.rmtree(upload.folder, ignore_errors=True)


def is_used(upload: PartialUpload) -> bool:
    """Return whether a request is writing to an upload."""
    try:
        with locked(upload.folder, wait=False):
            return False
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False


def discard_unless_used(upload: PartialUpload) -> bool:
    """Remove an upload unless a request is writing to it. Return whether it was removed."""
    try:
        with locked(upload.folder, wait=False):
            discard(upload)
    except (FileNotFoundError, BlockingIOError):
        return False
    return True


@contextmanager
def locked(path: Path, *, wait: bool) -> Iterator[None]:
    """Lock a file or folder for this request.

    Raises BlockingIOError if another request has locked it and `wait` is false.

    If the process dies, the kernel releases the lock.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        flock(descriptor, LOCK_EX | (0 if wait else LOCK_NB))
        yield
    finally:
        os.close(descriptor)
