"""The real service in a folder of its own: started, asked, damaged, and stopped."""

import gzip
import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

ENOUGH_SECONDS = 40.0
NOT_INHERITED = ("REDIS_URL", "DATABASE_URL", "DJANGO_SETTINGS_MODULE", "LOG_LEVEL", "PODIUM_URL")


def wait_for(condition: Callable[[], Any], *, seconds: float = ENOUGH_SECONDS, every: float = 0.05) -> Any:
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, f"it did not come within {seconds:g} s"
        time.sleep(every)
    return found


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def command_line(process: Path) -> str:
    with suppress(OSError):
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


class Running:
    """`manage.py up` as a person would start it, and everything to look at it from outside."""

    def __init__(self, home: Path, **settings_of_it: Any) -> None:
        self.home, self.port = home, free_port()
        kept = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
        given = {name: str(value) for name, value in settings_of_it.items()}
        self.environment = {
            **kept,
            "PODIUM_HOME": str(home),
            "PODIUM_PORT": str(self.port),
            "WEB_PROCESSES": "1",
        } | given
        self.output = home.parent / f"{home.name}.out"
        self.token = ""

    def start(self) -> "Running":
        with self.output.open("wb") as output:
            self.process = self.popen("manage.py", "up", stdout=output, stderr=output)
        wait_for(lambda: "Ctrl-C" in self.said() or self.process.poll() is not None)
        assert self.process.poll() is None, self.said()
        return self

    def said(self) -> str:
        return self.output.read_text()

    def popen(self, *words: str, **options: Any) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, *words], cwd=settings.BASE_DIR, env=self.environment, **options)

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a Python program beside the service, to its end."""
        command = [sys.executable, *words]
        return subprocess.run(command, cwd=settings.BASE_DIR, env=self.environment, capture_output=True, text=True)

    def send(self, number: signal.Signals) -> None:
        """Signal the supervisor and wait for its end."""
        self.process.send_signal(number)
        self.process.wait(ENOUGH_SECONDS)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.send(signal.SIGTERM)

    def processes(self, words: str = "") -> list[int]:
        """Every process of this home, supervisor included, whose command line has these words."""
        return sorted(
            int(process.name)
            for process in Path("/proc").glob("[0-9]*")
            if words in command_line(process) and self.owns(process)
        )

    def owns(self, process: Path) -> bool:
        """By its environment, or, as Redis writes its title over that, by where it works."""
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

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.home / "podium.sqlite3", timeout=30)) as database:
            return database.execute(query, values).fetchall()

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any]:
        """One request; JSON answers are decoded."""
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        return answer.status, json.loads(text) if "json" in (answer.getheader("Content-Type") or "") else text

    def upload(self, content: bytes, name: str = "predictions.csv") -> tuple[int, Any]:
        mark = uuid.uuid4().hex
        disposition = f'Content-Disposition: form-data; name="file"; filename="{name}"'
        head = f"--{mark}\r\n{disposition}\r\nContent-Type: text/csv\r\n\r\n".encode()
        body = head + content + f"\r\n--{mark}--\r\n".encode()
        kind = {"Content-Type": f"multipart/form-data; boundary={mark}"}
        return self.ask("POST", "/api/v1/challenges/flows/phases/main/submissions", body, **kind)

    def submit(self, content: bytes) -> str:
        """Upload, and return the id; a fresh gzip envelope, so that no file is a duplicate."""
        status, answer = self.upload(gzip.compress(content, 1, mtime=time.time_ns() % 2**32), "predictions.csv.gz")
        assert status == 201, answer
        return str(answer["id"])

    def submission(self, identifier: str) -> dict[str, Any]:
        status, answer = self.ask("GET", f"/api/v1/submissions/{identifier}")
        assert status == 200, answer
        return dict(answer)

    def ended(self, identifier: str) -> dict[str, Any]:
        """Wait until it is neither queued nor running."""

        def look() -> dict[str, Any] | None:
            found = self.submission(identifier)
            return found if found["status"] not in ("queued", "running") else None

        return dict(wait_for(look))

    def wait_until_running(self, identifier: str) -> None:
        query = "SELECT 1 FROM submissions_submission WHERE id = ? AND status = 'running'"
        wait_for(lambda: self.rows(query, identifier.replace("-", "")), every=0.002)

    def evaluations(self, identifier: str) -> int:
        query = "SELECT count(*) FROM submissions_evaluation WHERE submission_id = ?"
        return int(self.rows(query, identifier.replace("-", ""))[0][0])

    def attempts(self, identifier: str) -> int:
        query = "SELECT attempts FROM submissions_submission WHERE id = ?"
        return int(self.rows(query, identifier.replace("-", ""))[0][0])


@pytest.fixture
def wait_until() -> Callable[..., Any]:
    """`wait_until(condition)`: its first true answer, or a failed test."""
    return wait_for


Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """`start(NAME=value)`: a service with these settings; whatever still runs afterwards is stopped."""
    started: list[Running] = []

    def begin(home: Path = tmp_path / "home", **settings_of_it: Any) -> Running:
        home.mkdir(parents=True)
        started.append(Running(home, **settings_of_it))
        return started[-1].start()

    yield begin
    for service in started:
        service.stop()


JOIN = """
import django; django.setup()
from server.accounts.models import User
from server.accounts.services import issue_token
from server.challenges.models import Challenge
from server.challenges.services import join
user = User.objects.create_user("ada", "ada@example.org", "correct horse battery")
join(user=user, challenge=Challenge.objects.get(slug="flows"), accept_rules=True)
print(issue_token(user=user, name="flows", scope="submit", days=1)[1])
"""

CHALLENGE = """
slug: flows
title: Flows
phases:
  - {slug: main, title: Main, track: openimages-detection, quota: {per_day: 1000, attempts_per_day: 1000}}
"""


@pytest.fixture(scope="module")
def predictions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a challenge bundle, made by `podium synthesize`, and a submission that takes a moment to score."""
    folder = tmp_path_factory.mktemp("bundle")
    words = [sys.executable, "-m", "evaluator", "synthesize", "openimages-detection", "--out", str(folder / "made")]
    subprocess.run([*words, "--images", "3000", "--quality", "0.7"], check=True, cwd=settings.BASE_DIR)
    (folder / "phases" / "main").mkdir(parents=True)
    (folder / "made" / "truth").rename(folder / "phases" / "main" / "truth")
    (folder / "made" / "submissions" / "quality-0.70.csv").rename(folder / "predictions.csv")
    (folder / "challenge.yaml").write_text(CHALLENGE)
    return folder


@pytest.fixture(scope="module")
def service(predictions: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A running service with a challenge and a member; short leases, so that crashes are noticed in seconds."""
    home = tmp_path_factory.mktemp("service") / "home"
    home.mkdir()
    short = {"LEASE_SECONDS": 3, "HEARTBEAT_SECONDS": 1, "SWEEP_SECONDS": 1, "RESEND_SECONDS": 2, "STOP_SECONDS": 1}
    running = Running(home, **short).start()
    try:
        imported = running.run("manage.py", "import_challenge", str(predictions))
        assert imported.returncode == 0, imported.stdout + imported.stderr
        running.environment["DJANGO_SETTINGS_MODULE"] = "server.settings"
        joined = running.run("-c", JOIN)
        running.token = joined.stdout.strip()
        assert running.token, joined.stderr
        yield running
    finally:
        running.stop()
