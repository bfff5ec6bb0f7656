"""Counts the connections of a web process by client address, and selects the ones to close if there are too many."""

from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Generic, TypeVar

# If there are too many connections, those of client addresses with more than this number are closed first. The number
# is enough for a browser, which opens six, and for a program that uploads several files at once.
FEW = 8
# Until the request headers arrive, the address of a client behind a proxy is unknown, and its connections are counted
# under this placeholder. Their number is not limited.
UNKNOWN = ""

C = TypeVar("C")


@dataclass
class Share(Generic[C]):
    """The connections of one client address. Those that have waited longest come first in the dicts."""

    count: int = 0
    # Idle connections have not received all request headers yet, or are waiting for the next request.
    idle: "dict[C, None]" = field(default_factory=dict)
    # Connections that are not idle are receiving a body or sending a response. They count as slow until their
    # measured speed is high enough for them to count as steady.
    slow: "dict[C, None]" = field(default_factory=dict)
    steady: "dict[C, None]" = field(default_factory=dict)

    @property
    def unsteady(self) -> int:
        return len(self.idle) + len(self.slow)

    @property
    def waiting(self) -> int:
        return self.unsteady + len(self.steady)

    def oldest(self, newcomer: C | None) -> C | None:
        in_order = chain(self.idle, self.slow, self.steady)
        return next((connection for connection in in_order if connection != newcomer), None)


class Shares(Generic[C]):
    """Connections grouped by client address.

    If there are too many, some of the connections that wait for their client are closed. Connections that threads are
    using are never closed.
    """

    def __init__(self, *, most: int, most_of_one: int) -> None:
        self.most, self.most_of_one = most, most_of_one
        self.count = 0
        self.of: dict[str, Share[C]] = {}
        self.unsteady: dict[C, None] = {}  # the idle and slow connections of all addresses, longest waiting first
        self.steady: dict[C, None] = {}

    def enter(self, address: str) -> None:
        self.count += 1
        self.of.setdefault(address, Share()).count += 1

    def leave(self, address: str) -> None:
        self.count -= 1
        share = self.of[address]
        share.count -= 1
        if not share.count:
            del self.of[address]

    def add_waiting(self, connection: C, address: str, *, idle: bool) -> None:
        share = self.of[address]
        (share.idle if idle else share.slow)[connection] = self.unsteady[connection] = None

    def remove_waiting(self, connection: C, address: str) -> None:
        share = self.of[address]
        for held in (share.idle, share.slow, share.steady, self.unsteady, self.steady):
            held.pop(connection, None)

    def update_pace(self, connection: C, address: str, *, is_steady: bool) -> None:
        """Record whether a connection is steady, that is, whether it transfers bytes fast enough.

        Steady connections are usually closed last if there are too many. If a connection has become slow or steady, it
        moves to the end of the list of slow or steady connections, as if it had just been opened.
        """
        share = self.of[address]
        if is_steady and connection in share.slow:
            del share.slow[connection], self.unsteady[connection]
            share.steady[connection] = self.steady[connection] = None
        elif not is_steady and connection in share.steady:
            del share.steady[connection], self.steady[connection]
            share.slow[connection] = self.unsteady[connection] = None

    def is_over(self, address: str) -> bool:
        """Return whether a client address has more connections to this process than one address may have."""
        return address != UNKNOWN and self.of[address].count > self.most_of_one

    @property
    def is_full(self) -> bool:
        return self.count >= self.most

    def surplus(self, address: str) -> C | None:
        """Return the connection to close because this address has too many, or None if it has few or none is idle."""
        return next(iter(self.of[address].idle), None) if self.is_over(address) else None

    def worst(self, newcomer: C | None = None) -> C | None:
        """Return the connection to close first, or None if none should be closed.

        The result is never `newcomer`.

        The address with the most unsteady (idle or slow) connections loses one if it has more than :data:`FEW` of them.
        Otherwise, the address with the most waiting connections of any kind loses one if it has more than :data:`FEW`.
        In both cases, the oldest idle connection is chosen first, then the oldest slow one, then the oldest steady one.
        If every address has few connections, the oldest of all unsteady connections is chosen, or the oldest steady one
        if at least half of all connections are steady. If threads use all others, none is closed: they need no client.
        """
        known = [share for address, share in self.of.items() if address != UNKNOWN]
        for held in (attrgetter("unsteady"), attrgetter("waiting")):
            most = max(known, key=held, default=None)
            if most is not None and held(most) > FEW:
                return most.oldest(newcomer)
        is_mostly_steady = 2 * len(self.steady) >= self.count
        candidates = chain(self.steady, self.unsteady) if is_mostly_steady else self.unsteady
        return next((connection for connection in candidates if connection != newcomer), None)
