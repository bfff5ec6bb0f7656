"""Where uploads lie: a name that exists is a file that is complete and on the disk."""

import os
from pathlib import Path

from django.core.files import File
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import TemporaryUploadedFile

from server.submissions.arriving import incoming


class DurableStorage(FileSystemStorage):
    """Writes to a temporary file, flushes it to the disk, then renames: after a power cut there is all or nothing.

    An upload lies in a temporary file already and is only flushed and renamed; other content is copied in chunks.
    """

    def _save(self, name: str, content: "File[bytes]") -> str:
        if isinstance(content, TemporaryUploadedFile):
            return self._move(name, content)
        incoming()
        copy = TemporaryUploadedFile(Path(name).name, "", 0, None)
        try:
            for chunk in content.chunks():
                copy.write(chunk)
            return self._move(name, copy)
        finally:
            copy.close()

    def _move(self, name: str, content: TemporaryUploadedFile) -> str:
        content.flush()
        os.utime(content.fileno())  # a slow upload began long ago: its age as a stored file counts from now
        os.fsync(content.fileno())
        saved: str = super()._save(name, content)  # type: ignore[misc]
        folder = os.open(Path(self.path(saved)).parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return saved
