"""Renews the lease of a job (a worker's temporary claim on it) and records progress while the job is running."""

import logging
from collections.abc import Callable
from threading import Event, Thread

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection

log = logging.getLogger(__name__)

MIN_BEAT_SECONDS = 1.0

# A function that renews the lease of a job and records its progress, which is passed as the arguments `stage` and
# `progress`. It returns False if the lease is lost.
Prolong = Callable[..., bool]


class LeaseLost(Exception):
    """Raised if the job was cancelled, or claimed by another worker after the lease expired.

    In this case, the result of the scoring run must not be recorded.
    """


class Heartbeat(Thread):
    """A thread that renews the lease of a job by calling `prolong` every HEARTBEAT_SECONDS and after new progress.

    It calls `prolong` at most once per second. There is no call in the first second, so that short scoring runs need no
    second database connection.

    If the database cannot be reached, the thread tries again. If the lease is lost in the meantime, the next call that
    reaches the database returns False.
    """

    def __init__(self, name: str, prolong: Prolong) -> None:
        super().__init__(name=f"heartbeat of {name}", daemon=True)
        self.prolong = prolong
        self.has_progress, self.over, self.lost = Event(), Event(), Event()
        self.latest = ("", 0.0)

    def __enter__(self) -> "Heartbeat":
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self.has_progress.set()
        self.join()
        # The scoring thread's database connection was idle during the job, so it may be broken, for example after a
        # restart of the database.
        close_old_connections()

    def progress(self, stage: str, fraction: float) -> None:
        """Store the progress of the scoring run. If the lease is lost, raise LeaseLost to stop the scoring run."""
        if self.lost.is_set():
            raise LeaseLost
        if stage != self.latest[0]:
            log.info("stage", extra={"stage": stage})
        self.latest = (stage, fraction)
        self.has_progress.set()

    def run(self) -> None:
        try:
            while not (self.lost.is_set() or self.over.wait(MIN_BEAT_SECONDS)):
                self.has_progress.wait(settings.HEARTBEAT_SECONDS)
                if self.over.is_set():
                    return
                self.has_progress.clear()
                self.beat()
        finally:
            connection.close()

    def beat(self) -> None:
        stage, progress = self.latest
        try:
            if not self.prolong(stage=stage, progress=progress):
                self.lost.set()
        except (DatabaseError, InterfaceError) as error:
            connection.close()
            log.warning("%s failed and will be tried again: %s", self.name, error)
