"""Runs the service, or one part of it: starts its processes, restarts those that end, and stops them in order."""

import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connections
from redis import Redis, RedisError

from server.celery import app as celery_app
from server.runtime import broker, health, home, joining, schema, shared_keys, startup_checks, web_address
from server.runtime.home import NotAvailable, NotStarted
from server.runtime.parts import PARTS, Program, own_sweeper, own_worker, readiness
from server.runtime.processes import ServiceProcess
from server.runtime.setting_warnings import setting_warnings

Report = Callable[[str, str], None]  # A function that is called with the name of a process and a message about it

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POLL_SECONDS = 0.5
CRASHES_AT_START = 3
# On a busy machine, the first start of the service can take minutes, because a worker may have to compile its kernels.
READY_SECONDS, REPORT_SECONDS = 600.0, 20.0
# Checks that may fail for a long time without a reason to stop the service.
DISPENSABLE = {"storage", "sweeper"}


def stop_now(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


class Service:
    """The running service, or one part of it. Leaving its `with` block stops all processes.

    Use it as `with Service(report) as service: service.wait_until_ready(); service.watch()`. Within the block, SIGINT,
    SIGTERM and SIGHUP also stop the service.
    """

    def __init__(self, report: Report, *, only: str = "") -> None:
        self.report = report
        self.only = only
        self.parts = [only] if only else list(PARTS)
        self.processes: list[ServiceProcess] = []
        self.held = ExitStack()  # holds the locks on the folder PODIUM_HOME while the service runs
        self.socket: Path | None = None
        self.handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Service":
        for number in STOP_SIGNALS:
            # If the service was started with nohup, SIGHUP is ignored and must stay ignored.
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
            # While the service stops, signals are ignored, because a second Ctrl-C could leave processes running.
            signal.signal(number, signal.SIG_IGN)
        try:
            self.stop()
        finally:
            for number, handler in self.handlers.items():
                signal.signal(number, handler)

    def start(self) -> None:
        """Start every process of the service. Raises NotStarted if the service cannot run."""
        self.held.enter_context(home.lock_home(self.only))
        if "web" in self.parts:
            web_address.check_port()
        self.prepare_database()
        url = self.find_broker()
        if not self.only:
            home.write_note(redis_url=url)
            self.held.callback(home.remove_note)
        measured = str(home.measurements_folder())
        shared = {"PODIUM_HOME": str(settings.PODIUM_HOME), "REDIS_URL": url, "PROMETHEUS_MULTIPROC_DIR": measured}
        environment = {**os.environ, **shared}
        self.prepare_broker()
        for part in self.parts:
            for name, program in PARTS[part]().items():
                self.add(name, program, environment)
        if "worker" in self.parts:
            for warning in setting_warnings():
                self.report("warning", warning)

    def prepare_database(self) -> None:
        """Create or migrate the tables, and check that storage, database and secret keys belong together.

        Only the web part changes the tables. The other parts wait until this is done.
        """
        startup_checks.check_database()
        database = connections["default"]
        schema.refuse_newer(database)
        first = "web" in self.parts
        if not first:
            schema.wait_until_migrated(database)
        # The web part holds the migration lock until it has written the id of a new installation to the storage.
        # Otherwise, parts that wait for the migrations could look for the id too early, and refuse to start.
        with schema.alone(database):
            if first:
                schema.migrate(database)
            joining.check_storages(first=first)
            shared_keys.check(first=first)
        self.report("database", f"{database.display_name}: {database.settings_dict['NAME']}")
        connections.close_all()

    def find_broker(self) -> str:
        """Return the URL of the configured Redis, or start Redis and return its URL.

        This process uses that URL from then on.
        """
        # settings.REDIS_URL is not used, because it may be the URL of an earlier run.
        url = os.environ.get("REDIS_URL", "")
        if url:
            startup_checks.check_broker(url)
            joining.check_broker(url)
            connections.close_all()
            self.report("broker", f"Redis at {urlsplit(url).hostname or urlsplit(url).path}")
        else:
            url = self.start_broker()
        settings.REDIS_URL = url
        celery_app.conf.update(broker_url=broker.celery_url(url))
        return url

    def prepare_broker(self) -> None:
        """Record the evaluator's version of the web part, and forget an earlier worker and sweeper on this host.

        If they were killed, their heartbeats would make the new ones appear ready. Raises NotAvailable if Redis fails,
        because workers of this version take no jobs while Redis has another version.
        """
        own = {"worker": own_worker(), "sweeper": own_sweeper()}
        try:
            if "web" in self.parts:
                health.note_evaluator()
            if names := [name for part, name in own.items() if part in self.parts]:
                health.forget(*names)
        except RedisError as error:
            raise NotAvailable("Redis has stopped responding. Start it, or correct REDIS_URL.") from error

    def start_broker(self) -> str:
        folder, server = home.subfolder("redis"), broker.binary()
        self.socket = broker.socket_folder(folder) / "redis.sock"
        command = broker.command(server=server, folder=folder, socket=self.socket)
        process = self.add("broker", Program(command, f"{server} on {self.socket}"), os.environ)
        url = f"unix://{self.socket}"
        with Redis.from_url(url) as redis:
            while process.child is not None and process.child.poll() is None:
                try:
                    redis.ping()
                except RedisError:
                    time.sleep(0.05)
                else:
                    return url
        raise NotStarted(f"Redis ended immediately.{process.last_words}")

    def add(self, name: str, program: Program, environment: Mapping[str, str]) -> ServiceProcess:
        log = None if self.only else home.subfolder("logs") / f"{name}.log"
        own = {**(program.environment or {}), **environment}
        process = ServiceProcess(name, program.command, log, own, program.grace_seconds, program.files)
        self.processes.append(process)
        process.start()
        self.report(name, program.description)
        return process

    def wait_until_ready(self, *, seconds: float = READY_SECONDS) -> None:
        """Wait until the service is ready, and report from time to time what is missing.

        Raises NotAvailable if that takes too long or a process keeps crashing. If only storage is missing, such as
        space on a full disk, or a successful sweep, nothing is stopped: pages are served, and the sweeper tries again.
        """
        started = time.monotonic()
        reported = started
        while missing := {name: state for name, state in readiness(self.parts).items() if state != health.OK}:
            self.keep_running()
            for process in self.processes:
                if process.crashes >= CRASHES_AT_START:
                    raise NotAvailable(f"{process.name} did not start.{process.last_words}")
            now = time.monotonic()
            if now - started > seconds and not set(missing) <= DISPENSABLE:
                states = "; ".join(f"{name}: {state}" for name, state in missing.items())
                raise NotAvailable(f"Not ready after {seconds:g} s ({states}). Read the logs.")
            if now - reported > REPORT_SECONDS:
                reported = now
                for name, state in missing.items():
                    self.report(name, f"not ready after {now - started:.0f} s: {state}")
            time.sleep(POLL_SECONDS / 2)

    def keep_running(self) -> None:
        """Restart the processes of the service that have ended."""
        for process in self.processes:
            if message := process.keep_running():
                self.report(process.name, message)

    def watch(self) -> None:
        """Keep every process of the service running until the supervisor receives a signal to stop."""
        while True:
            self.keep_running()
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """Stop all processes: the web process first, so that no more uploads arrive, and the broker last."""
        order = ("web", "worker", "sweeper", "mailer", "broker")
        for process in sorted(self.processes, key=lambda process: order.index(process.name)):
            process.stop()
        self.processes.clear()
        if self.socket is not None and self.socket.parent != settings.PODIUM_HOME / "redis":
            shutil.rmtree(self.socket.parent, ignore_errors=True)
        self.held.close()
