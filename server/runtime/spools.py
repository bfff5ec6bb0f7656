"""Bytes between a client and a thread: the first 64 KiB in memory, the rest in a file without a name.

No crash leaves such a file behind, and all of them together have a limit.
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
from server.submissions.arriving import incoming

MEMORY_BYTES = 2**16  # a request's head must fit
SEND_BYTES = 2**18
END_OF_HEAD = b"\r\n\r\n"
SHARE_USED = (
    "Uploads from your address or of your account take as much room as they may. Wait until one of them has arrived, "
    "then submit this file again."
)
UNWRITABLE = "The server cannot keep uploads at the moment. Nothing was taken from a quota; try again later."
RETRY_SECONDS = 30


class BodyMissing(BaseException):
    """More of the body was asked for than is here. Not an Exception: nobody on the way shall make an answer of it."""


class NoRoom(Exception):
    """The body could not be kept; its cause says why. Not an OSError: Django takes that for a client that left."""


class ShareUsed(OSError):
    """There is room, but not for this owner."""


class Room:
    """How many bytes the files of several spools may hold together; used by several threads.

    An owner (an address, an account) never holds more than what is left for all others: one that takes all it can gets
    half, the next one a quarter, and some room is always left. What lies in memory does not count: a small request, or
    the answer to it, finds room whatever else is under way.
    """

    def __init__(self, size: int) -> None:
        self.left = size
        self.held: Counter[str] = Counter()
        self.lock = Lock()

    def take(self, count: int, owners: tuple[str, ...] = ()) -> None:
        with self.lock:
            if count > self.left:
                raise OSError(EDQUOT, "no room for what clients send or are sent")
            if any(self.held[owner] + count > self.left - count for owner in owners):
                raise ShareUsed(EDQUOT, "no room for more from this address or account")
            self._move(count, owners)

    def give_back(self, count: int, owners: tuple[str, ...] = ()) -> None:
        with self.lock:
            self._move(-count, owners)

    def pass_on(self, count: int, owners: tuple[str, ...], heirs: tuple[str, ...]) -> None:
        """Count bytes that are held already for others."""
        with self.lock:
            self._move(-count, owners)
            self._move(count, heirs)

    def _move(self, count: int, owners: tuple[str, ...]) -> None:
        self.left -= count
        for owner in owners:
            self.held[owner] += count
            if not self.held[owner]:
                del self.held[owner]


class Spool:
    """Bytes in the order in which they came; `position` is where reading has come to."""

    def __init__(self, room: Room, owners: tuple[str, ...] = ()) -> None:
        self.room, self.owners = room, tuple(filter(None, owners))
        self.start = bytearray()
        self.file: FileIO | None = None
        self.size = self.taken = self.position = 0

    def add(self, data: bytes | memoryview) -> None:
        """Keep them, or raise OSError; what was kept before stays."""
        if self.file is None and self.size + len(data) <= MEMORY_BYTES:
            self.start += data
        else:
            self._add_to_file(memoryview(data))
        self.size += len(data)

    def _add_to_file(self, data: memoryview) -> None:
        if self.file is None:
            self.file = TemporaryFile(dir=incoming(), buffering=0)  # noqa: SIM115
        self.room.take(len(data), self.owners)
        self.taken += len(data)
        while data:
            data = data[self.file.write(data) :]

    def peek(self, count: int) -> bytes:
        """Return what comes next, at most so many bytes."""
        if self.position < len(self.start):
            return bytes(self.start[self.position : self.position + count])
        beyond = self.position - len(self.start)
        return os.pread(self.file.fileno(), count, beyond) if self.file is not None else b""

    def belongs_to(self, *owners: str) -> None:
        """Count what is and will be kept for these owners."""
        heirs = tuple(filter(None, owners))
        self.room.pass_on(self.taken, self.owners, heirs)
        self.owners = heirs

    def discard(self) -> None:
        self.room.give_back(self.taken, self.owners)
        self.start, self.size, self.taken = bytearray(), 0, 0
        if self.file is not None:
            self.file.close()
            self.file = None


class Inbox(Spool):
    """What a client has sent; gunicorn's parser reads it like a socket, but one that never waits."""

    def __init__(self, room: Room, owners: tuple[str, ...] = ()) -> None:
        super().__init__(room, owners)
        self.fault: OSError | None = None
        self.head_is_there = self.head_is_parsed = False
        self.request_bytes: int | None = None  # of head and body; known once the head was parsed

    def receive(self, data: bytes) -> None:
        searched = max(0, len(self.start) - len(END_OF_HEAD) + 1)
        try:
            self.add(data)
        except OSError as error:
            self.fault = error
        self.head_is_there = self.head_is_there or self.start.find(END_OF_HEAD, searched) >= 0

    @property
    def is_whole(self) -> bool:
        """Whether the request is here to its last byte."""
        return self.request_bytes is not None and self.size >= self.request_bytes

    @property
    def is_enough(self) -> bool:
        """Whether a thread can do something with it."""
        if self.fault is not None:
            return True
        return self.is_whole if self.request_bytes else self.head_is_there or self.size >= MEMORY_BYTES

    def rewind(self) -> None:
        self.position, self.head_is_parsed = 0, False

    def recv(self, count: int) -> bytes:
        """Return what comes next. Of a body nothing is given before all of it is here: no half file is begun."""
        if self.head_is_parsed and self.request_bytes and not self.is_whole:
            if isinstance(self.fault, ShareUsed):
                raise Refused("rate_limited", SHARE_USED, retry_after=RETRY_SECONDS)
            if self.fault is not None and self.fault.errno in FULL:
                raise NoRoom from self.fault
            if self.fault is not None:
                raise Refused("maintenance", UNWRITABLE, retry_after=RETRY_SECONDS) from self.fault
            raise BodyMissing
        if data := self.peek(count):
            self.position += len(data)
        elif not self.head_is_there:
            raise LimitRequestHeaders(f"the head has more than {MEMORY_BYTES} bytes")
        return data


class Outbox(Spool):
    """Takes all that gunicorn writes, like a socket; what the client does not take at once is kept for it."""

    def __init__(self, room: Room, client: socket, owners: tuple[str, ...] = ()) -> None:
        super().__init__(room, owners)
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
        """Send what the client takes now; return how many bytes that were."""
        try:
            return self.client.send(data)
        except BlockingIOError:
            return 0

    def send_on(self) -> int:
        """Send a piece of what was kept; return how many bytes that were."""
        sent = self.send(self.peek(SEND_BYTES))
        self.position += sent
        return sent

    def gettimeout(self) -> float:
        return 0.0

    def shutdown(self, how: int) -> None:
        """Gunicorn closes a connection whose answer broke off; the worker does that, in its own time."""
        raise OSError("closed by its worker")

    def close(self) -> None:
        pass
