"""Tells the database, while something is scored, that its worker lives and how far it is."""

import logging
from collections.abc import Callable
from threading import Event, Thread

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection

log = logging.getLogger(__name__)

NEWS_SECONDS = 1.0

Beat = Callable[..., bool]  # takes `stage` and `progress`; False if the lease is lost


class LeaseLost(Exception):
    """It was cancelled, or given to another worker: whatever comes out is not wanted any more."""


class Heartbeat(Thread):
    """Beats every HEARTBEAT_SECONDS, and soon after news, at most once a second.

    A database that is away is waited for: the lease may run out meanwhile, then the next beat says so.
    """

    def __init__(self, what: str, beat: Beat) -> None:
        super().__init__(name=f"heartbeat of {what}", daemon=True)
        self.what, self.tell = what, beat
        self.news, self.over, self.lost = Event(), Event(), Event()
        self.now = ("", 0.0)

    def __enter__(self) -> "Heartbeat":
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self.news.set()
        self.join()
        close_old_connections()  # the scorer's own was idle for long; the database may have been restarted meanwhile

    def progress(self, stage: str, fraction: float) -> None:
        """Take note of how far the scoring is; called from the scoring, where it also ends what is not wanted."""
        if self.lost.is_set():
            raise LeaseLost
        self.now = (stage, fraction)
        self.news.set()

    def run(self) -> None:
        try:
            while not self.lost.is_set():
                self.news.wait(settings.HEARTBEAT_SECONDS)
                if self.over.is_set():
                    return
                self.news.clear()
                self.beat()
                self.over.wait(NEWS_SECONDS)
        finally:
            connection.close()

    def beat(self) -> None:
        stage, progress = self.now
        try:
            if not self.tell(stage=stage, progress=progress):
                self.lost.set()
        except (DatabaseError, InterfaceError) as error:
            connection.close()
            log.warning("%s: no heartbeat, will try again: %s", self.what, error)
