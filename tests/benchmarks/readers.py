"""Measures latencies while 50 clients read a large leaderboard, relative to the latencies of a view with fixed rows.

`python -m tests.benchmarks.readers TEAMS EACH [HOME]` fills a database with TEAMS teams and EACH submissions per team,
starts the service, and prints JSON. HOME is a state folder that is empty or was filled by an earlier run of this
program or of `tests.benchmarks.boards`. Do not set PODIUM_HOME to this folder, because all processes whose PODIUM_HOME
is this folder are killed when the service is stopped.
"""

import http.client
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter

import django

READERS, TIMEOUT = 50, 120
# Requests to the leaderboard and to a minimal view alternate, so that the load of the machine affects both equally.
ROUNDS, SECONDS, BARE_SECONDS = 4, 15, 5
WARM_UP_SECONDS = 30
BOARD, API = "/challenges/crowd/leaderboard", "/api/v1/challenges/crowd/phases/main/leaderboard"


def main(teams: str, each: str, home: str = "") -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.benchmarks.board_settings")
    os.environ.setdefault("LOG_LEVEL", "ERROR")
    with TemporaryDirectory(prefix="podium-readers-") as folder:
        os.environ["PODIUM_HOME"] = home or folder
        django.setup()
        from tests.benchmarks.boards import fill

        fill(int(teams), int(each))
        print(json.dumps(measured(int(teams))))


def measured(teams: int) -> dict[str, float]:
    from tests.flows.running import Running

    database = {"DATABASE_URL": os.environ["DATABASE_URL"]} if "DATABASE_URL" in os.environ else {}
    home = Path(os.environ["PODIUM_HOME"])
    service = Running(home, DJANGO_SETTINGS_MODULE="tests.benchmarks.board_settings", WEB_PROCESSES=2, **database)
    service.start()
    try:
        # Requests before the measurement let each process import modules, compile templates, and fill its caches.
        latencies(service.port, addresses(teams), seconds=WARM_UP_SECONDS)
        before = {process: memory(process) for process in service.processes("gunicorn")}
        bare, board = [], []
        for _ in range(ROUNDS):
            bare += latencies(service.port, ["/bare"], seconds=BARE_SECONDS)
            board += latencies(service.port, addresses(teams), seconds=SECONDS)
        grown = max(memory(process) - before[process] for process in before)
    finally:
        # Kill the processes of the service, because an orderly shutdown on a busy machine may take longer than
        # `service.stop` waits.
        service.signal_all("", signal.SIGKILL)
    return {
        "bare": percentile(bare),
        "board": percentile(board),
        "ratio": percentile(board) / percentile(bare),
        "medians": median(board) / median(bare),
        "requests": len(board),
        "grown": grown / 1e6,
    }


def addresses(teams: int) -> list[str]:
    """Return the URLs to request. Half of them are the URL of the leaderboard's first page.

    The others are later pages, searches, leaderboards as of past dates, the API, the challenge page and the front page.
    """
    pages = [f"{BOARD}?page={number + 2}" for number in range(min(teams // 100, 30))]
    others = [f"{BOARD}?q=Team+{number:03}" for number in range(5)]
    others += [f"{BOARD}?at=2026-0{month}-01T00:00" for month in range(2, 6)]
    others += [API, f"{API}?page=2", "/challenges/crowd/", "/"]
    return [*others * 2, *pages, *[BOARD] * (len(pages) + 2 * len(others))]


def latencies(port: int, asked: Sequence[str], *, seconds: float) -> list[float]:
    """Make every reader send one request after another, and return how many seconds each response took."""
    end = monotonic() + seconds

    def read(reader: int) -> list[float]:
        shuffled = Random(reader).sample(asked, len(asked))
        return list(requests(port, shuffled, end))

    with ThreadPoolExecutor(READERS) as readers:
        return [taken for one in readers.map(read, range(READERS)) for taken in one]


def requests(port: int, asked: Sequence[str], end: float) -> Iterator[float]:
    for address in islice(cycle(asked), 10**6):
        if monotonic() > end:
            return
        started = perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        connection.request("GET", address, headers={"Accept-Encoding": "gzip"})
        response = connection.getresponse()
        response.read()
        connection.close()
        if response.status != 200:
            raise RuntimeError(f"{address}: {response.status}")
        yield perf_counter() - started


def percentile(values: Sequence[float]) -> float:
    """Return the 99th percentile of durations in seconds."""
    return quantiles(values, n=100)[-1]


def memory(process: int) -> int:
    """Return the resident memory of a process in bytes."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    main(*sys.argv[1:])
