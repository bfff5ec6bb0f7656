"""Provides the scorer with the file of a submission, after checking that it has not changed since the upload."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from django.conf import settings

from server.stored_files.copies import CHUNK_BYTES, is_local
from server.submissions.models import Submission
from worker.storage_check import Unreadable


@contextmanager
def local_upload(submission: Submission) -> Iterator[Path]:
    """Yield the path of a submission's file: the stored file, or a copy of it if it is in an object store.

    The copy is a file without a name, so the operating system removes it even if this process is killed. It never
    becomes larger than the upload. Raises Unreadable if the stored file cannot be read or differs from the upload.
    """
    if is_local(submission.file.storage):
        path = Path(submission.file.path)
        refuse_changed(submission, path)
        yield path
        return
    with TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as copy:
        download(submission, copy)
        yield Path(f"/dev/fd/{copy.fileno()}")


def refuse_changed(submission: Submission, path: Path) -> None:
    """Raise Unreadable if the stored file of a submission differs from the upload."""
    try:
        with path.open("rb") as file:
            is_same = (
                os.fstat(file.fileno()).st_size == submission.size_bytes
                and file_digest(file, "sha256").hexdigest() == submission.sha256
            )
    except OSError as error:
        raise Unreadable(f"{path} cannot be read") from error
    if not is_same:
        raise damaged(str(path))


def download(submission: Submission, copy: IO[bytes]) -> None:
    """Download the file of a submission. Raise Unreadable if its sha256 differs from that of the upload."""
    name, digest = str(submission.file.name), sha256()
    try:
        with submission.file.storage.open(name) as stored:
            if stored.size != submission.size_bytes:
                raise damaged(name)
            while chunk := stored.read(CHUNK_BYTES):
                digest.update(chunk)
                copy.write(chunk)
    except FileNotFoundError as error:
        raise Unreadable(f"{name} cannot be read") from error
    if digest.hexdigest() != submission.sha256:
        raise damaged(name)
    copy.flush()


def damaged(name: str) -> Unreadable:
    return Unreadable(f"{name} is damaged: its sha256 differs from that of the upload")
