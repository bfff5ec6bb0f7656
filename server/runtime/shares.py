"""Who holds the connections of a web process, and which one is closed when there are too many."""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

GREEDY = 8  # an address with more than an eighth of all connections loses requests under way, too
UNKNOWN = ""  # the address behind a proxy, before the head of its request is here: it has no share

C = TypeVar("C")


@dataclass
class Share(Generic[C]):
    """The connections of one address. The dicts are ordered by how long each connection has waited."""

    count: int = 0
    early: "dict[C, None]" = field(default_factory=dict)  # no whole head yet, or answered already
    under_way: "dict[C, None]" = field(default_factory=dict)  # a body comes, or an answer goes


class Shares(Generic[C]):
    """Connections by address. Only a connection that waits for its client can be closed: a thread has the others."""

    def __init__(self, *, most: int, most_of_one: int) -> None:
        self.most, self.most_of_one = most, most_of_one
        self.count = 0
        self.of: dict[str, Share[C]] = {}

    def enter(self, address: str) -> None:
        self.count += 1
        self.of.setdefault(address, Share()).count += 1

    def leave(self, address: str) -> None:
        self.count -= 1
        share = self.of[address]
        share.count -= 1
        if not share.count:
            del self.of[address]

    def waits(self, connection: C, address: str, *, early: bool) -> None:
        share = self.of[address]
        (share.early if early else share.under_way)[connection] = None

    def waits_no_more(self, connection: C, address: str) -> None:
        share = self.of[address]
        share.early.pop(connection, None)
        share.under_way.pop(connection, None)

    def is_over(self, address: str) -> bool:
        """Whether this address holds more than its share."""
        return address != UNKNOWN and self.of[address].count > self.most_of_one

    def surplus(self, newcomer: C, address: str) -> C | None:
        """Return the connection to close because of a newcomer, if there are too many of its address, or of all."""
        if self.is_over(address):
            return next(iter(self.of[address].early), None)
        return self.worst(newcomer) if self.count >= self.most else None

    def worst(self, newcomer: C | None = None) -> C | None:
        """Return the connection to close first: the oldest early one of the address that holds most.

        Of a greedy address the oldest of any kind, so that it never keeps others out. Where no address is greedy and
        all others have their requests under way, the newcomer stays, and the next one waits to be accepted.
        """
        known = [address for address in self.of if address != UNKNOWN]
        first = max(known, key=self._count, default=UNKNOWN)
        if first != UNKNOWN and self._count(first) > self.most // GREEDY:
            share = self.of[first]
            return next(iter(share.early or share.under_way), None)
        holders = [address for address, share in self.of.items() if share.early]
        oldest = next(iter(self.of[max(holders, key=self._count)].early)) if holders else None
        return oldest if oldest is not newcomer else None

    def _count(self, address: str) -> int:
        return self.of[address].count
