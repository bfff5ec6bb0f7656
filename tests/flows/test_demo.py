"""Tests with real processes: `manage.py demo` can be interrupted, run to its end, and run again."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests.flows.running import NOT_INHERITED, free_port

pytestmark = [pytest.mark.processes, pytest.mark.embedded]

TABLES = ("submission", "evaluation", "score", "quotaentry")
Demo = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def demo(tmp_path: Path, socket_enabled: None) -> Iterator[Demo]:
    """Yield a function that starts `manage.py demo` with a temporary state folder.

    Its processes are stopped at the end.
    """
    kept = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    port = str(free_port())
    environment = {**kept, "PODIUM_HOME": str(tmp_path / "home"), "PODIUM_PORT": port, "PYTHONUNBUFFERED": "1"}
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "manage.py", "demo", *words]
        started.append(
            subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment, stdout=subprocess.PIPE, text=True)
        )
        return started[-1]

    yield start
    for process in started:
        with process:
            process.terminate()


def finished(process: "subprocess.Popen[str]") -> str:
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    return output


def counts(home: Path) -> dict[str, int]:
    database = sqlite3.connect(home / "podium.sqlite3")
    try:
        rows = {name: database.execute(f"SELECT count(*) FROM submissions_{name}").fetchone()[0] for name in TABLES}
        rows |= dict(database.execute("SELECT status, count(*) FROM submissions_submission GROUP BY status"))
        rows["teams"] = database.execute("SELECT count(*) FROM challenges_team").fetchone()[0]
    finally:
        database.close()
    return rows


def left_running(home: Path) -> list[str]:
    """Return the command lines of all running processes that use the given state folder."""
    mark = f"PODIUM_HOME={home}".encode()
    alive = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                alive.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return alive


def test_the_demo_can_be_interrupted_finished_and_run_again(demo: Demo, tmp_path: Path) -> None:
    home = tmp_path / "home"
    interrupted = demo()
    assert interrupted.stdout is not None
    for line in interrupted.stdout:
        # The demo prints the name of its second challenge after it has created the first one. Interrupt it then.
        if "demo-relationships" in line:
            break
    interrupted.send_signal(signal.SIGINT)
    finished(interrupted)
    assert left_running(home) == []

    output = finished(demo("--once"))
    rows = counts(home)
    assert "   1  Aurora" in output
    assert "   1  Quartz" in output
    assert (rows["submission"], rows["scored"], rows["rejected"], rows["teams"]) == (39, 38, 1, 13)

    finished(demo("--once"))
    assert counts(home) == rows
    assert left_running(home) == []
