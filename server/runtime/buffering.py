"""A gunicorn worker whose threads never wait for clients, because requests are received before a thread handles them.

The event loop stores all arriving bytes in spools (see `spools`), and sends responses from spools. A thread parses the
request head (request line and headers) and calls the application. A small body is received before the application is
called. For a large body, the application is called immediately, because the head may be enough to refuse the request.
If the application reads the body, the call is aborted and then repeated when the body is complete.
"""

import selectors
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from errno import EMFILE, ENFILE
from functools import partial
from operator import attrgetter
from socket import SHUT_WR, socket
from typing import Any

from django.conf import settings
from django.db import close_old_connections
from gunicorn import util
from gunicorn.http import RequestParser
from gunicorn.http.body import LengthReader
from gunicorn.http.errors import NoMoreData
from gunicorn.workers.gthread import ThreadWorker

from server.accounts.addresses import client_address, network_of
from server.runtime.connections import Connection, NextStep, address_before_head
from server.runtime.shares import Shares
from server.runtime.spools import MEMORY_BYTES, BodyMissing, DiskSpace
from server.submissions.upload_slots import pending

NO_DESCRIPTOR_LEFT = (EMFILE, ENFILE)
ACCEPTED_AT_ONCE = 64
# Disk space that a process may use for received and for outgoing bytes, as a multiple of the maximum upload size
SPACE_IN_UPLOADS = 4
TIMEOUT_SECONDS = 20.0
# Maximum time for which a client's bytes are read and discarded after the last response. If the connection were closed
# while the client was still sending, the client might not read the response.
LINGER_SECONDS = 30.0
SILENCE_SECONDS = 2.0
# When disk space is short, a connection may be closed if it needs longer than this to transfer its stored bytes.
MAX_TRANSFER_SECONDS = 4 * 3600.0

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
TOO_SLOW = "The request arrived too slowly. Send the request again."
TOO_MANY = "Your address has too many requests in progress. Wait for their responses, then send this request again."


def buffered_bytes(request: Any) -> int:
    """Return the maximum size of a body that is received completely before the application is called.

    It is smaller for anonymous clients, because most of their large requests are refused.
    """
    is_known = any(name in ("AUTHORIZATION", "COOKIE") for name, _ in request.headers)
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE if is_known else MEMORY_BYTES


class BufferingWorker(ThreadWorker):
    """Gunicorn's `gthread` worker with other code for receiving, sending and closing. Its thread pool is kept."""

    def init_process(self) -> None:
        self.incoming, self.outgoing = (DiskSpace(SPACE_IN_UPLOADS * settings.UPLOAD_MAX_BYTES) for _ in range(2))
        self.waiting: dict[Connection, Callable[[Connection, socket], None]] = {}
        most_of_one = min(settings.ADDRESS_MAX_CONNECTIONS, self.worker_connections * 3 // 5)
        self.shares: Shares[Connection] = Shares(most=self.worker_connections, most_of_one=most_of_one)
        self.newcomers: list[Connection] = []  # the connections accepted in the current round of the event loop
        self.newest: Connection | None = None
        self.lacks_descriptors = False
        self.checked_at = 0.0
        super().init_process()

    def accept(self, listener: socket) -> None:
        """Accept several connections at once.

        Accepting one at a time would delay new clients when many connections are waiting.
        """
        for _ in range(min(ACCEPTED_AT_ONCE, self.worker_connections - self.nr_conns)):
            try:
                client_socket, client = listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in NO_DESCRIPTOR_LEFT:
                    raise
                self.lacks_descriptors = True
                return
            self.enter(client_socket, client, listener)

    def enter(self, client_socket: socket, client: Any, listener: socket) -> None:
        client_socket.setblocking(False)
        self.nr_conns += 1
        spaces = {"incoming": self.incoming, "outgoing": self.outgoing}
        address = address_before_head(client)
        connection = Connection(client_socket, client, listener.getsockname(), address=address, **spaces)
        self.shares.enter(address)
        self.wait(connection, self.receive, seconds=TIMEOUT_SECONDS)
        self.newcomers.append(connection)
        self.newest = connection

    def wait(
        self,
        connection: Connection,
        action: Callable[[Connection, socket], None],
        *,
        seconds: float,
        write: bool = False,
    ) -> None:
        """Call `action` whenever data has arrived or, if `write` is true, can be sent. Time out after `seconds`."""
        connection.until = time.monotonic() + seconds
        self.waiting[connection] = action
        has_request = action == self.send or connection.inbox.request_bytes is not None
        self.shares.add_waiting(connection, connection.address, idle=action == self.ignore or not has_request)
        event = selectors.EVENT_WRITE if write else selectors.EVENT_READ
        self.poller.register(connection.socket, event, partial(action, connection))

    def stop_waiting(self, connection: Connection) -> None:
        del self.waiting[connection]
        self.shares.remove_waiting(connection, connection.address)
        self.poller.unregister(connection.socket)

    def receive(self, connection: Connection, client: socket) -> None:
        data = connection.received()
        if data is None:
            return
        if not data:
            self.drop(connection)
            return
        if connection.inbox.size == 0:
            connection.until = time.monotonic() + TIMEOUT_SECONDS
        connection.inbox.receive(data)
        connection.extend_timeout(len(data))
        if connection.inbox.is_actionable:
            self.stop_waiting(connection)
            self.enqueue_req(connection)

    def handle(self, connection: Connection) -> NextStep:
        """Handle as much of a request as has arrived. This method runs in a thread of the pool."""
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
            connection.sender = network_of(client_address(connection.client[0], forwarded))
            connection.assign_to_sender()
            return self.answer(connection, request)
        except (NoMoreData, StopIteration, BrokenPipeError, ConnectionError):
            return NextStep.CLOSE
        except Exception as error:
            self.handle_error(request, connection.sock, connection.client, error)
            return NextStep.CLOSE

    def answer(self, connection: Connection, request: Any) -> NextStep:
        inbox, expects_continue = connection.inbox, request._expected_100_continue
        # Prevent gunicorn from sending "100 Continue" before the application has seen the request headers.
        request._expected_100_continue = False
        is_pending = bool(inbox.request_bytes) and not inbox.is_actionable
        try:
            if is_pending and request.body.reader.length <= buffered_bytes(request):
                raise BodyMissing
            with pending(connection.upload) if is_pending else nullcontext():
                keep = self.handle_request(request, connection)
        except BodyMissing:
            # Close old database connections, because Django does so only after a complete call of the application.
            close_old_connections()
            connection.assign_to_sender()
            if expects_continue:
                connection.sock.sendall(CONTINUE)
            return NextStep.RECEIVE
        return NextStep.KEEP if keep and inbox.is_complete else NextStep.CLOSE

    def finish_request(self, connection: Connection, future: Any) -> None:
        """Continue with a connection in the event loop after a thread has handled its request."""
        connection.next = future.result()
        self.count_for(connection, connection.sender)
        if connection.next is not NextStep.RECEIVE:
            connection.upload.release()
        elif self.shares.is_over(connection.address):
            self.refuse(connection, 429, "Too Many Requests", TOO_MANY)
        self.proceed(connection)

    def count_for(self, connection: Connection, address: str) -> None:
        """Count the connection under this client address. Behind a proxy, the address can differ between requests."""
        if address != connection.address:
            self.shares.leave(connection.address)
            self.shares.enter(address)
            connection.address = address

    def proceed(self, connection: Connection) -> None:
        if not connection.sock.is_empty:
            self.wait(connection, self.send, seconds=TIMEOUT_SECONDS, write=True)
        elif connection.next is NextStep.RECEIVE:
            self.wait(connection, self.receive, seconds=TIMEOUT_SECONDS)
        elif connection.next is NextStep.CLOSE or self.shares.is_full:
            self.linger(connection)
        else:
            self.count_for(connection, address_before_head(connection.client))
            connection.begin_next()
            if connection.inbox.is_actionable:
                self.enqueue_req(connection)
            else:
                self.wait(connection, self.receive, seconds=self.cfg.keepalive)

    def send(self, connection: Connection, client: socket) -> None:
        try:
            connection.extend_timeout(connection.sock.send_stored())
        except OSError:
            self.drop(connection)
            return
        if connection.sock.is_empty:
            self.stop_waiting(connection)
            self.proceed(connection)

    def linger(self, connection: Connection) -> None:
        connection.inbox.discard()
        connection.lingers_until = time.monotonic() + LINGER_SECONDS
        self.wait(connection, self.ignore, seconds=SILENCE_SECONDS)
        try:
            connection.socket.shutdown(SHUT_WR)
        except OSError:
            self.drop(connection)

    def ignore(self, connection: Connection, client: socket) -> None:
        data = connection.received()
        if data is None:
            return
        connection.until = min(time.monotonic() + SILENCE_SECONDS, connection.lingers_until)
        if not data:
            self.drop(connection)

    def drop(self, connection: Connection) -> None:
        self.stop_waiting(connection)
        connection.close()
        self.shares.leave(connection.address)
        self.nr_conns -= 1

    def murder_pending(self) -> None:
        """Close surplus connections after each round of gthread's loop and, once a second, those that timed out."""
        self.drop_surplus()
        now = time.monotonic()
        if now < self.checked_at + 1:
            return
        seconds, self.checked_at = now - self.checked_at, now
        for connection, action in list(self.waiting.items()):
            self.shares.update_pace(connection, connection.address, is_steady=connection.is_steady(seconds))
            is_idle = action == self.receive and not connection.inbox.size
            if now > connection.until or (is_idle and not self.alive):
                self.end(connection, answer=action == self.receive and not is_idle)
        self.free_disk_space()

    def drop_surplus(self) -> None:
        """Close connections if there are too many of them, or if the process had no file descriptor for a new one.

        This is checked in each round, because threads may be using all connections when the process becomes full. It is
        postponed by one round after connections were accepted, because their requests may have arrived with them.
        """
        for newcomer in self.newcomers:
            if newcomer in self.waiting and (surplus := self.shares.surplus(newcomer.address)):
                self.drop(surplus)
        if self.newcomers:
            self.newcomers = []
            self.method_queue.defer(lambda: None)  # Begin the next round immediately.
        elif self.shares.is_full or self.lacks_descriptors:
            self.lacks_descriptors = False
            if worst := self.shares.worst(self.newest):
                self.drop(worst)

    def free_disk_space(self) -> None:
        """If a client was denied disk space, close the connection that needs the most time to transfer its bytes.

        No connection is closed if all of them need at most MAX_TRANSFER_SECONDS.
        """
        if not (self.incoming.was_short or self.outgoing.was_short):
            return
        self.incoming.was_short = self.outgoing.was_short = False
        worst = max(self.waiting, key=attrgetter("transfer_seconds"), default=None)
        if worst is not None and worst.transfer_seconds > MAX_TRANSFER_SECONDS:
            self.drop(worst)

    def end(self, connection: Connection, *, answer: bool) -> None:
        if not answer:
            self.drop(connection)
            return
        self.stop_waiting(connection)
        self.refuse(connection, 408, "Request Timeout", TOO_SLOW)
        self.proceed(connection)

    def refuse(self, connection: Connection, status: int, reason: str, detail: str) -> None:
        """Send an error response without calling the application, and close the connection afterwards."""
        connection.next = NextStep.CLOSE
        connection.upload.release()
        with suppress(OSError):
            util.write_error(connection.sock, status, reason, detail)
