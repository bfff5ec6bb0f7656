"""Gives programs that need a path the file of a row, wherever the file is stored."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.core.files.storage import FileSystemStorage, Storage
from django.db.models.fields.files import FieldFile

if TYPE_CHECKING:  # Otherwise, the packages for an object store would always be loaded.
    from server.stored_files.objects import ObjectStorage

CHUNK_BYTES = 2**20


def is_local(storage: Storage) -> bool:
    """Return whether the files of a storage are in a folder of this machine."""
    return isinstance(storage, FileSystemStorage)


def in_objects(storage: Storage) -> "ObjectStorage":
    """Return a storage that is not local, with the type that it has then."""
    return cast("ObjectStorage", storage)


def title_of(storage: Storage) -> str:
    """Return the folder of a storage, or its address without secrets, for messages."""
    return str(storage.location if isinstance(storage, FileSystemStorage) else in_objects(storage).title)


@contextmanager
def local_copy(file: FieldFile) -> Iterator[Path]:
    """Yield the path of a stored file. If it is in an object store, this is a copy, which is removed afterwards.

    The path of a file on disk is not checked. Otherwise, raises FileNotFoundError or StoreUnavailable.
    """
    if is_local(file.storage):
        yield Path(file.path)
        return
    with TemporaryDirectory(prefix="copy-", dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        path = Path(folder) / Path(str(file.name)).name
        with file.storage.open(str(file.name)) as stored, path.open("xb") as copy:
            shutil.copyfileobj(stored, copy, CHUNK_BYTES)
        yield path
