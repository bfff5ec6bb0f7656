"""Renews the lease of a job while its file is being scored, and records the progress."""

import logging
from collections.abc import Callable
from threading import Event, Thread

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection

log = logging.getLogger(__name__)

MIN_BEAT_SECONDS = 1.0

Prolong = Callable[..., bool]  # takes `stage` and `progress`, and returns False if the lease is lost


class LeaseLost(Exception):
    """Raised if a job was cancelled or claimed by another worker.

    The result of the scoring run must not be recorded.
    """


class Heartbeat(Thread):
    """A thread that calls `prolong` every HEARTBEAT_SECONDS, and soon after new progress, at most once per second.

    The thread does not call `prolong` in the first second, so that a short scoring run needs no further database
    connection.

    While the database cannot be reached, the thread keeps trying. If the lease is lost in the meantime, the next
    successful call returns False.
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
        # A connection that has been idle for a long time may be broken, for example if the database was restarted.
        close_old_connections()

    def progress(self, stage: str, fraction: float) -> None:
        """Record the progress that the scorer reports. If the lease is lost, raise LeaseLost to stop the scoring."""
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
