"""No client can block a thread of the web process, no matter how slowly it sends or receives."""

import socket
import time
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from server.runtime import buffering, connections, spools
from tests.server.serving import LARGE, THREADS, Application, answer, connect, request, serving

pytestmark = pytest.mark.enable_socket


@pytest.fixture
def application() -> Application:
    return Application()


@pytest.fixture
def port(application: Application, monkeypatch: pytest.MonkeyPatch, own_folders: None) -> Iterator[int]:
    with serving(application, monkeypatch) as port:
        yield port


def test_no_thread_waits_for_a_body_that_arrives_later(port: int, application: Application) -> None:
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(5 * THREADS)]
    for client in slow:
        client.sendall(request(length=10) + b"12345")
    with connect(port) as client:
        client.sendall(request())
        assert answer(client) == (200, b"0 POST")
    assert application.asked == 1
    for client in slow:
        client.sendall(b"67890")
    assert [answer(client) for client in slow] == [(200, b"10 POST")] * len(slow)
    for client in slow:
        client.close()


def test_a_large_body_is_requested_only_if_the_application_reads_it(port: int, application: Application) -> None:
    with connect(port) as client:
        client.sendall(request("/refuse", LARGE, "Expect: 100-continue"))
        assert answer(client) == (403, b"")
    with connect(port) as client:
        client.sendall(request("/", LARGE, "Expect: 100-continue"))
        assert answer(client) == (100, b"")
        client.sendall(b"x" * LARGE)
        assert answer(client) == (200, b"%d POST" % LARGE)
    assert application.asked == 1 + 2


def test_the_head_of_a_request_may_arrive_byte_by_byte(port: int) -> None:
    with connect(port) as client:
        for byte in request(length=1) + b"x":
            client.sendall(bytes([byte]))
        assert answer(client) == (200, b"1 POST")


def test_requests_that_follow_each_other_are_answered_in_order(port: int) -> None:
    with connect(port) as client:
        client.sendall(request(length=1) + b"x" + request(length=2) + b"xx" + request(length=3))
        assert [answer(client), answer(client)] == [(200, b"1 POST"), (200, b"2 POST")]
        client.sendall(b"xxx")
        assert answer(client) == (200, b"3 POST")


def test_a_request_head_without_an_end_is_refused(port: int) -> None:
    with connect(port) as client:
        client.sendall(b"GET / HTTP/1.1\r\n" + b"X-Long: y\r\n" * 7000)
        assert answer(client)[0] == 431


def test_a_request_that_is_not_http_is_refused(port: int) -> None:
    with connect(port) as client:
        client.sendall(b"nonsense\r\n\r\n")
        assert answer(client)[0] == 400


def test_a_client_that_receives_slowly_occupies_no_thread(port: int) -> None:
    slow = []
    for _ in range(5 * THREADS):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", port))
        client.sendall(request("/large"))
        slow.append(client)
    with connect(port) as client:
        client.sendall(request())
        assert answer(client) == (200, b"0 POST")
    assert answer(slow[-1]) == (200, b"x" * LARGE)
    for client in slow:
        client.close()


def test_a_body_is_refused_if_there_is_no_space_but_small_requests_are_not(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(space: spools.DiskSpace, count: int, owners: tuple[str, ...]) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spools.DiskSpace, "take", full)
    with connect(port) as client:
        client.sendall(request(length=LARGE) + b"x" * 2**18)
        assert answer(client)[0] == 507
    with connect(port) as client:
        client.sendall(request(length=5) + b"small")
        assert answer(client) == (200, b"5 POST")


def test_disk_space_is_released(monkeypatch: pytest.MonkeyPatch, own_folders: None) -> None:
    space = spools.DiskSpace(2**17)
    for _ in range(3):
        spool = spools.Spool(space)
        spool.add(b"x" * 2**17)
        assert spool.peek(3) == b"xxx"
        with pytest.raises(OSError, match="no space"):
            spool.add(b"x")
        spool.discard()
    assert space.left == 2**17


def test_a_slow_client_gets_an_error_and_a_silent_one_is_dropped(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffering, "TIMEOUT_SECONDS", 0.2)
    with connect(port) as silent, connect(port) as client:
        client.sendall(request(length=1000) + b"x" * 10)
        began = time.monotonic()
        assert answer(client)[0] == 408
        assert time.monotonic() - began < 5
        assert silent.recv(1) == b""


def test_received_bytes_extend_the_timeout_only_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = connections.Connection(None, None, None, incoming=None, outgoing=None)
    connection.until = time.monotonic() + 10
    connection.extend_timeout(connections.BYTES_PER_SECOND)
    assert connection.until == pytest.approx(time.monotonic() + 11, abs=0.5)
    connection.extend_timeout(2**30)
    assert connection.until == pytest.approx(time.monotonic() + connections.STALL_SECONDS, abs=0.5)


def test_a_client_that_still_sends_after_a_refusal_can_read_the_response(port: int) -> None:
    with connect(port) as client:
        client.sendall(request("/refuse", LARGE) + b"x" * (LARGE // 2))
        assert answer(client) == (403, b"")


def test_a_folder_for_bodies_that_was_moved_away_is_created_again(port: int, settings: Settings) -> None:
    settings.FILE_UPLOAD_TEMP_DIR.rmdir()
    with connect(port) as client:
        client.sendall(request(length=LARGE) + b"x" * LARGE)
        assert answer(client) == (200, b"%d POST" % LARGE)


def test_a_body_that_cannot_be_stored_is_refused_with_503(port: int, settings: Settings) -> None:
    settings.FILE_UPLOAD_TEMP_DIR.rmdir()
    settings.FILE_UPLOAD_TEMP_DIR.touch()
    with connect(port) as client:
        client.sendall(request(length=LARGE) + b"x" * LARGE)
        assert answer(client)[0] == 503
