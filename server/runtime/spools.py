"""Spools, which buffer bytes between a client and a thread: the first 64 KiB in memory, the rest in an unnamed file.

Because the files are unnamed, a crash leaves none of them behind. Their total size is limited.
"""

import os
from collections import Counter
from errno import EDQUOT
from io import FileIO
from socket import socket
from tempfile import TemporaryFile
from threading import Lock

from gunicorn.http.errors import LimitRequestHeaders

from server.errors import FULL, Refused
from server.submissions.upload_handler import upload_folder

# number of bytes at the start of a spool that are kept in memory; enough for a request line with its headers
MEMORY_BYTES = 2**16
SEND_BYTES = 2**18
END_OF_HEAD = b"\r\n\r\n"
SHARE_EXHAUSTED = (
    "Uploads from your address or your account have used their share of the disk space. Wait until one of them is "
    "complete, then submit this file again."
)
UNWRITABLE = "The server cannot store uploads at the moment. No quota was used. Try again later."
RETRY_SECONDS = 30


class BodyMissing(BaseException):
    """Raised when the application reads more of the body than has arrived.

    It does not derive from Exception, so that no handler turns it into a response.
    """


class SpoolFailed(Exception):
    """Raised if the body could not be stored. `__cause__` is the reason.

    It does not derive from OSError, because Django would treat an OSError as a disconnected client.
    """


class ShareExhausted(OSError):
    """Raised if an owner (a client address, a team or an account) has used its share of the disk space for requests."""


class DiskSpace:
    """The disk space that the files of several spools share. The class is thread-safe.

    An owner (a client address, a team or an account) can use at most as much space as remains free for all others. The
    first owner can get half of the space, the next one a quarter, and so on, so that some space is always left. Bytes
    in memory do not count, so small requests and responses are always possible.
    """

    def __init__(self, size: int) -> None:
        self.left = size
        # Whether, since the last check, an owner was denied space although another owner used more
        self.was_short = False
        self.held: Counter[str] = Counter()
        self.lock = Lock()

    def take(self, count: int, owners: tuple[str, ...] = ()) -> None:
        with self.lock:
            held = max((self.held[owner] for owner in owners), default=0)
            is_over = bool(owners) and held + count > self.left - count
            if is_over or count > self.left:
                self.was_short = self.was_short or held < max(self.held.values(), default=0)
            if count > self.left:
                raise OSError(EDQUOT, "no space for more requests and responses")
            if is_over:
                raise ShareExhausted(EDQUOT, "no space for more uploads from this address or account")
            self._move(count, owners)

    def give_back(self, count: int, owners: tuple[str, ...] = ()) -> None:
        with self.lock:
            self._move(-count, owners)

    def transfer(self, count: int, owners: tuple[str, ...], new_owners: tuple[str, ...]) -> None:
        """Count this number of bytes of disk space as used by the new owners instead of the previous ones."""
        with self.lock:
            self._move(-count, owners)
            self._move(count, new_owners)

    def _move(self, count: int, owners: tuple[str, ...]) -> None:
        self.left -= count
        for owner in owners:
            self.held[owner] += count
            if not self.held[owner]:
                del self.held[owner]


class Spool:
    """A sequence of bytes in order of arrival. `position` is the offset of the next byte to read."""

    def __init__(self, space: DiskSpace, owners: tuple[str, ...] = ()) -> None:
        self.space, self.owners = space, tuple(filter(None, owners))
        self.start = bytearray()
        self.file: FileIO | None = None
        self.size = self.taken = self.position = 0

    def add(self, data: bytes | memoryview) -> None:
        """Append data. Raises OSError if it cannot be stored. In this case, earlier data is kept."""
        if self.file is None and self.size + len(data) <= MEMORY_BYTES:
            self.start += data
        else:
            self._add_to_file(memoryview(data))
        self.size += len(data)

    def _add_to_file(self, data: memoryview) -> None:
        if self.file is None:
            self.file = TemporaryFile(dir=upload_folder(), buffering=0)  # noqa: SIM115
        self.space.take(len(data), self.owners)
        self.taken += len(data)
        while data:
            data = data[self.file.write(data) :]

    def peek(self, count: int) -> bytes:
        """Return the next bytes of the spool (at most `count`) without moving the position for reading."""
        if self.position < len(self.start):
            return bytes(self.start[self.position : self.position + count])
        beyond = self.position - len(self.start)
        return os.pread(self.file.fileno(), count, beyond) if self.file is not None else b""

    def assign(self, *owners: str) -> None:
        """Count all present and later bytes of this spool as used by these owners: address, team and account."""
        new_owners = tuple(filter(None, owners))
        self.space.transfer(self.taken, self.owners, new_owners)
        self.owners = new_owners

    def discard(self) -> None:
        self.space.give_back(self.taken, self.owners)
        self.start, self.size, self.taken = bytearray(), 0, 0
        if self.file is not None:
            self.file.close()
            self.file = None


class Inbox(Spool):
    """The bytes that a client has sent. Gunicorn's parser reads them as if from a socket that never blocks."""

    def __init__(self, space: DiskSpace, owners: tuple[str, ...] = ()) -> None:
        super().__init__(space, owners)
        self.error: OSError | None = None
        self.has_head = self.head_is_parsed = False
        # total size of the request (headers and body), or None until the headers have been parsed
        self.request_bytes: int | None = None

    def receive(self, data: bytes) -> None:
        searched = max(0, len(self.start) - len(END_OF_HEAD) + 1)
        try:
            self.add(data)
        except OSError as error:
            self.error = error
        self.has_head = self.has_head or self.start.find(END_OF_HEAD, searched) >= 0

    @property
    def is_complete(self) -> bool:
        """Whether the whole request has arrived."""
        return self.request_bytes is not None and self.size >= self.request_bytes

    @property
    def is_actionable(self) -> bool:
        """Whether a thread can continue, because enough of the request has arrived or storing it has failed."""
        if self.error is not None:
            return True
        return self.is_complete if self.request_bytes else self.has_head or self.size >= MEMORY_BYTES

    def rewind(self) -> None:
        self.position, self.head_is_parsed = 0, False

    def recv(self, count: int) -> bytes:
        """Return the next bytes.

        No part of a request body is returned until all of it has arrived, so that the application never stores a
        partial file.
        """
        if self.head_is_parsed and self.request_bytes and not self.is_complete:
            if isinstance(self.error, ShareExhausted):
                raise Refused("rate_limited", SHARE_EXHAUSTED, retry_after=RETRY_SECONDS)
            if self.error is not None and self.error.errno in FULL:
                raise SpoolFailed from self.error
            if self.error is not None:
                raise Refused("maintenance", UNWRITABLE, retry_after=RETRY_SECONDS) from self.error
            raise BodyMissing
        if data := self.peek(count):
            self.position += len(data)
        elif not self.has_head:
            raise LimitRequestHeaders(f"the request head has more than {MEMORY_BYTES} bytes")
        return data


class Outbox(Spool):
    """A substitute for a socket that accepts everything that gunicorn writes.

    Bytes that the client cannot receive yet are stored.
    """

    def __init__(self, space: DiskSpace, client: socket, owners: tuple[str, ...] = ()) -> None:
        super().__init__(space, owners)
        self.client = client

    @property
    def is_empty(self) -> bool:
        return self.position == self.size

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        if self.is_empty:
            rest = rest[self.send(data) :]
        if rest:
            self.add(rest)

    def send(self, data: bytes) -> int:
        """Send as many bytes as the client can receive now, and return their number."""
        try:
            return self.client.send(data)
        except BlockingIOError:
            return 0

    def send_stored(self) -> int:
        """Send a chunk of the stored bytes, and return the number of bytes sent."""
        sent = self.send(self.peek(SEND_BYTES))
        self.position += sent
        return sent

    def gettimeout(self) -> float:
        return 0.0

    def shutdown(self, how: int) -> None:
        """Raise OSError.

        Gunicorn calls this method after an incomplete response, but the worker closes connections itself.
        """
        raise OSError("closed by its worker")

    def close(self) -> None:
        pass
