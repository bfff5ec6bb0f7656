"""Starts a Redis server with a password on a TCP port."""

import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server.runtime import broker
from tests.flows.running import free_port


@contextmanager
def own_redis(folder: Path, address: str = "127.0.0.1") -> Iterator[str]:
    """Start a Redis server that listens on the given address, and yield its URL. It keeps nothing on disk."""
    folder.mkdir()
    port, password = free_port(), secrets.token_hex(8)
    words = ("--bind", address, "--port", str(port), "--requirepass", password, "--dir", str(folder), "--save", "")
    process = subprocess.Popen([broker.binary(), *words], stdout=subprocess.DEVNULL)
    try:
        yield f"redis://:{password}@{address}:{port}/3"
    finally:
        process.kill()
        process.wait()
