"""Keeps a process for small files: only WORKER_LARGE_FILES_AT_ONCE of a worker's processes may take a large one."""

import fcntl
from contextlib import suppress
from types import TracebackType
from typing import Self

from django.conf import settings

from worker.shared import PLACES


class Lane:
    """Within the block this process may take a large file if it is `large`, until it leaves the place to others."""

    def __enter__(self) -> Self:
        self.place = next(filter(taken, range(settings.WORKER_LARGE_FILES_AT_ONCE)), None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    @property
    def large(self) -> bool:
        return self.place is not None

    def leave(self) -> None:
        if self.place is not None:
            fcntl.lockf(PLACES, fcntl.LOCK_UN, 1, self.place)
            self.place = None


def taken(place: int) -> bool:
    with suppress(OSError):
        fcntl.lockf(PLACES, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        return True
    return False
