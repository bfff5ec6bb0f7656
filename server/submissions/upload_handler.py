"""Receives uploaded files. They are hashed while they are written to disk, so that no file is read a second time."""

from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler


def upload_folder() -> Path:
    """Return the folder for uploads in progress. It is created again if an operator has moved it away."""
    folder = Path(settings.FILE_UPLOAD_TEMP_DIR)
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


class HashedFile(TemporaryUploadedFile):
    """A complete upload on disk. `sha256` is the hexadecimal digest of its content."""

    sha256: str


class HashingUploadHandler(TemporaryFileUploadHandler):
    """An upload handler that writes and hashes a file in chunks of 64 KiB, so that at most one chunk is in memory."""

    file: HashedFile

    def new_file(self, *about: Any, **more: Any) -> None:
        # `TemporaryFileUploadHandler.new_file` is not called, because it would open an ordinary temporary file.
        FileUploadHandler.new_file(self, *about, **more)
        upload_folder()
        self.file = HashedFile(self.file_name or "", self.content_type, 0, self.charset, self.content_type_extra)
        self.digest = sha256()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.digest.update(raw_data)
        try:
            super().receive_data_chunk(raw_data, start)
        except OSError:
            # If writing fails, Django does not close the file, so it would take up disk space until the next garbage
            # collection.
            with suppress(OSError):
                self.file.close()
            raise

    def file_complete(self, file_size: int) -> HashedFile:
        super().file_complete(file_size)
        self.file.sha256 = self.digest.hexdigest()
        return self.file
