"""A gunicorn worker whose threads never wait for a client: it receives before a thread is asked, and sends afterwards.

The event loop keeps what arrives in spools. A thread parses the head and calls the application, with as much of the
body as is there. Small bodies are waited for first. For a large one the application is asked at once: it may refuse by
the head alone; where it reads on, the attempt is dropped and made again when the whole body has arrived.
"""

import selectors
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
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

from server.runtime.spools import BodyMissing, Inbox, Outbox, Room

RECEIVE_BYTES = 2**16
ROOM_UPLOADS = 4  # the largest allowed, for all clients of a process together, in either direction
# Who is slower than this for longer than a while holds a place that others need.
BYTES_PER_SECOND = 256
PATIENCE_SECONDS = 20.0
STALL_SECONDS = 60.0
# After the last answer: what the client still sends is thrown away for a while, or it might not read that answer.
LINGER_SECONDS = 30.0
SILENCE_SECONDS = 2.0

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
TOO_SLOW = "The request came too slowly. Send it again."


class Next(Enum):
    """What becomes of a connection after a thread had it."""

    RECEIVE = "more of the request is needed"
    KEEP = "another request may follow"
    CLOSE = "nothing follows"


class Connection:
    """One client. `sock`, `client` and `server` are what gunicorn looks for."""

    def __init__(self, client_socket: socket, client: Any, server: Any, *, incoming: Room, outgoing: Room) -> None:
        self.socket, self.client, self.server = client_socket, client, server
        self.inbox, self.sock = Inbox(incoming), Outbox(outgoing, client_socket)
        self.next = Next.KEEP
        self.until = 0.0  # when patience ends
        self.lingers_until = 0.0

    def moved(self, count: int) -> None:
        """So many bytes came or went: that buys time."""
        self.until = max(self.until, min(self.until + count / BYTES_PER_SECOND, time.monotonic() + STALL_SECONDS))

    def begin_next(self) -> None:
        """Make room for the next request, of which the first bytes may be here already."""
        done, self.inbox = self.inbox, Inbox(self.inbox.room)
        done.position = done.request_bytes or 0
        rest = done.peek(RECEIVE_BYTES)
        done.discard()
        self.inbox.receive(rest)

    def close(self) -> None:
        self.inbox.discard()
        self.sock.discard()
        self.socket.close()


class BufferingWorker(ThreadWorker):
    """Accepting, the pool of threads, and stopping are gthread's; receiving, sending and closing are not."""

    def init_process(self) -> None:
        self.incoming, self.outgoing = (Room(ROOM_UPLOADS * settings.UPLOAD_MAX_BYTES) for _ in range(2))
        self.waiting: dict[Connection, Callable[[Connection, socket], None]] = {}
        self.looked_at = 0.0
        super().init_process()

    def accept(self, listener: socket) -> None:
        try:
            client_socket, client = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        client_socket.setblocking(False)
        self.nr_conns += 1
        rooms = {"incoming": self.incoming, "outgoing": self.outgoing}
        connection = Connection(client_socket, client, listener.getsockname(), **rooms)
        self.wait(connection, self.receive, seconds=PATIENCE_SECONDS)

    def wait(
        self, connection: Connection, deed: Callable[[Connection, socket], None], *, seconds: float, write: bool = False
    ) -> None:
        """Do the deed whenever the client has sent something, or takes something."""
        connection.until = time.monotonic() + seconds
        self.waiting[connection] = deed
        event = selectors.EVENT_WRITE if write else selectors.EVENT_READ
        self.poller.register(connection.socket, event, partial(deed, connection))

    def wait_no_more(self, connection: Connection) -> None:
        del self.waiting[connection]
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
            return self.answer(connection, request)
        except (NoMoreData, StopIteration, BrokenPipeError, ConnectionError):
            return Next.CLOSE
        except Exception as error:
            self.handle_error(request, connection.sock, connection.client, error)
            return Next.CLOSE

    def answer(self, connection: Connection, request: Any) -> Next:
        inbox, expects_word = connection.inbox, request._expected_100_continue
        request._expected_100_continue = False  # gunicorn would give it before the application has seen the head
        is_small = request.body.reader.length <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE if inbox.request_bytes else False
        try:
            if is_small and not inbox.is_enough:
                raise BodyMissing
            keep = self.handle_request(request, connection)
        except BodyMissing:
            close_old_connections()  # the application did not come to do it
            if expects_word:
                connection.sock.sendall(CONTINUE)
            return Next.RECEIVE
        return Next.KEEP if keep and inbox.is_whole else Next.CLOSE

    def finish_request(self, connection: Connection, future: Any) -> None:
        """Go on in the loop where the thread has ended."""
        connection.next = future.result()
        self.go_on(connection)

    def go_on(self, connection: Connection) -> None:
        if not connection.sock.is_empty:
            self.wait(connection, self.send, seconds=PATIENCE_SECONDS, write=True)
        elif connection.next is Next.RECEIVE:
            self.wait(connection, self.receive, seconds=PATIENCE_SECONDS)
        elif connection.next is Next.CLOSE:
            self.linger(connection)
        else:
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
        self.nr_conns -= 1

    def murder_pending(self) -> None:
        """Once a second, end the connections that gthread's loop asks for: those whose time is up."""
        now = time.monotonic()
        if now < self.looked_at + 1:
            return
        self.looked_at = now
        for connection, deed in list(self.waiting.items()):
            is_idle = deed == self.receive and not connection.inbox.size
            if now > connection.until or (is_idle and not self.alive):
                self.end(connection, answer=deed == self.receive and not is_idle)

    def end(self, connection: Connection, *, answer: bool) -> None:
        if not answer:
            self.drop(connection)
            return
        self.wait_no_more(connection)
        connection.next = Next.CLOSE
        with suppress(OSError):
            util.write_error(connection.sock, 408, "Request Timeout", TOO_SLOW)
        self.go_on(connection)
