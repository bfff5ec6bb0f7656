"""Reads an object from an object store like a file, without loading it into memory or copying it to disk."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class StoredObject:
    """The size, sha256 and ETag of an object. `sha256` is empty if another program has stored the object."""

    size: int
    sha256: str
    etag: str


class Body(Protocol):
    """The body of a response from the object store."""

    def read(self, amount: int) -> bytes: ...

    def close(self) -> None: ...


class ObjectReader(io.RawIOBase):
    """A file whose bytes are requested from the storage when they are read.

    `request` takes an offset, and returns the body of a response that begins at this offset. A new response is
    requested only after a seek to another offset.
    """

    def __init__(self, request: Callable[[int], Body], size: int) -> None:
        self.request, self.size = request, size
        self.offset = 0
        self.body: Body | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.offset

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self.offset, io.SEEK_END: self.size}[whence]
        target = max(0, start + offset)
        if target != self.offset:
            self._drop()
        self.offset = target
        return target

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        wanted = min(len(view), self.size - self.offset)
        if wanted <= 0:
            return 0
        if self.body is None:
            self.body = self.request(self.offset)
        content = self.body.read(wanted)
        view[: len(content)] = content
        self.offset += len(content)
        return len(content)

    def close(self) -> None:
        self._drop()
        super().close()

    def _drop(self) -> None:
        if self.body is not None:
            self.body.close()
            self.body = None
