"""Functions for drills that submit many files, wait until all are finished, and count rows in the database."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from tests.flows.running import Running, wait_for

UNFINISHED = ("queued", "running")
PENDING = "SELECT count(*) FROM submissions_rerun WHERE failure = ''"
WITHOUT_INTERVAL = """
SELECT count(*) FROM submissions_evaluation WHERE id NOT IN (SELECT evaluation_id FROM submissions_replicates)
"""


@contextmanager
def uploading(service: Running, content: bytes, *, count: int, at_once: int = 4) -> Iterator["list[Future[str]]"]:
    """Submit the file `count` times in the background while a `with` block runs.

    At the end of the block, wait for the last upload.
    """
    with ThreadPoolExecutor(at_once) as pool:
        yield [pool.submit(service.submit, content) for _ in range(count)]


def upload_all(service: Running, content: bytes, *, count: int) -> list[str]:
    """Submit a file with the given content `count` times, and return the ids of the submissions."""
    with uploading(service, content, count=count) as sent:
        pass
    return [one.result() for one in sent]


def unfinished(service: Running) -> int:
    """Return the number of queued and running submissions, plus the number of pending reruns."""
    statuses, (later,) = service.statuses(), service.rows(PENDING)[0]
    return sum(statuses[status] for status in UNFINISHED) + int(later)


def all_ended(service: Running, *, seconds: float) -> float:
    """Wait until all submissions and reruns are finished. Return how many seconds that took."""
    began = time.monotonic()
    wait_for(lambda: not unfinished(service), seconds=seconds, every=0.1)
    return time.monotonic() - began


def standstill(service: Running, *, seconds: float, at_most: float) -> None:
    """Wait until all jobs are finished, no job has finished for `seconds` seconds, or `at_most` seconds have passed."""
    left, since, until = unfinished(service), time.monotonic(), time.monotonic() + at_most
    while left and time.monotonic() < min(until, since + seconds):
        time.sleep(0.2)
        if (now := unfinished(service)) != left:
            left, since = now, time.monotonic()


@dataclass(frozen=True)
class Counted:
    """The numbers of submissions and evaluations with each outcome in a service's database."""

    taken: int
    scored: int
    lost: int  # Number of submissions that are still queued or running when the test counts them.
    evaluations: int
    twice: int  # Number of submissions that were scored more than once.
    bare: int  # Number of evaluations (scorings) without a confidence interval.
    attempts: int

    def __str__(self) -> str:
        numbers = f"{self.taken} taken, {self.scored} scored, {self.lost} lost, {self.twice} scored twice"
        return f"{numbers}, {self.bare} without interval" if self.bare else numbers


def once(count: int, *, attempts: int) -> Counted:
    """Return the counts of a service in which all `count` submissions were scored exactly once and have intervals."""
    return Counted(count, count, 0, count, 0, 0, attempts)


def counted(service: Running) -> Counted:
    statuses = service.statuses()
    of_each = service.rows("SELECT count(*) FROM submissions_evaluation GROUP BY submission_id")
    ((attempts,),) = service.rows("SELECT sum(attempts) FROM submissions_submission")
    return Counted(
        taken=statuses.total(),
        scored=statuses["scored"],
        lost=sum(statuses[status] for status in UNFINISHED),
        evaluations=sum(number for (number,) in of_each),
        twice=sum(number > 1 for (number,) in of_each),
        bare=service.rows(WITHOUT_INTERVAL)[0][0],
        attempts=int(attempts or 0),
    )
