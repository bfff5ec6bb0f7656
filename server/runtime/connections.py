"""A client's connection to the web process: its request, its response, and the client address that it belongs to."""

import time
from enum import Enum
from socket import socket
from typing import Any

from django.conf import settings

from server.accounts.addresses import network_of
from server.runtime.shares import UNKNOWN
from server.runtime.spools import DiskSpace, Inbox, Outbox
from server.submissions.upload_slots import PendingUpload

RECEIVE_BYTES = 2**16
# Clients whose average speed is lower than this limit are disconnected, because each of them occupies a connection that
# others need.
BYTES_PER_SECOND = 256
STALL_SECONDS = 60.0
# A connection with at least this speed, averaged over about ten measurements, counts as steady. If there are too many
# connections, those that are not steady are usually closed first.
STEADY_BYTES_PER_SECOND = 768
LOOKS = 10


def address_before_head(client: Any) -> str:
    """Return the client address to which a connection belongs until its request headers have arrived.

    Behind a proxy, only the headers contain the address of the client, so the result is a placeholder.
    """
    return UNKNOWN if settings.PROXIES else network_of(client[0])


class NextStep(Enum):
    """The next step for a client connection after a thread has processed a request."""

    RECEIVE = "more of the request is needed"
    KEEP = "another request may follow"
    CLOSE = "no request follows"


class Connection:
    """A connection from a client to a web process. Gunicorn expects the attributes `sock`, `client` and `server`."""

    def __init__(
        self,
        client_socket: socket,
        client: Any,
        server: Any,
        *,
        incoming: DiskSpace,
        outgoing: DiskSpace,
        address: str = UNKNOWN,
    ) -> None:
        self.socket, self.client, self.server = client_socket, client, server
        self.inbox, self.sock = Inbox(incoming, (address,)), Outbox(outgoing, client_socket, (address,))
        # `address` is the client address under which this connection is counted. `sender` is the client address
        # according to the headers of the current request.
        self.address = self.sender = address
        self.upload = PendingUpload()
        self.next = NextStep.KEEP
        self.until = 0.0  # monotonic time at which the connection times out
        self.lingers_until = 0.0
        # Bytes sent or received since the speed was last measured, and the average speed
        self.moved_bytes, self.bytes_per_second = 0, 0.0

    def received(self) -> bytes | None:
        """Return the bytes that have arrived; None if there are none yet, and no bytes if the connection has ended."""
        try:
            return self.socket.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def extend_timeout(self, count: int) -> None:
        """Extend the timeout in proportion to the number of bytes that were received or sent."""
        self.until = max(self.until, min(self.until + count / BYTES_PER_SECOND, time.monotonic() + STALL_SECONDS))
        self.moved_bytes += count

    def is_steady(self, seconds: float) -> bool:
        """Update the average speed with the bytes transferred in the last `seconds`.

        Return whether the average is high enough for the connection to count as steady.
        """
        self.bytes_per_second += (self.moved_bytes / seconds - self.bytes_per_second) / LOOKS
        self.moved_bytes = 0
        return self.bytes_per_second >= STEADY_BYTES_PER_SECOND

    @property
    def transfer_seconds(self) -> float:
        """The time in seconds needed to receive or send this connection's stored bytes at its current speed."""
        return (self.inbox.taken + self.sock.taken) / (self.bytes_per_second + 1)

    def begin_next(self) -> None:
        """Start the next request on this connection. The first bytes of the request may already have arrived."""
        done, self.inbox = self.inbox, Inbox(self.inbox.space, (self.address,))
        done.position = done.request_bytes or 0
        rest = done.peek(RECEIVE_BYTES)
        done.discard()
        self.inbox.receive(rest)

    def assign_to_sender(self) -> None:
        """Count the stored bytes as disk space used by the client address in the headers.

        Bytes of the request also count for the team and the account that hold upload slots for it.
        """
        self.inbox.assign(self.sender, *self.upload.slots)
        self.sock.assign(self.sender)

    def close(self) -> None:
        self.upload.release()
        self.inbox.discard()
        self.sock.discard()
        self.socket.close()
