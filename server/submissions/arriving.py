"""Files on their way in: written to the disk piece by piece, and hashed on the way, so that nothing is read twice."""

from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler


def incoming() -> Path:
    """Return the folder of files on their way in; made again where it was moved away."""
    folder = Path(settings.FILE_UPLOAD_TEMP_DIR)
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


class ArrivedFile(TemporaryUploadedFile):
    """A file that lies on the disk whole; `sha256` is that of its content, in hexadecimal."""

    sha256: str


class Arriving(TemporaryFileUploadHandler):
    """Never holds more than a piece (64 KiB) in memory."""

    file: ArrivedFile

    def new_file(self, *about: Any, **more: Any) -> None:
        FileUploadHandler.new_file(self, *about, **more)  # the next class's own would open a file of another kind
        incoming()
        self.file = ArrivedFile(self.file_name or "", self.content_type, 0, self.charset, self.content_type_extra)
        self.digest = sha256()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.digest.update(raw_data)
        try:
            super().receive_data_chunk(raw_data, start)
        except OSError:
            with suppress(OSError):  # Django forgets the file: it would fill the disk until the next garbage collection
                self.file.close()
            raise

    def file_complete(self, file_size: int) -> ArrivedFile:
        super().file_complete(file_size)
        self.file.sha256 = self.digest.hexdigest()
        return self.file
