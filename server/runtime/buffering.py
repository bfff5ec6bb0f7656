"""A gunicorn worker whose threads never wait for a client: it receives before a thread is asked, and sends afterwards.

The event loop keeps what arrives in spools. A thread parses the head and calls the application, with as much of the
body as is there. Small bodies are waited for first. For a large one the application is asked at once: it may refuse by
the head alone; where it reads on, the attempt is dropped and made again when the whole body has arrived.
"""

import selectors
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from errno import EMFILE, ENFILE
from functools import partial
from socket import SHUT_WR, socket
from typing import Any

from django.conf import settings
from django.db import close_old_connections
from gunicorn import util
from gunicorn.http import RequestParser
from gunicorn.http.body import LengthReader
from gunicorn.http.errors import NoMoreData
from gunicorn.workers.gthread import ThreadWorker

from server.accounts.addresses import network_of, sender_of
from server.runtime.connections import RECEIVE_BYTES, Connection, Next, address_before_head
from server.runtime.shares import Shares
from server.runtime.spools import MEMORY_BYTES, BodyMissing, Room
from server.submissions.upload_slots import awaiting

NO_FILE_LEFT = (EMFILE, ENFILE)
ACCEPTED_AT_ONCE = 64
ROOM_UPLOADS = 4  # the largest allowed, for all clients of a process together, in either direction
PATIENCE_SECONDS = 20.0
# After the last answer: what the client still sends is thrown away for a while, or it might not read that answer.
LINGER_SECONDS = 30.0
SILENCE_SECONDS = 2.0

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
TOO_SLOW = "The request came too slowly. Send it again."
TOO_MANY = "Your address has too many requests under way. Wait for their answers, then send this one again."


def unasked_bytes(request: Any) -> int:
    """Return how large a body is waited for before the application is asked; strangers are most often refused."""
    is_known = any(name in ("AUTHORIZATION", "COOKIE") for name, _ in request.headers)
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE if is_known else MEMORY_BYTES


class BufferingWorker(ThreadWorker):
    """Accepting, the pool of threads, and stopping are gthread's; receiving, sending and closing are not."""

    def init_process(self) -> None:
        self.incoming, self.outgoing = (Room(ROOM_UPLOADS * settings.UPLOAD_MAX_BYTES) for _ in range(2))
        self.waiting: dict[Connection, Callable[[Connection, socket], None]] = {}
        most_of_one = min(settings.ADDRESS_MAX_CONNECTIONS, self.worker_connections * 3 // 5)
        self.shares: Shares[Connection] = Shares(most=self.worker_connections, most_of_one=most_of_one)
        self.newcomers: list[Connection] = []
        self.lacks_files = False
        self.looked_at = 0.0
        super().init_process()

    def accept(self, listener: socket) -> None:
        """Accept several at once: whoever waits behind a flood of connections waits for all of them."""
        for _ in range(min(ACCEPTED_AT_ONCE, self.worker_connections - self.nr_conns)):
            try:
                client_socket, client = listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in NO_FILE_LEFT:
                    raise
                self.lacks_files = True
                return
            self.enter(client_socket, client, listener)

    def enter(self, client_socket: socket, client: Any, listener: socket) -> None:
        client_socket.setblocking(False)
        self.nr_conns += 1
        rooms = {"incoming": self.incoming, "outgoing": self.outgoing}
        address = address_before_head(client)
        connection = Connection(client_socket, client, listener.getsockname(), address=address, **rooms)
        self.shares.enter(address)
        self.wait(connection, self.receive, seconds=PATIENCE_SECONDS)
        self.newcomers.append(connection)

    def wait(
        self, connection: Connection, deed: Callable[[Connection, socket], None], *, seconds: float, write: bool = False
    ) -> None:
        """Do the deed whenever the client has sent something, or takes something."""
        connection.until = time.monotonic() + seconds
        self.waiting[connection] = deed
        has_request = deed == self.send or connection.inbox.request_bytes is not None
        self.shares.waits(connection, connection.address, early=deed == self.ignore or not has_request)
        event = selectors.EVENT_WRITE if write else selectors.EVENT_READ
        self.poller.register(connection.socket, event, partial(deed, connection))

    def wait_no_more(self, connection: Connection) -> None:
        del self.waiting[connection]
        self.shares.waits_no_more(connection, connection.address)
        self.poller.unregister(connection.socket)

    def receive(self, connection: Connection, client: socket) -> None:
        try:
            data = client.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.drop(connection)
            return
        if connection.inbox.size == 0:
            connection.until = time.monotonic() + PATIENCE_SECONDS
        connection.inbox.receive(data)
        connection.moved(len(data))
        if connection.inbox.is_enough:
            self.wait_no_more(connection)
            self.enqueue_req(connection)

    def handle(self, connection: Connection) -> Next:
        """Do in a thread what can be done with what is here."""
        request = None
        try:
            inbox = connection.inbox
            inbox.rewind()
            parser = RequestParser(self.cfg, inbox, connection.client)
            request = next(parser)
            inbox.head_is_parsed = True
            if isinstance(request.body.reader, LengthReader):
                inbox.request_bytes = inbox.position - len(parser.unreader.buf.getvalue()) + request.body.reader.length
            forwarded = ",".join(value for name, value in request.headers if name == "X-FORWARDED-FOR")
            connection.sender = network_of(sender_of(connection.client[0], forwarded))
            connection.belongs_to_sender()
            return self.answer(connection, request)
        except (NoMoreData, StopIteration, BrokenPipeError, ConnectionError):
            return Next.CLOSE
        except Exception as error:
            self.handle_error(request, connection.sock, connection.client, error)
            return Next.CLOSE

    def answer(self, connection: Connection, request: Any) -> Next:
        inbox, expects_word = connection.inbox, request._expected_100_continue
        request._expected_100_continue = False  # gunicorn would give it before the application has seen the head
        is_awaited = bool(inbox.request_bytes) and not inbox.is_enough
        try:
            if is_awaited and request.body.reader.length <= unasked_bytes(request):
                raise BodyMissing
            with awaiting(connection.upload) if is_awaited else nullcontext():
                keep = self.handle_request(request, connection)
        except BodyMissing:
            close_old_connections()  # the application did not come to do it
            connection.belongs_to_sender()
            if expects_word:
                connection.sock.sendall(CONTINUE)
            return Next.RECEIVE
        return Next.KEEP if keep and inbox.is_whole else Next.CLOSE

    def finish_request(self, connection: Connection, future: Any) -> None:
        """Go on in the loop where the thread has ended."""
        connection.next = future.result()
        self.hold_for(connection, connection.sender)
        if connection.next is not Next.RECEIVE:
            connection.upload.release()
        elif self.shares.is_over(connection.address):
            self.refuse(connection, 429, "Too Many Requests", TOO_MANY)
        self.go_on(connection)

    def hold_for(self, connection: Connection, address: str) -> None:
        """Count the connection for this address: behind a proxy each request has its own."""
        if address != connection.address:
            self.shares.leave(connection.address)
            self.shares.enter(address)
            connection.address = address

    def go_on(self, connection: Connection) -> None:
        if not connection.sock.is_empty:
            self.wait(connection, self.send, seconds=PATIENCE_SECONDS, write=True)
        elif connection.next is Next.RECEIVE:
            self.wait(connection, self.receive, seconds=PATIENCE_SECONDS)
        elif connection.next is Next.CLOSE:
            self.linger(connection)
        else:
            self.hold_for(connection, address_before_head(connection.client))
            connection.begin_next()
            if connection.inbox.is_enough:
                self.enqueue_req(connection)
            else:
                self.wait(connection, self.receive, seconds=self.cfg.keepalive)

    def send(self, connection: Connection, client: socket) -> None:
        try:
            connection.moved(connection.sock.send_on())
        except OSError:
            self.drop(connection)
            return
        if connection.sock.is_empty:
            self.wait_no_more(connection)
            self.go_on(connection)

    def linger(self, connection: Connection) -> None:
        connection.inbox.discard()
        connection.lingers_until = time.monotonic() + LINGER_SECONDS
        self.wait(connection, self.ignore, seconds=SILENCE_SECONDS)
        try:
            connection.socket.shutdown(SHUT_WR)
        except OSError:
            self.drop(connection)

    def ignore(self, connection: Connection, client: socket) -> None:
        try:
            data = client.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        connection.until = min(time.monotonic() + SILENCE_SECONDS, connection.lingers_until)
        if not data:
            self.drop(connection)

    def drop(self, connection: Connection) -> None:
        self.wait_no_more(connection)
        connection.close()
        self.shares.leave(connection.address)
        self.nr_conns -= 1

    def murder_pending(self) -> None:
        """Called after each round of gthread's loop. Once a second, end the connections whose time is up."""
        self.drop_surplus()
        now = time.monotonic()
        if now < self.looked_at + 1:
            return
        self.looked_at = now
        for connection, deed in list(self.waiting.items()):
            is_idle = deed == self.receive and not connection.inbox.size
            if now > connection.until or (is_idle and not self.alive):
                self.end(connection, answer=deed == self.receive and not is_idle)

    def drop_surplus(self) -> None:
        """Drop what is too much. Not in `accept`: this round's events may still be about what is dropped."""
        for newcomer in self.newcomers:
            if surplus := self.shares.surplus(newcomer, newcomer.address):
                self.drop(surplus)
        if self.lacks_files and (worst := self.shares.worst()):
            self.drop(worst)
        self.newcomers, self.lacks_files = [], False

    def end(self, connection: Connection, *, answer: bool) -> None:
        if not answer:
            self.drop(connection)
            return
        self.wait_no_more(connection)
        self.refuse(connection, 408, "Request Timeout", TOO_SLOW)
        self.go_on(connection)

    def refuse(self, connection: Connection, status: int, reason: str, detail: str) -> None:
        """Answer without the application; nothing follows."""
        connection.next = Next.CLOSE
        connection.upload.release()
        with suppress(OSError):
            util.write_error(connection.sock, status, reason, detail)
