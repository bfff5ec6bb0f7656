"""Runs the whole service on one machine: starts all processes, restarts those that crash, and stops them in order."""

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
from server.runtime import broker, home, startup_checks, web_address
from server.runtime.home import NotStarted
from server.runtime.processes import ServiceProcess
from server.runtime.setting_warnings import setting_warnings

Report = Callable[[str, str], None]  # a function that shows a message about the process with this name

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POLL_SECONDS = 0.5
CRASHES_AT_START = 3
# With one memory arena for each thread, as is usual with glibc, a web process keeps much memory that it no longer uses.
FEW_ARENAS = {"MALLOC_ARENA_MAX": "2"}
# these features exchange messages between workers, but there is only one worker
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")


def stop_now(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


class Service:
    """The running service. Leaving its `with` block stops all processes.

    Use it as `with Service(report) as service: service.wait_until_ready(); service.watch()`. Inside the block SIGINT,
    SIGTERM and SIGHUP stop the service too.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.processes: list[ServiceProcess] = []
        self.lock: IO[str] | None = None
        self.socket: Path | None = None
        self.handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Service":
        for number in STOP_SIGNALS:
            # Under nohup, SIGHUP must still be ignored.
            if (number, signal.getsignal(number)) != (signal.SIGHUP, signal.SIG_IGN):
                self.handlers[number] = signal.signal(number, stop_now)
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for number in self.handlers:
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not leave processes running
        try:
            self.stop()
        finally:
            for number, handler in self.handlers.items():
                signal.signal(number, handler)

    def start(self) -> None:
        """Start every process. Raises NotStarted if the service cannot run."""
        self.lock = home.lock_home()
        web_address.check_port()
        startup_checks.check_database()
        self.migrate()
        url = self.find_broker()
        home.write_note(redis_url=url)
        environment = {**os.environ, "PODIUM_HOME": str(settings.PODIUM_HOME), "REDIS_URL": url}
        web_environment = {**FEW_ARENAS, **environment}
        self.add("web", web_command(), web_environment, f"{settings.WEB_PROCESSES} × {settings.WEB_THREADS} threads")
        self.add(
            "worker",
            worker_command(),
            environment,
            f"{settings.WORKER_PROCESSES} at a time, {settings.WORKER_MEMORY_BYTES / 2**30:g} GiB each",
            grace_seconds=settings.STOP_SECONDS + 10.0,
        )
        for warning in setting_warnings():
            self.report("warning", warning)
        self.add("sweeper", sweeper_command(), environment, f"every {settings.SWEEP_SECONDS} s")
        self.add("mailer", mailer_command(), environment, "sends notices by email", grace_seconds=20.0)

    def migrate(self) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        database = connections["default"]
        self.report("database", f"{database.display_name}: {database.settings_dict['NAME']}")
        connections.close_all()

    def find_broker(self) -> str:
        """Return the URL of the configured Redis, or start Redis and return its URL.

        This process uses that URL from then on.
        """
        url = os.environ.get("REDIS_URL", "")  # settings.REDIS_URL may be the URL of an earlier run
        if url:
            startup_checks.check_broker(url)
            self.report("broker", f"Redis at {urlsplit(url).hostname or urlsplit(url).path}")
        else:
            url = self.start_broker()
        settings.REDIS_URL = url
        celery_app.conf.update(broker_url=url.replace("unix://", "redis+socket://", 1))
        return url

    def start_broker(self) -> str:
        folder, server = home.subfolder("redis"), broker.binary()
        self.socket = broker.socket_folder(folder) / "redis.sock"
        command = broker.command(server=server, folder=folder, socket=self.socket)
        process = self.add("broker", command, os.environ, f"{server} on {self.socket}")
        url = f"unix://{self.socket}"
        with Redis.from_url(url) as redis:
            while process.child is not None and process.child.poll() is None:
                try:
                    redis.ping()
                except RedisError:
                    time.sleep(0.05)
                else:
                    return url
        raise NotStarted(f"Redis ended immediately. Its log {process.log} ends with\n{process.log_tail()}")

    def add(
        self,
        name: str,
        command: list[str],
        environment: Mapping[str, str],
        description: str,
        *,
        grace_seconds: float = 10.0,
    ) -> ServiceProcess:
        log = home.subfolder("logs") / f"{name}.log"
        process = ServiceProcess(name, command, log, environment, grace_seconds)
        self.processes.append(process)
        process.start()
        self.report(name, description)
        return process

    def wait_until_ready(self, *, seconds: float = 60.0) -> None:
        """Wait until the service is ready. Raises NotStarted if that takes too long or a process keeps crashing."""
        until = time.monotonic() + seconds
        while set((ready := web_address.readiness()).values()) != {"ok"}:
            self.keep_running()
            for process in self.processes:
                if process.crashes >= CRASHES_AT_START:
                    raise NotStarted(
                        f"{process.name} does not start. Its log {process.log} ends with\n{process.log_tail()}"
                    )
            if time.monotonic() > until:
                missing = "; ".join(f"{name}: {state}" for name, state in ready.items() if state != "ok")
                raise NotStarted(f"Not ready after {seconds:g} s ({missing}). See {home.subfolder('logs')}.")
            time.sleep(POLL_SECONDS / 2)

    def keep_running(self) -> None:
        """Restart the processes that have ended."""
        for process in self.processes:
            if message := process.keep_running():
                self.report(process.name, message)

    def watch(self) -> None:
        """Keep every process running until this process receives a signal to stop."""
        while True:
            self.keep_running()
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """Stop all processes: the web process first, so that no uploads arrive, and the broker last."""
        order = ("web", "worker", "sweeper", "mailer", "broker")
        for process in sorted(self.processes, key=lambda process: order.index(process.name)):
            process.stop()
        self.processes.clear()
        if self.lock is not None:
            if self.socket is not None and self.socket.parent != settings.PODIUM_HOME / "redis":
                shutil.rmtree(self.socket.parent, ignore_errors=True)
            home.remove_note()
            self.lock.close()
            self.lock = None


def web_command() -> list[str]:
    return [sys.executable, "-m", "gunicorn", "--config", "python:server.runtime.web", "server.wsgi:application"]


def worker_command() -> list[str]:
    return [sys.executable, "-m", "celery", "-A", "worker", "worker", "--loglevel", "INFO", *QUIET]


def mailer_command() -> list[str]:
    """Return the command of the process that sends emails. It takes no messages for the worker."""
    mails = ("--include", "server.notices.tasks", "--queues", "mail", "--hostname", "mailer@%h", "--pool", "solo")
    command = [sys.executable, "-m", "celery", "--app", "server.celery", "worker", "--loglevel", "INFO"]
    return [*command, *mails, *QUIET]


def sweeper_command() -> list[str]:
    return [sys.executable, "manage.py", "sweep", "--forever"]
