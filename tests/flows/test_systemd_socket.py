"""If systemd keeps the port open, no request is refused while the service restarts."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flows.running import Running, wait_for
from tests.flows.taking_part import open_challenge

pytestmark = [pytest.mark.processes, pytest.mark.enable_socket]

# Passes a listening socket to a program as systemd does. Arguments: the socket's file descriptor, and the arguments of
# Python.
AS_SYSTEMD = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""


class WithSocket(Running):
    """A service whose listening socket belongs to this process, and therefore stays open while the service restarts."""

    def __init__(self, home: Path, **settings_of_it: Any) -> None:
        super().__init__(home, **settings_of_it)
        self.socket = socket.create_server(("127.0.0.1", self.port), backlog=200)

    def popen(self, *words: str, **options: Any) -> Any:
        descriptor = self.socket.fileno()
        return super().popen("-c", AS_SYSTEMD, str(descriptor), *words, pass_fds=(descriptor,), **options)

    def restart(self) -> None:
        self.stop_processes()
        self.launch()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[WithSocket]:
    (tmp_path / "home").mkdir()
    with_socket = WithSocket(tmp_path / "home")
    try:
        yield with_socket
    finally:
        with_socket.stop()
        with_socket.socket.close()


def test_pages_and_uploads_wait_while_the_service_restarts(service: WithSocket, predictions: Path) -> None:
    service.start()
    open_challenge(service, predictions, "ada")
    content, over = (predictions / "predictions.csv").read_bytes(), threading.Event()
    pages: list[int] = []
    uploads: list[int] = []

    def read() -> None:
        while not over.is_set():
            pages.append(service.ask("GET", "/challenges/flows/leaderboard")[0])

    def upload() -> None:
        while not over.is_set():
            uploads.append(service.upload_anew(content)[0])

    threads = [threading.Thread(target=one) for one in (read, read, upload, upload)]
    for thread in threads:
        thread.start()
    wait_for(lambda: pages and uploads)
    done = len(pages), len(uploads)
    service.restart()
    wait_for(lambda: len(pages) > done[0] and len(uploads) > done[1])
    over.set()
    for thread in threads:
        thread.join()
    assert (set(pages), set(uploads)) == ({200}, {201})
    wait_for(lambda: service.statuses() == {"scored": len(uploads)})
