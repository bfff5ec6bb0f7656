"""Provides the path of a stored file for programs that need one, even if the file is in an object store."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.core.files.storage import FileSystemStorage, Storage
from django.db.models.fields.files import FieldFile

# Only type checkers need this import. At run time, it would load the packages for object stores, even if none is used.
if TYPE_CHECKING:
    from server.stored_files.objects import ObjectStorage

CHUNK_BYTES = 2**20


def is_local(storage: Storage) -> bool:
    """Return whether the files of a storage backend are in a folder on this machine."""
    return isinstance(storage, FileSystemStorage)


def in_objects(storage: Storage) -> "ObjectStorage":
    """Return the same storage, typed as ObjectStorage for type checkers. The storage must use an object store."""
    return cast("ObjectStorage", storage)


def title_of(storage: Storage) -> str:
    """Return the folder of a storage backend, or its URL without secrets, for messages."""
    return str(storage.location if isinstance(storage, FileSystemStorage) else in_objects(storage).title)


@contextmanager
def local_copy(file: FieldFile) -> Iterator[Path]:
    """Yield the path of a stored file. If the file is in an object store, the path is that of a temporary copy.

    Raises FileNotFoundError or StoreUnavailable if a copy cannot be made. A local file is not checked.
    """
    if is_local(file.storage):
        yield Path(file.path)
        return
    with TemporaryDirectory(prefix="copy-", dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        path = Path(folder) / Path(str(file.name)).name
        with file.storage.open(str(file.name)) as stored, path.open("xb") as copy:
            shutil.copyfileobj(stored, copy, CHUNK_BYTES)
        yield path
