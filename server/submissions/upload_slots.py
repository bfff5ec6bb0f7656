"""Upload slots, which limit how many large files one team or one account can upload at the same time.

A slot is a lock on one byte of a file. All web processes of a machine share these locks. Unlike a counter in a cache,
they are always available, and the kernel releases the slots of a process that dies.
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
# Maximum number of upload slots of one team or account. Each slot is a byte of a lock file. The byte after the last
# slot is locked while the slots are counted.
SLOTS_MAX = 2**SLOT_BITS - 1
NAME_BYTES = 6


class Slots:
    """The slots for simultaneous uploads that this process holds. All threads of the process share one instance."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.held: set[int] = set()
        self.file = -1

    def take(self, name: str, most: int) -> int | None:
        """Take an upload slot unless all processes together hold `most` slots with this name (a team or an account).

        Return the slot, or None if no slot was taken.
        """
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
        """Hold a lock during the `with` block, so that no other process can count the upload slots with this name."""
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


class PendingUpload:
    """A request whose body has not arrived yet, with the upload slots that it holds, keyed by name."""

    def __init__(self) -> None:
        self.slots: dict[str, int] = {}

    def release(self) -> None:
        while self.slots:
            SLOTS.release(self.slots.popitem()[1])


_pending: ContextVar[PendingUpload | None] = ContextVar("pending", default=None)


@contextmanager
def pending(upload: PendingUpload) -> Iterator[None]:
    """Allow the code in the `with` block to take upload slots for a request whose body has not arrived yet."""
    token = _pending.set(upload)
    try:
        yield
    finally:
        _pending.reset(token)


def take(name: str, most: int) -> bool:
    """Take an upload slot of a team or account for the current request. Return False if `most` slots are in use.

    A request whose body has arrived needs no slot, so the result is True.
    """
    upload = _pending.get()
    if upload is None:
        return True
    slot = SLOTS.take(name, min(most, SLOTS_MAX))
    if slot is not None:
        upload.slots[name] = slot
    return slot is not None
