"""A TCP proxy that cuts connections after given numbers of bytes from the client."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from math import inf

PIECE = 2**16


class Cutter:
    """A proxy that closes a connection whenever the total number of bytes from clients reaches a number in `cuts`.

    After `hold_at` bytes from clients, nothing is forwarded until `released` is set.
    """

    def __init__(self, target: int, cuts: list[int], hold_at: float) -> None:
        self.hold_at, self.released = hold_at, threading.Event()
        self.target, self.cuts, self.done, self.sent = target, cuts, 0, 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.connect, args=(client,), daemon=True).start()

    def connect(self, client: socket.socket) -> None:
        with (
            suppress(OSError),
            closing(client),
            closing(socket.create_connection(("127.0.0.1", self.target))) as server,
        ):
            threading.Thread(target=self.copy_back, args=(server, client), daemon=True).start()
            while (data := client.recv(PIECE)) and not self.is_cut(len(data)):
                if self.sent >= self.hold_at:
                    self.released.wait()
                server.sendall(data)

    def copy_back(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(PIECE):
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)

    def is_cut(self, count: int) -> bool:
        """Count bytes from the client. Return whether the connection must be closed now."""
        with self.lock:
            self.sent += count
            if self.done == len(self.cuts) or self.sent < self.cuts[self.done]:
                return False
            self.done += 1
            return True


@contextmanager
def cutting(target: int, *cuts: int, hold_at: float = inf) -> Iterator[Cutter]:
    """Run a proxy that cuts a connection whenever the number of bytes from clients reaches one of ``cuts``."""
    cutter = Cutter(target, sorted(cuts), hold_at)
    thread = threading.Thread(target=cutter.serve, daemon=True)
    thread.start()
    try:
        yield cutter
    finally:
        cutter.listener.close()
