"""Waits for conditions, and finds free ports."""

import secrets
import socket
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

ENOUGH_SECONDS = 40.0
PORTS = range(20_000, 32_000)


def wait_for(condition: Callable[[], Any], *, seconds: float = ENOUGH_SECONDS, every: float = 0.05) -> Any:
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, f"the condition did not become true within {seconds:g} s"
        time.sleep(every)
    return found


def free_port() -> int:
    """Return a free port that the operating system does not assign to outgoing connections."""
    while True:
        port = secrets.choice(PORTS)
        with closing(socket.socket()) as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
