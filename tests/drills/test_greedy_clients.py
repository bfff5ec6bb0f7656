"""Clients that use as many resources as they can, from one or from thirty IP addresses, do not affect other clients."""

import itertools
import os
import resource
import selectors
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from statistics import median, quantiles

import pytest

from tests.drills.conftest import Figures, Open
from tests.drills.slow import SlowClients, form, upload_head
from tests.drills.test_clients import MEGABYTE, PAGES, seconds_of, slow_request

pytestmark = pytest.mark.processes

ATTACKER, OTHER = "127.0.0.2", "127.0.0.3"
THIRTY = [f"127.1.0.{number + 1}" for number in range(30)]
# Bytes per second that a greedy client sends on each connection. The server disconnects clients that send fewer than
# 256 bytes per second.
TRICKLE = 300
SLOW_KILOBYTES, SLOW_BYTES_PER_SECOND = 200, 20_000
HEADS, STALLED, UPLOADS = 4200, 12, 10
# Size limit of an upload. Each of the two web processes may use four times as much disk space for uploads.
UPLOAD_MAX_BYTES = 4 * MEGABYTE
SECONDS = 12.0
AGAIN_PER_SECOND = 100

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
CHUNKED = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx"
IDLE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
SMALL = b"POST /accounts/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n"
ANNOUNCED = upload_head("podium_nobody", "multipart/form-data; boundary=x", 4 * MEGABYTE)
SENT = {
    "half heads": [HEAD],
    "every kind": [b"", b"G", HEAD, CHUNKED, IDLE, SMALL, ANNOUNCED],
}


class Greedy(threading.Thread):
    """A thread that keeps `count` slow connections from the given IP addresses open, and replaces closed ones."""

    def __init__(
        self, port: int, sent: list[bytes], count: int, *, addresses: Sequence[str] = (ATTACKER,), trickle: int = 1
    ) -> None:
        super().__init__(daemon=True)
        self.port, self.sent, self.count = port, itertools.cycle(sent), count
        self.addresses, self.trickled = itertools.cycle(addresses), b"x" * trickle
        self.over, self.full = threading.Event(), threading.Event()
        self.opened = 0

    def __enter__(self) -> "Greedy":
        self.start()
        assert self.full.wait(60)
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self.join()

    def run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for _ in range(self.count):
                self.open(selector)
            self.full.set()
            while not self.over.wait(1):
                self.trickle(selector)
                for _ in range(min(AGAIN_PER_SECOND, self.count - len(selector.get_map()))):
                    self.open(selector)
            for key in list(selector.get_map().values()):
                key.fileobj.close()

    def open(self, selector: selectors.BaseSelector) -> None:
        self.opened += 1
        client = socket.create_connection(("127.0.0.1", self.port), source_address=(next(self.addresses), 0))
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ)
        with suppress(OSError):
            client.send(next(self.sent))

    def trickle(self, selector: selectors.BaseSelector) -> None:
        for key in list(selector.get_map().values()):
            try:
                key.fileobj.send(self.trickled)
                if key.fileobj.recv(2**16):
                    continue
            except BlockingIOError:
                continue
            except OSError:
                pass
            selector.unregister(key.fileobj)
            key.fileobj.close()


def stalled(port: int, token: str, address: str) -> socket.socket:
    """Upload all but the last byte of a file, and return the open connection."""
    kind, body = form(os.urandom(UPLOAD_MAX_BYTES))
    client = socket.create_connection(("127.0.0.1", port), source_address=(address, 0))
    client.settimeout(10)
    with suppress(OSError):  # The server may reject the upload before it is complete.
        client.sendall(upload_head(token, kind, len(body)) + body[:-1])
    return client


def uploaded(port: int, token: str, address: str) -> int:
    """Upload a file from the given IP address, and return the status of the response."""
    kind, body = form(os.urandom(3 * MEGABYTE))
    headers = {"Content-Type": kind, "Authorization": f"Bearer {token}"}
    with closing(HTTPConnection("127.0.0.1", port, timeout=60, source_address=(address, 0))) as connection:
        connection.request("POST", "/api/v1/challenges/flows/phases/main/submissions", body, headers)
        return connection.getresponse().status


def answered(client: socket.socket) -> bytes:
    client.settimeout(0.5)
    with suppress(OSError):
        return client.recv(12)[9:]
    return b""


@pytest.fixture
def many_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * HEADS:
        pytest.skip(f"NOT RUN: a process may open only {hard} files, but this drill needs {2 * HEADS}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * HEADS), hard))


@pytest.mark.drill(26)
@pytest.mark.parametrize("kind", SENT)
def test_one_greedy_address_does_not_block_other_clients(
    opened: Open, figures: Figures, many_files: None, kind
) -> None:
    service = opened(people=("ada", "bob"), WEB_PROCESSES=2, UPLOAD_MAX_BYTES=UPLOAD_MAX_BYTES)
    idle = [seconds_of(service.port, PAGES[number % len(PAGES)]) for number in range(200)]
    busy: list[float] = []
    with ExitStack() as connections:
        sender = service.tokens[0]
        clients = [connections.enter_context(stalled(service.port, sender, ATTACKER)) for _ in range(STALLED)]
        with Greedy(service.port, SENT[kind], HEADS) as greedy:
            statuses = [uploaded(service.port, service.tokens[1], OTHER) for _ in range(UPLOADS)]
            began = time.monotonic()
            while time.monotonic() < began + SECONDS:
                busy.append(seconds_of(service.port, PAGES[len(busy) % len(PAGES)]))
        refused = [answer for client in clients if (answer := answered(client))]
    p99, usual = quantiles(busy, n=100)[98], median(idle)
    figures(
        f"{greedy.opened} connections ({kind}), {HEADS} at a time, {STALLED} stalled uploads: {len(refused)} of these "
        f"refused; {len(busy)} pages, p99 {p99 * 1000:.0f} ms = {p99 / usual:.1f} x the idle median; "
        f"{statuses.count(201)} of {UPLOADS} other uploads taken"
    )
    assert statuses == [201] * UPLOADS
    assert set(refused) <= {b"429", b"408"}
    assert len(refused) >= STALLED - 8
    assert p99 < 20 * usual


@pytest.mark.drill(26)
def test_slow_bodies_from_thirty_addresses_do_not_block_other_clients(
    opened: Open, figures: Figures, many_files: None
) -> None:
    service = opened(people=("ada", "bob"), WEB_PROCESSES=2)
    idle = [seconds_of(service.port, PAGES[number % len(PAGES)]) for number in range(200)]
    slow = slow_request(service.tokens[0], SLOW_KILOBYTES)
    busy: list[float] = []
    with (
        SlowClients(service.port, [slow], bytes_per_second=SLOW_BYTES_PER_SECOND) as uploads,
        Greedy(service.port, [SMALL], HEADS, addresses=THIRTY, trickle=TRICKLE) as greedy,
    ):
        began = time.monotonic()
        while time.monotonic() < began + SECONDS:
            busy.append(seconds_of(service.port, PAGES[len(busy) % len(PAGES)]))
        status = uploaded(service.port, service.tokens[1], OTHER)
        uploads.join(60)
    p99, usual = quantiles(busy, n=100)[98], median(idle)
    figures(
        f"{greedy.opened} bodies of {TRICKLE} bytes/s, {HEADS} at a time, from {len(THIRTY)} addresses: "
        f"{len(busy)} pages, p99 {p99 * 1000:.0f} ms = {p99 / usual:.1f} x the idle median; "
        f"an upload of {SLOW_BYTES_PER_SECOND} bytes/s: {uploads.answers[0][9:12].decode()}"
    )
    assert status == 201
    assert uploads.answers[0].startswith(b"HTTP/1.1 201")
    assert p99 < 20 * usual
