"""No address and no account keeps others out of the web process, whatever it sends or leaves unsent."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from server.errors import Refused
from server.runtime import spools
from server.runtime.shares import UNKNOWN, Shares
from server.submissions import upload_slots
from server.submissions.services import admission
from server.submissions.upload_slots import SLOTS, Upload, awaiting
from tests.server.serving import LARGE, Application, answer, connect, request, serving

pytestmark = pytest.mark.enable_socket

CONNECTIONS, OF_ONE = 20, 12
OTHER = "127.0.0.2"


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch, own_folders: None) -> Iterator[int]:
    """A worker that takes few connections."""
    with serving(Application(), monkeypatch, worker_connections=CONNECTIONS) as port:
        yield port


@pytest.fixture
def open_many(port: int) -> Iterator[Callable[..., list[socket.socket]]]:
    """`open_many(count, sent, address)`: so many connections, on each of which this was sent."""
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


def served(port: int, address: str, path: str = "/") -> int:
    with connect(port, address) as client:
        client.sendall(request(path))
        return answer(client)[0]


@pytest.mark.parametrize("sent", [b"", b"G", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "])
def test_half_sent_heads_of_one_address_keep_nobody_out(port, open_many, sent):
    clients = open_many(2 * CONNECTIONS, sent)
    assert [served(port, OTHER), served(port, "127.0.0.1")] == [200, 200]
    assert is_closed(clients[0], seconds=5)
    assert not is_closed(clients[-1])


def test_half_sent_heads_of_many_addresses_keep_nobody_out(port, open_many):
    for number in range(2 * CONNECTIONS):
        open_many(1, b"GET ", f"127.0.1.{number + 1}")
    assert served(port, OTHER) == 200


def test_kept_connections_keep_nobody_out(port, open_many):
    open_many(2 * CONNECTIONS, request())
    assert served(port, OTHER) == 200


@pytest.mark.parametrize("sent", [request(length=10), request("/large")], ids=["stalled body", "answer not taken"])
def test_stalled_requests_of_two_addresses_keep_nobody_out(port, open_many, sent):
    for address in ("127.0.0.1", "127.0.0.3"):
        open_many(CONNECTIONS, sent, address)
    assert served(port, OTHER) == 200


def test_requests_under_way_are_not_closed_for_others_of_the_same_address(port, open_many):
    clients = open_many(OF_ONE, request(length=5))
    time.sleep(1)  # until every head was read
    assert is_closed(open_many(1, b"")[0], seconds=5)
    for client in clients:
        client.sendall(b"small")
    assert [answer(client) for client in clients] == [(200, b"5 POST")] * OF_ONE


class TestBehindAProxy:
    @pytest.fixture(autouse=True)
    def behind(self, settings: Any, port: int) -> None:
        settings.PROXIES = 1

    def of(self, sender: str, length: int) -> bytes:
        return request("/", length, f"X-Forwarded-For: 9.9.9.9, {sender}")

    def test_the_share_is_the_senders_and_never_the_proxys(self, port, open_many):
        """What the sender itself wrote into the header counts nothing."""
        clients = open_many(OF_ONE, self.of("192.0.2.1", 5))
        with connect(port) as one_more, connect(port) as other:
            one_more.sendall(self.of("192.0.2.1", 5))
            assert answer(one_more)[0] == 429
            other.sendall(self.of("192.0.2.2", 5) + b"small")
            assert answer(other) == (200, b"5 POST")
        clients[0].sendall(b"small")
        assert answer(clients[0]) == (200, b"5 POST")

    def test_a_connection_of_the_proxy_counts_for_each_sender_in_turn(self, port, open_many):
        with connect(port) as proxy:
            for number in range(2 * OF_ONE):
                proxy.sendall(self.of(f"192.0.2.{number // 2}", 5) + b"small")
                assert answer(proxy) == (200, b"5 POST")


class TestShares:
    def shares(self, **held: int) -> Shares[str]:
        shares: Shares[str] = Shares(most=80, most_of_one=50)
        for address, count in held.items():
            for number in range(count):
                shares.enter(address)
                shares.waits(f"{address} {number}", address, early=address != "busy")
        return shares

    def test_the_oldest_of_whoever_holds_most_is_closed(self):
        shares = self.shares(few=3, many=9)
        assert shares.worst() == "many 0"
        shares.waits_no_more("many 0", "many")
        assert shares.worst() == "many 1"

    def test_requests_under_way_are_closed_only_of_a_greedy_address(self):
        assert self.shares(busy=11).worst() == "busy 0"
        assert self.shares(busy=10).worst() is None

    def test_what_is_not_known_yet_has_no_share(self):
        shares = self.shares(**{UNKNOWN: 70})
        assert shares.surplus("new", UNKNOWN) is None
        assert shares.worst() == f"{UNKNOWN} 0"


class TestRoom:
    def test_one_owner_never_takes_more_than_it_leaves(self):
        room = spools.Room(1000)
        room.take(500, ("one",))
        with pytest.raises(spools.ShareUsed):
            room.take(1, ("one",))
        room.take(250, ("two", "account"))
        with pytest.raises(spools.ShareUsed):
            room.take(1, ("three", "account"))
        room.give_back(250, ("two", "account"))
        room.give_back(500, ("one",))
        assert (room.left, dict(room.held)) == (1000, {})

    def test_the_one_that_takes_it_is_told_and_others_upload_on(self, port, open_many, monkeypatch):
        monkeypatch.setattr(spools.Room, "take", limited(spools.Room.take))
        hogs = open_many(3, request(length=LARGE) + b"x" * (LARGE - 1))
        time.sleep(0.5)
        with connect(port) as more:
            more.sendall(request(length=LARGE) + b"x" * (LARGE - 1))
            assert answer(more)[0] == 429
        with connect(port, OTHER) as other:
            other.sendall(request(length=LARGE) + b"x" * LARGE)
            assert answer(other) == (200, b"%d POST" % LARGE)
        assert not is_closed(hogs[0])


def limited(take: Callable[..., None]) -> Callable[..., None]:
    """As if the room had 18 MiB."""

    def take_of_less(room: spools.Room, count: int, owners: tuple[str, ...] = ()) -> None:
        if room.left > 2**30:
            room.left = 18 * 2**20
        take(room, count, owners)

    return take_of_less


HOLD = """
import sys, django; django.setup()
from server.submissions.upload_slots import SLOTS
print(sum(SLOTS.take("team", 3) is not None for _ in range(int(sys.argv[1]))), flush=True)
sys.stdin.read()
"""


class TestSlots:
    def test_processes_count_together_and_a_killed_one_leaves_none(self, settings: Any) -> None:
        environment = {**os.environ, "PODIUM_HOME": str(settings.PODIUM_HOME)}
        environment["DJANGO_SETTINGS_MODULE"] = "server.settings"
        command = [sys.executable, "-c", HOLD, "2"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, env=environment, **pipes) as other:
            assert other.stdout.readline() == b"2\n"
            mine = SLOTS.take("team", 3)
            assert mine is not None
            assert SLOTS.take("team", 3) is None
            other.send_signal(signal.SIGKILL)
        again = SLOTS.take("team", 2)
        assert again is not None
        for slot in (mine, again):
            SLOTS.release(slot)

    def test_a_request_whose_body_is_here_needs_none(self) -> None:
        assert all(upload_slots.take("team", 0) for _ in range(3))


class TestUploadsAtOnce:
    @pytest.fixture
    def entrant(self, make: Any) -> Any:
        phase = make.phase(quota_per_day=3, attempts_per_day=20)
        user = make.user()
        return {"user": user, "team": make.team(phase.challenge, user), "phase": phase}

    @pytest.fixture
    def begin(self) -> Iterator[Callable[..., Upload]]:
        """Take the slots of an upload whose body is still to come."""
        uploads = []

        def begin(**who: Any) -> Upload:
            uploads.append(Upload())
            with awaiting(uploads[-1]):
                admission.take_upload_slots(**who, now=admission.quota.datetime.now(admission.quota.UTC))
            return uploads[-1]

        yield begin
        for upload in uploads:
            upload.release()

    def test_no_more_are_under_way_than_the_quota_has_left(self, entrant, begin, make):
        uploads = [begin(**entrant) for _ in range(3)]
        with pytest.raises(Refused, match="submissions left") as refused:
            begin(**entrant)
        assert (refused.value.code, refused.value.headers) == ("rate_limited", {"Retry-After": "30"})
        mate = make.user()
        with pytest.raises(Refused):
            begin(**{**entrant, "user": mate})
        uploads[1].release()
        begin(**entrant)

    def test_another_team_is_not_concerned(self, entrant, begin, make):
        for _ in range(3):
            begin(**entrant)
        user = make.user()
        begin(user=user, team=make.team(entrant["phase"].challenge, user), phase=entrant["phase"])

    def test_an_account_has_a_limit_over_all_its_challenges(self, entrant, begin, make, settings):
        settings.ACCOUNT_MAX_UPLOADS = 2
        phase = make.phase()
        elsewhere = {"user": entrant["user"], "team": make.team(phase.challenge, entrant["user"]), "phase": phase}
        begin(**entrant)
        begin(**elsewhere)
        with pytest.raises(Refused, match="Your account"):
            begin(**elsewhere)
