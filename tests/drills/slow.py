"""Simulates many slow clients in a single thread."""

import selectors
import socket
import threading
import time
import uuid


def form(content: bytes, name: str = "predictions.csv.gz") -> tuple[str, bytes]:
    """Return the content type and the body of a multipart form with one file."""
    mark = uuid.uuid4().hex
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return f"multipart/form-data; boundary={mark}", head.encode() + content + f"\r\n--{mark}--\r\n".encode()


def upload_head(token: str, kind: str, length: int) -> bytes:
    return (
        "POST /api/v1/challenges/flows/phases/main/submissions HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


class SlowClients(threading.Thread):
    """Clients that send each request slowly over a separate connection, and store the first bytes of each response."""

    def __init__(self, port: int, requests: list[bytes], *, bytes_per_second: int) -> None:
        super().__init__(daemon=True)
        self.port, self.rate = port, bytes_per_second
        self.unsent = [memoryview(request) for request in requests]
        self.answers: list[bytes] = [b""] * len(requests)
        self.over = threading.Event()

    def __enter__(self) -> "SlowClients":
        self.sockets = [socket.create_connection(("127.0.0.1", self.port)) for _ in self.unsent]
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self.join()
        for one in self.sockets:
            one.close()

    def run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for number, one in enumerate(self.sockets):
                one.setblocking(False)
                selector.register(one, selectors.EVENT_READ, number)
            while not self.over.is_set() and selector.get_map():
                began = time.monotonic()
                for number in [key.data for key in selector.get_map().values()]:
                    self.send_some(number)
                while (left := began + 1 - time.monotonic()) > 0 and not self.over.is_set() and selector.get_map():
                    for key, _ in selector.select(min(left, 0.2)):
                        self.receive(selector, key.data)

    def send_some(self, number: int) -> None:
        try:
            sent = self.sockets[number].send(self.unsent[number][: self.rate])
        except OSError:
            return
        self.unsent[number] = self.unsent[number][sent:]

    def receive(self, selector: selectors.BaseSelector, number: int) -> None:
        try:
            data = self.sockets[number].recv(4096)
        except OSError:
            data = b""
        if not self.answers[number]:
            self.answers[number] = data[:60] or b"closed"
        if not data or not self.unsent[number]:
            selector.unregister(self.sockets[number])
