"""One client of the web process: what it has sent, what it is still to be sent, and who it counts for."""

import time
from enum import Enum
from socket import socket
from typing import Any

from django.conf import settings

from server.accounts.addresses import network_of
from server.runtime.shares import UNKNOWN
from server.runtime.spools import Inbox, Outbox, Room
from server.submissions.upload_slots import Upload

RECEIVE_BYTES = 2**16
# Who is slower than this for longer than a while holds a place that others need.
BYTES_PER_SECOND = 256
STALL_SECONDS = 60.0


def address_before_head(client: Any) -> str:
    """Return whom a connection counts for while nothing is known but its peer."""
    return UNKNOWN if settings.PROXIES else network_of(client[0])


class Next(Enum):
    """What becomes of a connection after a thread had it."""

    RECEIVE = "more of the request is needed"
    KEEP = "another request may follow"
    CLOSE = "nothing follows"


class Connection:
    """One client. `sock`, `client` and `server` are what gunicorn looks for."""

    def __init__(
        self, client_socket: socket, client: Any, server: Any, *, incoming: Room, outgoing: Room, address: str = UNKNOWN
    ) -> None:
        self.socket, self.client, self.server = client_socket, client, server
        self.inbox, self.sock = Inbox(incoming, (address,)), Outbox(outgoing, client_socket, (address,))
        self.address = self.sender = address  # who holds it; who has sent the request, as its head says
        self.upload = Upload()
        self.next = Next.KEEP
        self.until = 0.0  # when patience ends
        self.lingers_until = 0.0

    def moved(self, count: int) -> None:
        """So many bytes came or went: that buys time."""
        self.until = max(self.until, min(self.until + count / BYTES_PER_SECOND, time.monotonic() + STALL_SECONDS))

    def begin_next(self) -> None:
        """Make room for the next request, of which the first bytes may be here already."""
        done, self.inbox = self.inbox, Inbox(self.inbox.room, (self.address,))
        done.position = done.request_bytes or 0
        rest = done.peek(RECEIVE_BYTES)
        done.discard()
        self.inbox.receive(rest)

    def belongs_to_sender(self) -> None:
        """Count what it holds for whom the head of its request names, and for the account that uploads."""
        self.inbox.belongs_to(self.sender, *self.upload.slots)
        self.sock.belongs_to(self.sender)

    def close(self) -> None:
        self.upload.release()
        self.inbox.discard()
        self.sock.discard()
        self.socket.close()
