"""If many clients write at once or the database has outages, no client is blocked and no accepted file is lost."""

import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.drills.cluster import own_cluster
from tests.drills.conftest import Figures, Open
from tests.drills.counting import all_ended, counted

pytestmark = pytest.mark.processes

PROCESSES, THREADS, WRITES = 8, 4, 2000
BOARD = "/challenges/flows/leaderboard"


@pytest.mark.drill(13)
@pytest.mark.embedded
def test_no_writer_fails_because_sqlite_is_locked(opened: Open, figures: Figures) -> None:
    service = opened()
    before = service.rows("SELECT split_seed FROM challenges_phase")[0][0]
    began = time.monotonic()
    words = ("-m", "tests.drills.writers", str(THREADS), str(WRITES))
    writers = [service.popen(*words, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)]
    outcomes: Counter[str] = Counter()
    for writer in writers:
        for line in writer.communicate(timeout=280)[0].splitlines():
            number, _, what = line.partition(" ")
            outcomes[what] += int(number)
    seconds, locked = time.monotonic() - began, outcomes["database is locked"]
    grown = service.rows("SELECT split_seed FROM challenges_phase")[0][0] - before
    page = service.ask("GET", "/challenges/flows/")[0]
    figures(
        f"{PROCESSES * THREADS} writers x {WRITES:,}: {grown:,} writes in {seconds:.0f} s, {locked} locked; page {page}"
    )
    assert outcomes == {"written": PROCESSES * THREADS * WRITES}
    assert (grown, page) == (outcomes["written"], 200)


@dataclass(frozen=True)
class Answered:
    """The times at which a request began and ended, and the response status, which is 0 if the connection was lost."""

    began: float
    ended: float
    status: int


def ask_until(over: Event, deed: Callable[[], tuple[int, Any]]) -> list[Answered]:
    """Repeat a request, with short pauses, until the event is set, and return all responses."""
    answers: list[Answered] = []
    while not over.is_set():
        began = time.monotonic()
        try:
            status = deed()[0]
        except (OSError, HTTPException):
            status = 0
        answers.append(Answered(began, time.monotonic(), status))
        over.wait(0.05)
    return answers


@pytest.mark.drill(14)
@pytest.mark.services
def test_nothing_is_lost_if_the_database_restarts_under_load(opened: Open, small: Path, figures: Figures) -> None:
    content, over = (small / "predictions.csv").read_bytes(), Event()
    with own_cluster() as cluster, ThreadPoolExecutor(4) as pool:
        service = opened(DATABASE_URL=cluster.url)
        try:
            uploads = [pool.submit(ask_until, over, lambda: service.upload_anew(content)) for _ in range(2)]
            pages = [pool.submit(ask_until, over, lambda: service.ask("GET", BOARD)) for _ in range(2)]
            time.sleep(2)
            outages = [cluster.restart(signal.SIGINT, away=1.5)]
            time.sleep(4)
            outages.append(cluster.restart(signal.SIGQUIT, away=1.5))
            time.sleep(4)
        finally:
            over.set()
        made = [answer for one in uploads for answer in one.result()]
        every = made + [answer for one in pages for answer in one.result()]
        all_ended(service, seconds=90)
        seen = counted(service)
    taken = sum(answer.status == 201 for answer in made)
    failed = [answer for answer in every if answer.status == 0 or answer.status >= 500]
    outside = [
        answer for answer in failed if not any(answer.began < up and answer.ended > down for down, up in outages)
    ]
    figures(
        f"2 restarts of {sum(up - down for down, up in outages) / 2:.1f} s: {len(failed)} of {len(every)} requests "
        f"failed, {len(outside)} of them outside; {taken} answered 201, {seen}"
    )
    assert (outside, seen.lost, seen.twice) == ([], 0, 0)
    assert failed
    assert seen.scored == seen.taken >= taken > 0
