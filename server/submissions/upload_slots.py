"""Upload slots: how many large files of one team, or of one person, may be on their way at the same time.

A slot is a lock on one byte of a file. All web processes of a machine count together, without a cache that could be
down, and the kernel releases the slots of a process that dies.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from errno import EACCES, EAGAIN
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, lockf
from hashlib import sha256
from threading import Lock

from django.conf import settings

SLOT_BITS = 7
SLOTS_MAX = 2**SLOT_BITS - 1  # of one name; the last byte is locked while the others are counted
NAME_BYTES = 6


class Slots:
    """The slots of this process, shared by its threads."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.held: set[int] = set()
        self.file = -1

    def take(self, name: str, most: int) -> int | None:
        """Take a slot if fewer than `most` of this name are taken, by any process; else return None."""
        first = int.from_bytes(sha256(name.encode()).digest()[:NAME_BYTES]) << SLOT_BITS
        with self.lock, self._counting(first):
            slots = range(first, first + SLOTS_MAX)
            free = [slot for slot in slots if slot not in self.held and self._take(slot)]
            for slot in free[1:]:
                self._release(slot)
            if free and SLOTS_MAX - len(free) < most:
                self.held.add(free[0])
                return free[0]
            if free:
                self._release(free[0])
            return None

    def release(self, slot: int) -> None:
        with self.lock:
            self.held.discard(slot)
            self._release(slot)

    @contextmanager
    def _counting(self, first: int) -> Iterator[None]:
        """Keep other processes from counting the slots of this name meanwhile."""
        if self.file < 0:
            self.file = os.open(settings.PODIUM_HOME / "uploads.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        lockf(self.file, LOCK_EX, 1, first + SLOTS_MAX)
        try:
            yield
        finally:
            self._release(first + SLOTS_MAX)

    def _take(self, slot: int) -> bool:
        try:
            lockf(self.file, LOCK_EX | LOCK_NB, 1, slot)
        except OSError as error:
            if error.errno in (EAGAIN, EACCES):
                return False
            raise
        return True

    def _release(self, slot: int) -> None:
        lockf(self.file, LOCK_UN, 1, slot)


SLOTS = Slots()


class Upload:
    """One request whose body is still to come: the slots that it holds, and under which names."""

    def __init__(self) -> None:
        self.slots: dict[str, int] = {}

    def release(self) -> None:
        while self.slots:
            SLOTS.release(self.slots.popitem()[1])


_awaited: ContextVar[Upload | None] = ContextVar("awaited", default=None)


@contextmanager
def awaiting(upload: Upload) -> Iterator[None]:
    """Let the application take slots for a request whose body is still to come."""
    token = _awaited.set(upload)
    try:
        yield
    finally:
        _awaited.reset(token)


def take(name: str, most: int) -> bool:
    """Take a slot for the request whose body is still to come; return False if there is none left.

    A request whose body is here holds up nobody and needs none.
    """
    upload = _awaited.get()
    if upload is None:
        return True
    slot = SLOTS.take(name, min(most, SLOTS_MAX))
    if slot is not None:
        upload.slots[name] = slot
    return slot is not None
