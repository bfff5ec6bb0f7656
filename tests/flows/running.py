"""Starts a service with `manage.py up`, and inspects, freezes and kills its processes from outside."""

import gzip
import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections import Counter
from contextlib import ExitStack, closing, suppress
from copy import copy
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings

from tests.flows.own_servers import own_servers
from tests.flows.waiting import ENOUGH_SECONDS, free_port, wait_for
from tests.migrated_database import copy_file

__all__ = ["Running", "free_port", "wait_for"]

START_SECONDS = 120.0  # Tests wait at most this long for a service to start, unless they set `start_seconds`.
TRIES = 20
# A transaction of PostgreSQL has a number, and a lock on it, as soon as it writes or locks a row.
OPEN_TRANSACTIONS = """
SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'transactionid' AND granted AND datname = current_database()
"""
NOT_INHERITED = ("REDIS_URL", "DATABASE_URL", "STORAGE_URL", "DJANGO_SETTINGS_MODULE", "LOG_LEVEL", "PODIUM_URL")


def command_line(process: Path) -> str:
    with suppress(OSError):
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def as_in_sqlite(value: Any) -> Any:
    """Convert a value that PostgreSQL returned to the value that Django stores in SQLite, if it is a time."""
    return str(value.astimezone(UTC).replace(tzinfo=None)) if isinstance(value, datetime) else value


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


class Running:
    """A service started by `manage.py up`, with methods that inspect, freeze and kill its processes from outside."""

    def __init__(self, home: Path, **settings_of_it: Any) -> None:
        self.home, self.port = home, free_port()
        self.up: tuple[str, ...] = ("manage.py", "up")
        self.source = settings.BASE_DIR  # The folder with the code that the service runs.
        kept = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
        given = {name: str(value) for name, value in settings_of_it.items()}
        where = {"PODIUM_HOME": str(home), "PODIUM_PORT": str(self.port), "DJANGO_SETTINGS_MODULE": "server.settings"}
        self.environment = {**kept, **where, "WEB_PROCESSES": "1", "WORKER_PROCESSES": "2", **given}
        self.start_seconds = START_SECONDS
        # If the service runs on a simulated host, its commands start with these words, which run a command on that
        # host.
        self.inside: tuple[str, ...] = ()
        self.output = home.parent / f"{home.name}.out"
        self.servers = ExitStack()  # Stops the servers that `tests.flows.own_servers` starts for this service.
        self.token = ""
        self.tokens: list[str] = []

    def start(self, *, migrated: bool = True) -> "Running":
        """Start the service. Its database is a copy of a migrated one, unless `migrated` is false."""
        self.environment |= self.servers.enter_context(own_servers(self.home, self.environment, migrated=migrated))
        if migrated and "DATABASE_URL" not in self.environment:
            copy_file(self.home)
        self.launch()
        return self

    def launch(self) -> None:
        """Start the processes of the service, and wait until they are ready."""
        with self.output.open("wb") as output:
            self.process = self.popen(*self.up, stdout=output, stderr=output)
        wait_for(lambda: "Ctrl-C" in self.said() or self.process.poll() is not None, seconds=self.start_seconds)
        assert self.process.poll() is None, self.said()

    def said(self) -> str:
        return self.output.read_text()

    def popen(self, *words: str, **options: Any) -> "subprocess.Popen[bytes]":
        """Start a Python program with the environment of the service."""
        command = [*self.inside, sys.executable, *words]
        return subprocess.Popen(command, cwd=self.source, env=self.environment, **options)

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a Python program with the environment of the service until it ends."""
        command = [*self.inside, sys.executable, *words]
        return subprocess.run(command, cwd=self.source, env=self.environment, capture_output=True, text=True)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the service's supervisor process, and wait until that process has ended."""
        self.process.send_signal(number)
        self.process.wait(ENOUGH_SECONDS)

    def stop(self) -> None:
        """Stop the service, and remove the servers that were started for it."""
        try:
            self.stop_processes()
        finally:
            self.servers.close()

    def stop_processes(self) -> None:
        """Stop all processes: resume frozen ones, terminate the supervisor, and kill any that remain."""
        try:
            self.signal_all("", signal.SIGCONT)
            if self.process.poll() is None:
                self.send(signal.SIGTERM)
        finally:
            self.signal_all("", signal.SIGKILL)

    def processes(self, words: str = "") -> list[int]:
        """Return the ids of the service's processes whose command line contains `words`, including the supervisor."""
        return sorted(
            int(process.name)
            for process in Path("/proc").glob("[0-9]*")
            if words in command_line(process) and self.owns(process)
        )

    def owns(self, process: Path) -> bool:
        """Return whether a process belongs to this service.

        The environment of such a process contains the service's folder as PODIUM_HOME. For Redis, the working folder is
        checked instead.
        """
        with suppress(OSError):
            mine = f"PODIUM_HOME={self.home}".encode() in (process / "environ").read_bytes().split(b"\0")
            return mine or (process / "cwd").readlink().is_relative_to(self.home)
        return False

    def signal_all(self, words: str, number: signal.Signals) -> list[int]:
        found = self.processes(words)
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process, number)
        return found

    def freeze(self, words: str = "celery -A") -> list[int]:
        """Freeze the processes whose command line contains `words`, and return their ids.

        If the database is being written at that time, the processes are resumed and frozen again. Otherwise, requests
        could wait for locks of a frozen process.
        """
        for _ in range(TRIES):
            frozen = self.signal_all(words, signal.SIGSTOP)
            if self.can_be_written():
                return frozen
            self.signal_all(words, signal.SIGCONT)
        raise AssertionError(f"in each of {TRIES} attempts, the database was being written when {words} was stopped")

    def rows(self, query: str, *values: Any, seconds: float = 30) -> list[tuple[Any, ...]]:
        """Return the rows of a database query. Times are text as Django stores them in SQLite.

        Wait at most `seconds` for SQLite's lock.
        """
        if url := self.environment.get("DATABASE_URL"):
            with psycopg.connect(url) as connection:
                found = connection.execute(query.replace("?", "%s"), values).fetchall()
            return [tuple(as_in_sqlite(value) for value in row) for row in found]
        with closing(sqlite3.connect(self.home / "podium.sqlite3", timeout=seconds)) as database:
            return database.execute(query, values).fetchall()

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any]:
        """Send a request, and return the status and the body, which is decoded if it is JSON."""
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        return answer.status, json.loads(text) if "json" in (answer.getheader("Content-Type") or "") else text

    def upload(self, content: bytes, name: str = "predictions.csv") -> tuple[int, Any]:
        return self.post_file("/api/v1/challenges/flows/phases/main/submissions", content, name)

    def post_file(self, path: str, content: bytes, name: str) -> tuple[int, Any]:
        mark = uuid.uuid4().hex
        disposition = f'Content-Disposition: form-data; name="file"; filename="{name}"'
        head = f"--{mark}\r\n{disposition}\r\nContent-Type: text/csv\r\n\r\n".encode()
        body = head + content + f"\r\n--{mark}--\r\n".encode()
        kind = {"Content-Type": f"multipart/form-data; boundary={mark}"}
        return self.ask("POST", path, body, **kind)

    def upload_anew(self, content: bytes) -> tuple[int, Any]:
        """Compress the content and upload it. The time in the gzip header makes each uploaded file different."""
        return self.upload(gzip.compress(content, 1, mtime=time.time_ns() % 2**32), "predictions.csv.gz")

    def submit(self, content: bytes) -> str:
        """Upload the content as a file that differs from all earlier files, and return the id of the submission."""
        status, answer = self.upload_anew(content)
        assert status == 201, answer
        return str(answer["id"])

    def asked_by(self, number: int) -> "Running":
        """Return a copy of this object that sends requests as the user with the given number."""
        other = copy(self)
        other.token = self.tokens[number]
        return other

    def submission(self, identifier: str) -> dict[str, Any]:
        status, answer = self.ask("GET", f"/api/v1/submissions/{identifier}")
        assert status == 200, answer
        return dict(answer)

    def ended(self, identifier: str) -> dict[str, Any]:
        """Wait until the submission is neither queued nor running, and return its JSON."""

        def look() -> dict[str, Any] | None:
            found = self.submission(identifier)
            return found if found["status"] not in ("queued", "running") else None

        return dict(wait_for(look))

    def worker(self) -> tuple[int, list[int]]:
        """Return the id of Celery's main process, and those of its pool processes.

        The main process is a child of the supervisor. It need not have the lowest id, because process ids wrap around.
        """
        count = 1 + int(self.environment["WORKER_PROCESSES"])
        found = wait_for(lambda: len(found := self.processes("celery -A")) == count and found)
        (first,) = [process for process in found if parent_of(process) == self.process.pid]
        return first, [process for process in found if process != first]

    def count(self, table: str) -> int:
        return int(self.rows(f"SELECT count(*) FROM {table}")[0][0])

    def statuses(self, *, seconds: float = 30) -> Counter[str]:
        """Return the number of submissions in the service's database, by status."""
        query = "SELECT status, count(*) FROM submissions_submission GROUP BY status"
        return Counter(dict(self.rows(query, seconds=seconds)))

    def column(self, name: str, identifier: str) -> Any:
        """Return the value of a column, or of an SQL expression, in the row of a submission."""
        query = f"SELECT {name} FROM submissions_submission WHERE id = ?"
        return self.rows(query, identifier.replace("-", ""))[0][0]

    def evaluations(self, identifier: str) -> int:
        query = "SELECT count(*) FROM submissions_evaluation WHERE submission_id = ?"
        return int(self.rows(query, identifier.replace("-", ""))[0][0])

    def frozen_while_scoring(self, content: bytes) -> str:
        """Freeze the pool processes while they score a submission, and return the id of the submission.

        If the processes are frozen too late, or while the database is locked, another submission is tried.
        """
        for _ in range(TRIES):
            identifier = self.submit(content)
            wait_for(partial(self.has_begun, identifier), every=0.002)
            for process in self.worker()[1]:
                os.kill(process, signal.SIGSTOP)
            if self.can_be_written() and self.column("status", identifier) == "running":
                return identifier
            self.signal_all("celery -A worker", signal.SIGCONT)
        raise AssertionError(f"each of {TRIES} submissions was scored before it could be stopped")

    def has_begun(self, identifier: str) -> bool:
        """Return whether a worker has claimed the submission with the given id in order to score it."""
        return bool(self.column("status != 'queued'", identifier))

    def can_be_written(self) -> bool:
        """Return whether no process is in a transaction that has locked rows or, on SQLite, the whole database."""
        if "DATABASE_URL" in self.environment:
            return self.rows(OPEN_TRANSACTIONS) == [(0,)]
        with closing(sqlite3.connect(self.home / "podium.sqlite3", timeout=1)) as database:
            with suppress(sqlite3.OperationalError):
                database.execute("BEGIN IMMEDIATE")
            return database.in_transaction
