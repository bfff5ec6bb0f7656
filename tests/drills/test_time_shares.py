"""Jobs of lower priority progress although jobs of higher priority wait all the time."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.drills.conftest import Figures, Open
from tests.flows.running import Running, wait_for

pytestmark = pytest.mark.processes

TEAMS, SECONDS, WAITING = 6, 120.0, 10
# A tenth of the time is reserved. Turns are whole jobs, so the measured share may be slightly lower.
SHARE_AT_LEAST = 0.09


class Uploaders:
    """Teams that upload a file whenever fewer than `WAITING` submissions wait, so that the queue is never empty."""

    def __init__(self, service: Running, content: bytes) -> None:
        self.service, self.content, self.over = service, content, threading.Event()
        self.queued: list[int] = []

    @contextmanager
    def busy(self) -> Iterator[None]:
        with ThreadPoolExecutor(TEAMS) as pool:
            each = [pool.submit(self.upload, number) for number in range(TEAMS)]
            try:
                wait_for(lambda: self.service.statuses()["queued"] >= WAITING, seconds=60)
                self.queued.clear()
                yield
            finally:
                self.over.set()
        for one in each:
            one.result()

    def upload(self, number: int) -> None:
        asked = self.service.asked_by(number)
        while not self.over.is_set():
            self.queued.append(waiting := self.service.statuses()["queued"])
            if waiting > 2 * WAITING:
                self.over.wait(0.2)
                continue
            status, answer = asked.upload_anew(self.content)
            assert status == 201, answer


def seconds_by_purpose(service: Running, start: int) -> Counter[str]:
    """Return how long the worker's jobs of each purpose took, from the log lines after the first `start` characters."""
    seconds: Counter[str] = Counter()
    for line in service.said()[start:].splitlines():
        if '"attempt ended"' in line:
            said = json.loads(line[line.index("{") :])
            seconds[said.get("purpose", "scoring")] += said["seconds"]
    return seconds


@pytest.mark.drill(39)
def test_reruns_get_their_share_of_the_time_while_submissions_wait(
    opened: Open, medium: Path, figures: Figures
) -> None:
    people = tuple(f"team{number}" for number in range(TEAMS))
    service = opened(people=people, bundle=medium, WORKER_PROCESSES=1, INTERVAL_REPLICATES=500)
    uploaders = Uploaders(service, (medium / "predictions.csv").read_bytes())
    with uploaders.busy():
        start = len(service.said())
        time.sleep(SECONDS)
        found = seconds_by_purpose(service, start)
    busy, least = sum(found.values()), min(uploaders.queued)
    share = found["intervals"] / busy
    figures(
        f"intervals got {share:.1%} of {busy:.0f} s in which at least {least} submissions waited "
        f"({', '.join(f'{purpose} {seconds:.1f} s' for purpose, seconds in found.items())})"
    )
    assert least > 0
    assert share >= SHARE_AT_LEAST
