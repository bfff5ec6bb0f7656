"""Fixtures for tests with an S3-compatible object store: the server of the package moto, in a separate process."""

import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer

import pytest
from django.core.files.storage import default_storage
from pytest_django import Settings

from server.challenges.models import Truth
from server.challenges.truth_storage import truth_storage
from server.stored_files.address import ObjectStore, parsed
from server.stored_files.copies import in_objects

SECONDS = 30.0
NUMBERS = count(1)


@pytest.fixture(scope="session")
def store_port() -> Iterator[int]:
    """Start an S3-compatible server on a free port of the loopback interface, and return the port."""
    with own_store() as port:
        yield port


@contextmanager
def own_store(address: str = "127.0.0.1") -> Iterator[int]:
    """Start an empty S3-compatible server on a free port of the given address, and yield the port."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        port = int(probe.getsockname()[1])
    words = [sys.executable, "-m", "moto.server", "-H", address, "-p", str(port)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + SECONDS
        while not answers(address, port):
            assert server.poll() is None, "the server ended"
            assert time.monotonic() < until, "the server does not start"
            time.sleep(0.1)
        yield port
    finally:
        server.kill()
        server.wait()


def answers(address: str, port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((address, port)) == 0


class Line(ThreadingTCPServer):
    """A proxy for the object store, which forwards bytes in both directions.

    A test can cut its connections, either immediately or in the middle of a response.
    """

    def __init__(self, target: int) -> None:
        super().__init__(("127.0.0.1", 0), Passing)
        self.target, self.passed, self.down = target, 0, False
        # If `cut_after` is set, each connection is cut before the client receives more than this many bytes.
        self.cut_after: int | None = None
        self.port = int(self.server_address[1])


class Passing(BaseRequestHandler):
    """Forwards the bytes of one connection until one side closes the connection or the test cuts it."""

    server: Line

    def handle(self) -> None:
        if self.server.down:
            return
        with socket.create_connection(("127.0.0.1", self.server.target)) as store:
            received = 0
            while not self.server.down:
                ready, _, _ = select.select([self.request, store], [], [], 0.05)
                for source in ready:
                    if not (chunk := source.recv(4096)):
                        return
                    if source is store:
                        received += len(chunk)
                        self.server.passed += len(chunk)
                        if received > (self.server.cut_after or received):
                            return
                    (self.request if source is store else store).sendall(chunk)


@pytest.fixture
def line(store_port: int) -> Iterator[Line]:
    """Return a proxy for the object store. The test can cut the proxy's connections."""
    with Line(store_port) as line:
        thread = threading.Thread(target=line.serve_forever, args=(0.05,))
        thread.start()
        yield line
        line.down = True
        line.shutdown()
        thread.join()


@pytest.fixture
def store(
    line: Line, own_folders: None, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ObjectStore]:
    """Configure a new, empty bucket of the object store as the storage for all files."""
    settings.PODIUM_HOME = tmp_path / "home"
    address = f"s3://key:secret@127.0.0.1:{line.port}/bucket-{line.port}-{next(NUMBERS)}?tls=false"
    found = configured(address, settings, monkeypatch)
    storage = in_objects(default_storage)
    storage.create_bucket()
    yield found
    storage.client.close()


def configured(address: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    """Use the object store at a URL for all files, as if the setting STORAGE_URL contained this URL."""
    settings.OBJECT_STORE = parsed(address)
    objects = {"BACKEND": "server.stored_files.objects.ObjectStorage", "OPTIONS": {"folder": "uploads"}}
    settings.STORAGES = {**settings.STORAGES, "default": objects}
    truths = truth_storage()
    for field in ("prepared", "source"):
        monkeypatch.setattr(Truth._meta.get_field(field), "storage", truths)
    return settings.OBJECT_STORE
