"""No IP address and no account can prevent the web process from serving others, no matter which requests it sends."""

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event

import pytest
from pytest_django import Settings

from server.runtime import buffering, spools
from server.runtime.buffering import BufferingWorker
from server.runtime.connections import Connection, NextStep
from tests.server.serving import LARGE, Application, answer, connect, request, serving

pytestmark = pytest.mark.enable_socket

CONNECTIONS, OF_ONE = 20, 12
OTHER = "127.0.0.2"
STEADY_PIECES = 80  # Number of chunks of 1000 bytes that a steady upload sends. It sends 20 chunks per second.


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch, own_folders: None) -> Iterator[int]:
    """Start a web worker that accepts few connections, and yield its port."""
    with serving(Application(), monkeypatch, worker_connections=CONNECTIONS) as port:
        yield port


@pytest.fixture
def open_many(port: int) -> Iterator[Callable[..., list[socket.socket]]]:
    """Return a function that opens connections and sends data on each of them: `open_many(count, sent, address)`."""
    with ExitStack() as stack:

        def open_many(count: int, sent: bytes, address: str = "127.0.0.1") -> list[socket.socket]:
            clients = []
            for _ in range(count):
                clients.append(stack.enter_context(connect(port, address)))
                clients[-1].sendall(sent)
                time.sleep(0.002)
            return clients

        yield open_many


def is_closed(client: socket.socket, *, seconds: float = 0.2) -> bool:
    client.settimeout(seconds)
    try:
        return client.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


def send_steadily(client: socket.socket) -> None:
    for _ in range(STEADY_PIECES):
        client.sendall(b"x" * 1000)
        time.sleep(0.05)


def served(port: int, address: str, path: str = "/") -> int:
    with connect(port, address) as client:
        client.sendall(request(path))
        return answer(client)[0]


@pytest.mark.parametrize("sent", [b"", b"G", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "])
def test_incomplete_headers_from_one_address_do_not_block_others(
    port: int, open_many: Callable[..., list[socket.socket]], sent
) -> None:
    clients = open_many(2 * CONNECTIONS, sent)
    assert [served(port, OTHER), served(port, "127.0.0.1")] == [200, 200]
    assert is_closed(clients[0], seconds=5)
    assert not is_closed(clients[-1])


def test_incomplete_headers_from_many_addresses_do_not_block_others(
    port: int, open_many: Callable[..., list[socket.socket]]
) -> None:
    for number in range(2 * CONNECTIONS):
        open_many(1, b"GET ", f"127.0.1.{number + 1}")
    assert served(port, OTHER) == 200


def test_idle_connections_do_not_block_others(port: int, open_many: Callable[..., list[socket.socket]]) -> None:
    open_many(2 * CONNECTIONS, request())
    assert served(port, OTHER) == 200


@pytest.mark.parametrize("sent", [request(length=10), request("/large")], ids=["stalled body", "answer not taken"])
def test_stalled_requests_from_two_addresses_do_not_block_others(
    port: int, open_many: Callable[..., list[socket.socket]], sent
) -> None:
    for address in ("127.0.0.1", "127.0.0.3"):
        open_many(CONNECTIONS, sent, address)
    assert served(port, OTHER) == 200


@pytest.mark.parametrize("of_each", [1, 2, 10])
def test_stalled_bodies_from_many_addresses_do_not_block_others(
    port: int, open_many: Callable[..., list[socket.socket]], of_each
) -> None:
    """No address has many connections, but every connection is in the middle of a request."""
    for number in range(2 * CONNECTIONS // of_each):
        open_many(of_each, request(length=60_000), f"127.0.1.{number + 1}")
    assert [served(port, f"127.0.2.{number + 1}") for number in range(5)] == [200] * 5


def test_a_process_that_threads_kept_full_accepts_connections_again(
    port: int, open_many: Callable[..., list[socket.socket]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the last connection is accepted, none can be closed for the next one: all are in use by threads."""
    released, handle = Event(), BufferingWorker.handle

    def handle_when_released(worker: BufferingWorker, connection: Connection) -> NextStep:
        released.wait(10)
        return handle(worker, connection)

    monkeypatch.setattr(BufferingWorker, "handle", handle_when_released)
    for number in range(CONNECTIONS):
        open_many(1, request(length=60_000), f"127.0.1.{number + 1}")
    time.sleep(0.5)  # Wait until the server has accepted all connections.
    released.set()
    assert served(port, OTHER) == 200


def test_many_requests_sent_at_once_do_not_block_others(
    port: int, open_many: Callable[..., list[socket.socket]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every connection already has its next request when it gets a response, so it never waits for its client."""
    called = Application.__call__
    monkeypatch.setattr(Application, "__call__", lambda *values: (time.sleep(0.02), called(*values))[1])
    for address in ("127.0.0.1", "127.0.0.3"):
        open_many(CONNECTIONS // 2, request() * 400, address)
    assert [served(port, OTHER), served(port, OTHER)] == [200, 200]


def test_requests_that_fill_the_process_at_once_are_all_answered(
    port: int, open_many: Callable[..., list[socket.socket]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop accepts all connections in one round. Their requests have arrived, but are read in the next round."""
    running, dispatch = Event(), BufferingWorker.wait_for_and_dispatch_events

    def dispatch_when_running(worker: BufferingWorker, timeout: float) -> None:
        running.wait(10)
        dispatch(worker, timeout)

    monkeypatch.setattr(BufferingWorker, "wait_for_and_dispatch_events", dispatch_when_running)
    time.sleep(1.2)  # Wait until the loop has begun a new round.
    clients = [client for number in range(CONNECTIONS) for client in open_many(1, request(), f"127.0.1.{number + 1}")]
    running.set()
    assert [answer(client)[0] for client in clients] == [200] * CONNECTIONS


def test_a_body_that_arrives_steadily_is_not_closed_for_others(
    port: int, open_many: Callable[..., list[socket.socket]]
) -> None:
    with connect(port, OTHER) as upload, ThreadPoolExecutor() as pool:
        upload.sendall(request(length=STEADY_PIECES * 1000))
        sent = pool.submit(send_steadily, upload)
        time.sleep(2.5)  # Wait until the server has measured the speed of the upload.
        for number in range(2 * CONNECTIONS):
            open_many(1, request(length=60_000), f"127.0.1.{number + 1}")
        sent.result()
        assert answer(upload) == (200, b"%d POST" % (STEADY_PIECES * 1000))


def test_requests_in_progress_are_not_closed_for_others_of_the_same_address(
    port: int, open_many: Callable[..., list[socket.socket]]
) -> None:
    clients = open_many(OF_ONE, request(length=5))
    time.sleep(1)  # Wait until the server has read the headers of all requests.
    assert is_closed(open_many(1, b"")[0], seconds=5)
    for client in clients:
        client.sendall(b"small")
    assert [answer(client) for client in clients] == [(200, b"5 POST")] * OF_ONE


class TestBehindAProxy:
    @pytest.fixture(autouse=True)
    def behind(self, settings: Settings, port: int) -> None:
        settings.PROXIES = 1

    def of(self, sender: str, length: int) -> bytes:
        return request("/", length, f"X-Forwarded-For: 9.9.9.9, {sender}")

    def test_connections_count_for_the_sender_and_not_for_the_proxy(
        self, port: int, open_many: Callable[..., list[socket.socket]]
    ) -> None:
        """The sender is the last address in `X-Forwarded-For`. A client can send other addresses, which are ignored."""
        clients = open_many(OF_ONE, self.of("192.0.2.1", 5))
        with connect(port) as one_more, connect(port) as other:
            one_more.sendall(self.of("192.0.2.1", 5))
            assert answer(one_more)[0] == 429
            other.sendall(self.of("192.0.2.2", 5) + b"small")
            assert answer(other) == (200, b"5 POST")
        clients[0].sendall(b"small")
        assert answer(clients[0]) == (200, b"5 POST")

    def test_a_connection_of_the_proxy_counts_for_each_sender_in_turn(
        self, port: int, open_many: Callable[..., list[socket.socket]]
    ) -> None:
        with connect(port) as proxy:
            for number in range(2 * OF_ONE):
                proxy.sendall(self.of(f"192.0.2.{number // 2}", 5) + b"small")
                assert answer(proxy) == (200, b"5 POST")


class TestDiskSpace:
    def test_one_owner_never_gets_more_than_half_of_the_free_space(self) -> None:
        space = spools.DiskSpace(1000)
        space.take(500, ("one",))
        with pytest.raises(spools.ShareExhausted):
            space.take(1, ("one",))
        space.take(250, ("two", "account"))
        with pytest.raises(spools.ShareExhausted):
            space.take(1, ("three", "account"))
        space.give_back(250, ("two", "account"))
        space.give_back(500, ("one",))
        assert (space.left, dict(space.held)) == (1000, {})

    def test_an_address_that_uses_its_disk_space_is_refused_and_others_can_upload(
        self, port: int, open_many: Callable[..., list[socket.socket]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(spools.DiskSpace, "take", limited(spools.DiskSpace.take))
        hogs = open_many(3, request(length=LARGE) + b"x" * (LARGE - 1))
        time.sleep(0.5)
        with connect(port) as more:
            more.sendall(request(length=LARGE) + b"x" * (LARGE - 1))
            assert answer(more)[0] == 429
        with connect(port, OTHER) as other:
            other.sendall(request(length=LARGE) + b"x" * LARGE)
            assert answer(other) == (200, b"%d POST" % LARGE)
        assert not is_closed(hogs[0])

    def test_stalled_uploads_that_fill_the_disk_space_are_closed_for_others(
        self, port: int, open_many: Callable[..., list[socket.socket]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(spools.DiskSpace, "take", limited(spools.DiskSpace.take))
        monkeypatch.setattr(buffering, "MAX_TRANSFER_SECONDS", 2.0)
        for number in range(5):
            open_many(1, request(length=LARGE) + b"x" * (LARGE - 1), f"127.0.1.{number + 1}")
        time.sleep(0.5)
        statuses = []
        for _ in range(12):
            with connect(port, OTHER) as other:
                other.sendall(request(length=LARGE) + b"x" * LARGE)
                statuses.append(answer(other)[0])
            if statuses[-1] == 200:
                break
            time.sleep(1)
        assert (statuses[0], statuses[-1]) == (429, 200)

    def test_space_is_short_only_for_owners_that_use_less_than_others(self) -> None:
        room = spools.DiskSpace(1000)
        room.take(500, ("one",))
        for owner, is_short in (("one", False), ("two", True)):
            with pytest.raises(spools.ShareExhausted):
                room.take(300, (owner,))
            assert room.was_short is is_short


def limited(take: Callable[..., None]) -> Callable[..., None]:
    """Return a version of `DiskSpace.take` that limits the space on the disk to 18 MiB."""

    def take_of_less(space: spools.DiskSpace, count: int, owners: tuple[str, ...] = ()) -> None:
        if space.left > 2**30:
            space.left = 18 * 2**20
        take(space, count, owners)

    return take_of_less
