"""Runs a PostgreSQL server that a drill can stop and restart. The server does not run as root."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.flows.running import free_port, wait_for

# Debian installs the programs of each PostgreSQL version in a subfolder of /usr/lib/postgresql, outside the PATH.
INSTALLED = "/usr/lib/postgresql"


def programs() -> Path | None:
    """Return the folder with the programs `initdb` and `postgres`, or None if they are not installed.

    A folder on the PATH takes precedence over the folder of the newest installed version.
    """
    on_path = shutil.which("initdb")
    found = sorted(Path(INSTALLED).glob("*/bin/initdb"), key=lambda path: int(path.parent.parent.name))
    return Path(on_path).parent if on_path else found[-1].parent if found else None


class Cluster:
    def __init__(self, folder: Path, binaries: Path, address: str) -> None:
        self.folder, self.data, self.binaries, self.address = folder, folder / "data", binaries, address
        self.port = free_port()
        self.url = f"postgres://postgres@{address}:{self.port}/postgres"
        self.as_user: dict[str, Any] = {"cwd": folder}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root.
            self.as_user |= {"user": "nobody", "group": "nogroup", "extra_groups": []}
            shutil.chown(folder, "nobody", "nogroup")
        words = [str(binaries / "initdb"), "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8"]
        subprocess.run(words, check=True, capture_output=True, **self.as_user)
        with (self.data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {address}/24 trust\n")

    def start(self) -> None:
        options = {"listen_addresses": self.address, "port": self.port, "unix_socket_directories": ""}
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            command = [str(self.binaries / "postgres"), "-D", str(self.data), *words]
            self.process = subprocess.Popen(command, stdout=log, stderr=log, **self.as_user)
        wait_for(self.answers)

    def answers(self) -> bool:
        with suppress(psycopg.OperationalError), psycopg.connect(self.url, connect_timeout=2):
            return True
        return False

    def stop(self, how: signal.Signals) -> None:
        """Stop the server with a signal: SIGINT ends all sessions first, SIGQUIT simulates a crash."""
        self.process.send_signal(how)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def restart(self, how: signal.Signals, *, away: float) -> tuple[float, float]:
        """Stop the server and start it again after `away` seconds. Return when the outage began and when it ended."""
        began = time.monotonic()
        self.stop(how)
        time.sleep(away)
        self.start()
        return began, time.monotonic()


@contextmanager
def own_cluster(address: str = "127.0.0.1") -> Iterator[Cluster]:
    binaries = programs()
    if binaries is None:
        why = f"NOT RUN: no initdb on the PATH or in {INSTALLED}; apt-get install postgresql"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)
    # The database is not in a temporary folder of pytest, because the user who runs PostgreSQL cannot read such
    # folders.
    folder = Path(tempfile.mkdtemp(prefix="podium-drill-"))
    try:
        cluster = Cluster(folder, binaries, address)
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop(signal.SIGQUIT)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
