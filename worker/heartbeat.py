"""Renews the lease while a file is being scored, and records the progress."""

import logging
from collections.abc import Callable
from threading import Event, Thread

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection

log = logging.getLogger(__name__)

MIN_BEAT_SECONDS = 1.0

Prolong = Callable[..., bool]  # takes `stage` and `progress`; returns False if the lease is lost


class LeaseLost(Exception):
    """Raised when the job was cancelled or another worker has claimed it. Its result must not be recorded."""


class Heartbeat(Thread):
    """Calls `prolong` every HEARTBEAT_SECONDS, and soon after progress, but at most once a second.

    While the database cannot be reached, it tries again. If the lease expires in the meantime, the next successful call
    returns False.
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
        # A connection that was idle for a long time may be broken, for example if the database was restarted.
        close_old_connections()

    def progress(self, stage: str, fraction: float) -> None:
        """Record the progress that the scorer reports. Raises LeaseLost to stop the scoring if the lease is lost."""
        if self.lost.is_set():
            raise LeaseLost
        self.latest = (stage, fraction)
        self.has_progress.set()

    def run(self) -> None:
        try:
            while not self.lost.is_set():
                self.has_progress.wait(settings.HEARTBEAT_SECONDS)
                if self.over.is_set():
                    return
                self.has_progress.clear()
                self.beat()
                self.over.wait(MIN_BEAT_SECONDS)
        finally:
            connection.close()

    def beat(self) -> None:
        stage, progress = self.latest
        try:
            if not self.prolong(stage=stage, progress=progress):
                self.lost.set()
        except (DatabaseError, InterfaceError) as error:
            connection.close()
            log.warning("%s failed, will try again: %s", self.name, error)
