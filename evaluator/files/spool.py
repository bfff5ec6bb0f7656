"""Collects bytes in memory, or in a temporary file if there are many of them."""

import errno
import mmap
import os
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import numpy as np

from evaluator.metrics.mapped_bytes import MappedBytes

# The bytes of most files fit into memory. Beyond this number of bytes, all of them are moved to a temporary file.
MEMORY_BYTES = 2**25


@dataclass(slots=True)
class Spool:
    """Bytes to which more bytes can be appended.

    The temporary file has no name, so it is deleted when the spool is no longer used, even if the process is killed.
    It takes at most half of the free disk space, so that a submission cannot prevent other processes from writing.

    Attributes
    ----------
    folder : Path, optional
        Folder for the temporary file. The default is that of the system.
    size : int
        Number of bytes.
    """

    folder: Path | None = None
    size: int = 0
    _memory: bytearray = field(default_factory=bytearray)
    _file: IO[bytes] | None = None

    def append(self, data: bytes) -> None:
        """Add bytes at the end.

        Raises
        ------
        OSError
            If the disk has not enough space.
        """
        if self._file is None and self.size + len(data) > MEMORY_BYTES:
            self._file = TemporaryFile(dir=self.folder)  # noqa: SIM115 - open as long as the spool exists
            self._file.write(self._memory)
            self._memory = bytearray()
        if self._file is None:
            self._memory += data
        else:
            self._refuse_full_disk(self._file, self.size + len(data))
            self._file.write(data)
        self.size += len(data)

    def _refuse_full_disk(self, file: IO[bytes], size: int) -> None:
        """Raise OSError if ``size``, the next size of the file in bytes, is larger than the free space on the disk."""
        disk = os.fstatvfs(file.fileno())
        if disk.f_bavail * disk.f_frsize < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def clear(self) -> None:
        """Remove all bytes."""
        self._close()
        self._memory, self._file, self.size = bytearray(), None, 0

    def content(self) -> MappedBytes:
        """Return all bytes. Afterwards, the spool must not be used."""
        if self._file is None:
            return MappedBytes(np.frombuffer(self._memory, np.uint8))
        self._file.flush()
        mapping = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        self._close()
        return MappedBytes(np.frombuffer(mapping, np.uint8), mapping)

    def __del__(self) -> None:
        """Close the temporary file if the bytes are not needed, for example because reading failed."""
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
