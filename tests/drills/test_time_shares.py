"""Jobs of lower priority progress although jobs of higher priority wait all the time."""

import json
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.drills.conftest import Figures, Open
from tests.flows.running import Running, wait_for

pytestmark = pytest.mark.processes

TEAMS, FILES = 6, 200
# A tenth of the time is reserved. Turns are whole jobs, so the measured share may be slightly lower.
SHARE_AT_LEAST = 0.09


def upload_while_frozen(service: Running, content: bytes) -> None:
    """Fill the queue while the worker is frozen, because uploads take longer than scoring them."""
    service.freeze()

    def upload(number: int) -> None:
        asked = service.asked_by(number)
        for _ in range(FILES):
            status, answer = asked.upload_anew(content)
            assert status == 201, answer

    with ThreadPoolExecutor(TEAMS) as pool:
        for _ in pool.map(upload, range(TEAMS)):
            pass
    service.signal_all("celery -A", signal.SIGCONT)


def log_of(service: Running) -> str:
    return (service.home / "logs" / "worker.log").read_text()


def seconds_by_purpose(service: Running, start: int) -> Counter[str]:
    """Return how long the worker's jobs of each purpose took, from the log lines after the first `start` characters."""
    seconds: Counter[str] = Counter()
    for line in log_of(service)[start:].splitlines():
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
    upload_while_frozen(service, (medium / "predictions.csv").read_bytes())
    queued, start = service.statuses()["queued"], len(log_of(service))
    wait_for(lambda: service.statuses()["queued"] == 0, seconds=300)
    found = seconds_by_purpose(service, start)
    busy = sum(found.values())
    share = found["intervals"] / busy
    figures(
        f"intervals got {share:.1%} of {busy:.0f} s until {queued} waiting submissions were scored "
        f"({', '.join(f'{purpose} {seconds:.1f} s' for purpose, seconds in found.items())})"
    )
    assert queued > TEAMS * FILES / 2
    assert share >= SHARE_AT_LEAST
