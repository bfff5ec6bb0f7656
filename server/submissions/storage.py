"""The storage for uploads. A file gets its final name only when it is complete and has been flushed to disk."""

import os
from pathlib import Path

from django.core.files import File
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import TemporaryUploadedFile

from server.submissions.upload_handler import upload_folder


class DurableStorage(FileSystemStorage):
    """A storage backend that writes a temporary file, flushes it to disk, and then renames it.

    After a power cut, a file is either complete or missing.

    An upload is already a temporary file, so it is only flushed and renamed. Other content is copied in chunks.
    """

    def _save(self, name: str, content: "File[bytes]") -> str:
        if isinstance(content, TemporaryUploadedFile):
            return self._move(name, content)
        upload_folder()
        copy = TemporaryUploadedFile(Path(name).name, "", 0, None)
        try:
            for chunk in content.chunks():
                copy.write(chunk)
            return self._move(name, copy)
        finally:
            copy.close()

    def _move(self, name: str, content: TemporaryUploadedFile) -> str:
        content.flush()
        # Set the modification time to now, because the age of a file must not include the time of a slow upload.
        os.utime(content.fileno())
        os.fsync(content.fileno())
        saved: str = super()._save(name, content)  # type: ignore[misc]
        folder = os.open(Path(self.path(saved)).parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return saved
