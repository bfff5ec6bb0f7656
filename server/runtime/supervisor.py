"""The whole service on one machine: starts every part, keeps them running, stops them in order."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import IO, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management import call_command
from django.db import connections
from redis import Redis, RedisError

from server.celery import app as celery_app
from server.runtime import address, broker, home, reached
from server.runtime.doubts import doubts
from server.runtime.home import NotStarted
from server.runtime.parts import Part

Say = Callable[[str, str], None]

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOK_SECONDS = 0.5
DEATHS_AT_START = 3


def stop_now(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


class Service:
    """`with Service(say) as service: service.wait_until_ready(); service.watch()`; leaving the block stops all of it.

    Inside the block SIGINT, SIGTERM and SIGHUP end it in the same way.
    """

    def __init__(self, say: Say) -> None:
        self.say = say
        self.parts: list[Part] = []
        self.lock: IO[str] | None = None
        self.socket: Path | None = None
        self.handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Service":
        for number in STOPS:
            if (number, signal.getsignal(number)) != (signal.SIGHUP, signal.SIG_IGN):  # as nohup leaves it
                self.handlers[number] = signal.signal(number, stop_now)
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for number in self.handlers:
            signal.signal(number, signal.SIG_IGN)  # impatience must not leave half of it running
        try:
            self.stop()
        finally:
            for number, handler in self.handlers.items():
                signal.signal(number, handler)

    def start(self) -> None:
        """Start every part; refuse with NotStarted where that cannot work."""
        self.lock = home.occupy()
        address.refuse_useless_port()
        reached.refuse_silent_database()
        self.migrate()
        url = self.find_broker()
        home.announce(redis_url=url)
        environment = {**os.environ, "PODIUM_HOME": str(settings.PODIUM_HOME), "REDIS_URL": url}
        self.add("web", web_command(), environment, f"{settings.WEB_PROCESSES} × {settings.WEB_THREADS} threads")
        self.add(
            "worker",
            worker_command(),
            environment,
            f"{settings.WORKER_PROCESSES} at a time, {settings.WORKER_MEMORY_BYTES / 2**30:g} GiB each",
            grace_seconds=settings.STOP_SECONDS + 10.0,
        )
        for doubt in doubts():
            self.say("warning", doubt)
        self.add("sweeper", sweeper_command(), environment, f"every {settings.SWEEP_SECONDS} s")

    def migrate(self) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        database = connections["default"]
        self.say("database", f"{database.display_name}: {database.settings_dict['NAME']}")
        connections.close_all()

    def find_broker(self) -> str:
        """Return the URL of the told Redis, or of one of our own; this process uses it, too."""
        url = os.environ.get("REDIS_URL", "")  # not settings.REDIS_URL: that may be what an earlier run left
        if url:
            reached.refuse_silent_broker(url)
            self.say("broker", f"Redis at {urlsplit(url).hostname or urlsplit(url).path}")
        else:
            url = self.start_broker()
        settings.REDIS_URL = url
        celery_app.conf.update(broker_url=url.replace("unix://", "redis+socket://", 1))
        return url

    def start_broker(self) -> str:
        folder, server = home.folder("redis"), broker.binary()
        self.socket = broker.socket_folder(folder) / "redis.sock"
        command = broker.command(server=server, folder=folder, socket=self.socket)
        part = self.add("broker", command, os.environ, f"{server} on {self.socket}")
        url = f"unix://{self.socket}"
        with Redis.from_url(url) as redis:
            while part.process is not None and part.process.poll() is None:
                try:
                    redis.ping()
                except RedisError:
                    time.sleep(0.05)
                else:
                    return url
        raise NotStarted(f"Redis ended at once; its log {part.log} ends with\n{part.last_words()}")

    def add(
        self, name: str, command: list[str], environment: Mapping[str, str], what: str, *, grace_seconds: float = 10.0
    ) -> Part:
        part = Part(name, command, home.folder("logs") / f"{name}.log", environment, grace_seconds)
        self.parts.append(part)
        part.start()
        self.say(name, what)
        return part

    def wait_until_ready(self, *, seconds: float = 60.0) -> None:
        """Return when every part answers; NotStarted, with the reason, if one does not in time or dies repeatedly."""
        until = time.monotonic() + seconds
        while set((ready := address.readiness()).values()) != {"ok"}:
            self.tend()
            for part in self.parts:
                if part.deaths >= DEATHS_AT_START:
                    raise NotStarted(f"{part.name} does not start; its log {part.log} ends with\n{part.last_words()}")
            if time.monotonic() > until:
                missing = "; ".join(f"{name}: {state}" for name, state in ready.items() if state != "ok")
                raise NotStarted(f"Not ready after {seconds:g} s ({missing}). See {home.folder('logs')}.")
            time.sleep(LOOK_SECONDS / 2)

    def tend(self) -> None:
        """Start again what died."""
        for part in self.parts:
            if news := part.tend():
                self.say(part.name, news)

    def watch(self) -> None:
        """Keep every part running until this process is told to stop."""
        while True:
            self.tend()
            time.sleep(LOOK_SECONDS)

    def stop(self) -> None:
        """Stop what takes uploads first, what keeps the messages last."""
        order = ("web", "worker", "sweeper", "broker")
        for part in sorted(self.parts, key=lambda part: order.index(part.name)):
            part.stop()
        self.parts.clear()
        if self.lock is not None:
            if self.socket is not None and self.socket.parent != settings.PODIUM_HOME / "redis":
                shutil.rmtree(self.socket.parent, ignore_errors=True)
            home.withdraw()
            self.lock.close()
            self.lock = None


def web_command() -> list[str]:
    return [sys.executable, "-m", "gunicorn", "--config", "python:server.runtime.web", "server.wsgi:application"]


def worker_command() -> list[str]:
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat")  # there is nobody to talk to
    return [sys.executable, "-m", "celery", "-A", "worker", "worker", "--loglevel", "INFO", *quiet]


def sweeper_command() -> list[str]:
    return [sys.executable, "manage.py", "sweep", "--forever"]
