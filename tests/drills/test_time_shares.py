"""Jobs of lower priority make progress even if jobs of higher priority are always waiting."""

import json
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.drills.conftest import Figures, Open
from tests.flows.running import Running, wait_for
from tests.flows.taking_part import make_bundle
from worker.time_shares import SHARE, TURN_SECONDS

pytestmark = pytest.mark.processes

TEAMS, FILES, IMAGES = 6, 150, 6000


def upload_while_frozen(service: Running, content: bytes) -> None:
    """Fill the queue while the worker is frozen, because uploading files takes longer than scoring them."""
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
    opened: Open, tmp_path_factory: pytest.TempPathFactory, figures: Figures
) -> None:
    # The first rerun starts after nine seconds of scoring, so the measured share is accurate only if scoring takes much
    # longer.
    bundle = make_bundle(tmp_path_factory.mktemp("bundle"), images=IMAGES)
    people = tuple(f"team{number}" for number in range(TEAMS))
    service = opened(people=people, bundle=bundle, WORKER_PROCESSES=1, INTERVAL_REPLICATES=500)
    upload_while_frozen(service, (bundle / "predictions.csv").read_bytes())
    queued, start = service.statuses()["queued"], len(log_of(service))
    wait_for(lambda: service.statuses()["queued"] == 0, seconds=300)
    found = seconds_by_purpose(service, start)
    busy = sum(found.values())
    share = 1 - found["scoring"] / busy
    figures(
        f"reruns got {share:.1%} of {busy:.0f} s until {queued} waiting submissions were scored "
        f"({', '.join(f'{purpose} {seconds:.1f} s' for purpose, seconds in found.items())})"
    )
    assert queued > TEAMS * FILES / 2
    # The worker owes reruns a tenth of its time, and runs one when it owes TURN_SECONDS. At the end, it therefore owes
    # less than TURN_SECONDS.
    assert busy - found["scoring"] > found["scoring"] * SHARE / (1 - SHARE) - TURN_SECONDS
