"""Runs a web worker in a thread of the test process, and provides a simple client for it."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Thread
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.workers.base import Worker

from server.errors import Refused
from server.runtime import spools
from server.runtime.buffering import BufferingWorker

THREADS = 2
LARGE = 3 * 2**20


class Application:
    """A WSGI application that counts its calls. Some of its paths respond without reading the request body."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        self.asked += 1
        status, body = "200 OK", b""
        if environ["PATH_INFO"] == "/refuse":
            status = "403 Forbidden"
        elif environ["PATH_INFO"] == "/large":
            body = b"x" * LARGE
        else:
            try:
                body = b"%d " % len(environ["wsgi.input"].read()) + environ["REQUEST_METHOD"].encode()
            except spools.SpoolFailed:
                status = "507 Insufficient Storage"
            except Refused as refusal:
                status = f"{refusal.status} {refusal.code}"
        start_response(status, [("Content-Length", str(len(body)))])
        return [body]


@contextmanager
def serving(application: Any, monkeypatch: pytest.MonkeyPatch, **configured: Any) -> Iterator[int]:
    """Run a web worker with few threads in this process, and yield its port."""
    monkeypatch.setattr(Worker, "init_process", lambda worker: None)
    configuration = Config()
    for name, value in {"threads": THREADS, "sendfile": False, **configured}.items():
        configuration.set(name, value)
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        worker = BufferingWorker(0, os.getppid(), [listener], None, 30, configuration, Logger(configuration))
        worker.init_process()
        worker.wsgi = application
        loop = Thread(target=worker.run)
        loop.start()
        try:
            yield listener.getsockname()[1]
        finally:
            worker.handle_exit(0, None)
            loop.join(20)
            worker.tmp.close()
    assert not loop.is_alive()


def connect(port: int, address: str = "127.0.0.1") -> Any:
    """Connect to the given port from the given local address, and return the connection."""
    return closing(socket.create_connection(("127.0.0.1", port), timeout=10, source_address=(address, 0)))


def request(path: str = "/", length: int = 0, *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {length}", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def answer(client: socket.socket) -> tuple[int, bytes]:
    """Read one complete response from a connection, and return its status and body."""
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(1)
        assert data, "closed without an answer"
        head += data
    found = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    length, body = int(found[0].split()[1]) if found else 0, b""
    while len(body) < length:
        body += client.recv(length - len(body))
    return int(head.split()[1]), body
