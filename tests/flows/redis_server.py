"""Starts a Redis server with a password on a TCP port."""

import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis, RedisError

from server.runtime import broker
from tests.flows.waiting import free_port, wait_for

# This shell program restarts a server that was killed, as systemd would. When the tests close its input or are killed,
# it kills the server and itself.
KEEP_RUNNING = '(while true; do "$@" </dev/null; sleep 0.1; done) & read end; kill -9 0'


@contextmanager
def own_redis(folder: Path, address: str = "127.0.0.1") -> Iterator[str]:
    """Start a Redis server that listens on the given address, and yield its URL. It does not save data to disk."""
    folder.mkdir()
    port, password = free_port(), secrets.token_hex(8)
    words = ("--bind", address, "--port", str(port), "--requirepass", password, "--dir", str(folder), "--save", "")
    command = ["sh", "-c", KEEP_RUNNING, "sh", broker.binary(), *words]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    url = f"redis://:{password}@{address}:{port}/3"
    try:
        wait_for(lambda: answers(url))
        yield url
    finally:
        process.communicate()


def answers(url: str) -> bool:
    try:
        with Redis.from_url(url) as redis:
            return bool(redis.ping())
    except RedisError:
        return False
