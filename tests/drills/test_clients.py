"""Clients that are slow, disconnect, or fill the disk do not affect other clients."""

import gzip
import http.client
import os
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from statistics import median, quantiles

import pytest

from tests.drills.conftest import Figures, Open
from tests.drills.counting import all_ended
from tests.drills.slow import SlowClients, form, upload_head
from tests.flows.running import Running, wait_for

pytestmark = pytest.mark.processes

PAGES = ("/", "/challenges/flows/", "/challenges/flows/leaderboard", "/api/v1/challenges/flows/phases/main/leaderboard")


def seconds_of(port: int, path: str) -> float:
    began = time.perf_counter()
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, (path, answer.status)
    return time.perf_counter() - began


def slow_request(token: str, kilobytes: int) -> bytes:
    kind, body = form(gzip.compress(os.urandom(kilobytes * 500).hex().encode(), 1))
    return upload_head(token, kind, len(body)) + body


MEGABYTE = 2**20


def left_behind(service: Running) -> list[str]:
    """Return all files that are left in the folders for uploads, including open files without a directory entry."""
    named = [str(path) for folder in ("incoming", "uploads/submissions") for path in (service.home / folder).glob("*")]
    opened = [os.readlink(one) for web in service.processes("gunicorn") for one in Path(f"/proc/{web}/fd").iterdir()]
    return named + [one for one in opened if "/incoming/" in one]


@contextmanager
def small_disk(folder: Path, *, megabytes: int) -> Iterator[Path]:
    """Mount a small file system at the given path during the `with` block."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "podium-drill", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        why = f"NOT RUN: a small disk cannot be mounted here ({done.stderr.strip()}); this drill needs root"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.drill(15)
def test_an_upload_that_fills_the_disk_leaves_no_files(
    opened: Open, small: Path, figures: Figures, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", megabytes=64) as disk:
        service = opened(home=disk / "home")
        ballast, answers = service.home / "ballast", []
        # The disk has no space for a 100 MB file. It has space to receive a 40 MB file, but not for the stored copy.
        for megabytes in (100, 40):
            answers.append(service.upload(os.urandom(megabytes * MEGABYTE)))
            wait_for(lambda: not left_behind(service), seconds=5)
        with ballast.open("wb") as file, suppress(OSError):
            while True:
                file.write(bytes(2**16))
        # The disk is now so full that not even a database row can be stored.
        answers.append(service.upload(os.urandom(MEGABYTE // 4)))
        page = service.ask("GET", "/challenges/flows/")[0]
        left, rows = left_behind(service), service.count("submissions_submission")
        ballast.unlink()
        after = service.submit((small / "predictions.csv").read_bytes())
        all_ended(service, seconds=60)
        status = service.column("status", after)
    codes = [(status, answer["code"]) for status, answer in answers]
    figures(f"{[status for status, _ in codes]}, pages {page}, {rows} rows, {len(left)} files left; then {status}")
    assert codes == [(507, "no_space")] * 3
    assert (page, left, rows, status) == (200, [], 0, "scored")


@pytest.mark.drill(16)
def test_an_interrupted_upload_leaves_no_files(opened: Open, figures: Figures) -> None:
    service = opened()
    kind, body = form(os.urandom(2 * MEGABYTE))
    request = upload_head(service.token, kind, len(body)) + body
    held = 0
    for number in range(20):
        with closing(socket.create_connection(("127.0.0.1", service.port))) as client:
            client.sendall(request[: len(request) // 2])
            held += bool(wait_for(lambda: left_behind(service)))
            if number % 2:  # Every other client resets its connection instead of closing it.
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wait_for(lambda: not left_behind(service), seconds=5)
    left, rows = left_behind(service), service.count("submissions_submission")
    figures(f"20 dropped at half, {held} seen on the disk until then; {rows} rows, {len(left)} files left")
    assert (held, rows, left) == (20, 0, [])
    assert service.ask("GET", "/healthz")[0] == 200


@pytest.mark.drill(17)
@pytest.mark.parametrize("clients", [100, 500])
def test_pages_respond_while_slow_uploads_arrive(opened: Open, figures: Figures, clients) -> None:
    service = opened(WEB_PROCESSES=2)
    idle = [seconds_of(service.port, PAGES[number % len(PAGES)]) for number in range(200)]
    requests = [slow_request(service.token, 12) for _ in range(clients)]
    with SlowClients(service.port, requests, bytes_per_second=1000) as slow:
        time.sleep(2)
        began, busy = time.monotonic(), []
        while time.monotonic() < began + 8:
            busy.append(seconds_of(service.port, PAGES[len(busy) % len(PAGES)]))
        slow.join(60)
        taken = sum(b" 201 " in answer for answer in slow.answers)
    p99, usual = quantiles(busy, n=100)[98], median(idle)
    figures(
        f"{clients} uploads at 1 kB/s: {len(busy)} pages, p99 {p99 * 1000:.0f} ms = {p99 / usual:.1f} x the idle "
        f"median of {usual * 1000:.1f} ms; {taken} uploads taken"
    )
    assert p99 < 20 * usual
    assert taken == clients
