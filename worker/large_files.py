"""Limits how many processes of a worker score large files at once, so that one process stays free for small files."""

import atexit
import fcntl
from contextlib import suppress
from tempfile import TemporaryFile
from types import TracebackType
from typing import Self

from django.conf import settings

# Each byte of this file represents a slot for scoring a large file. One process can lock it. Celery imports this module
# before it forks the pool, so all processes of a worker share the file. When a process ends for any reason, the
# operating system releases its lock.
LOCKS = TemporaryFile(buffering=0)  # noqa: SIM115 - open as long as the process lives
atexit.register(LOCKS.close)


class LargeFileSlot:
    """A context manager that holds one of the slots for large files until `release` is called or the `with` block ends.

    If all slots are taken, the context manager holds no slot.
    """

    def __enter__(self) -> Self:
        self.number = next(filter(lock, range(settings.WORKER_LARGE_FILES_AT_ONCE)), None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    @property
    def is_held(self) -> bool:
        """Whether this process holds a slot and may therefore score a large file."""
        return self.number is not None

    def release(self) -> None:
        if self.number is not None:
            fcntl.lockf(LOCKS, fcntl.LOCK_UN, 1, self.number)
            self.number = None


def lock(number: int) -> bool:
    """Try to lock a slot, and return whether this process holds it now."""
    with suppress(OSError):
        fcntl.lockf(LOCKS, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        return True
    return False
