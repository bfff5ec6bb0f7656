"""Every submission is scored once even if messages are lost, late or repeated, because the database stores the jobs."""

import http.client
import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis

from server.runtime import broker
from tests.drills.conftest import Figures, Open
from tests.drills.counting import all_ended, counted, once, upload_all
from tests.flows.running import wait_for

pytestmark = pytest.mark.processes

MANY = 50
DONE = r"Task worker\.evaluate\[\S+\] succeeded"
SEND_AGAIN = """
import django; django.setup()
from server.submissions import queue
from server.submissions.models import Submission
for submission in Submission.objects.all():
    for _ in range(4):
        queue.enqueue(Submission, submission.pk)
"""


@pytest.mark.drill(3)
def test_no_submission_is_lost_if_a_web_process_dies_before_it_sends_the_message(
    opened: Open, small: Path, figures: Figures
) -> None:
    service = opened(up=("web=tests.drills.bent.dying",))
    content, deaths = (small / "predictions.csv").read_bytes(), 0
    for _ in range(20):
        try:
            service.submit(content)
        except (http.client.HTTPException, ConnectionError):
            deaths += 1
    seconds = all_ended(service, seconds=30)
    seen = counted(service)
    figures(f"{deaths} deaths: {seen}, the last {seconds:.1f} s after the last death")
    assert deaths == 20
    assert seen == once(20, attempts=20)


@contextmanager
def own_redis(folder: Path) -> Iterator[tuple[str, Callable[[], "subprocess.Popen[bytes]"]]]:
    """Yield the URL of a Redis server, and a function that starts the server. A killed server is not restarted."""
    folder.mkdir()
    socket, started = folder / "redis.sock", []

    def start() -> "subprocess.Popen[bytes]":
        command = broker.command(server=broker.binary(), folder=folder, socket=socket)
        started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        return started[-1]

    try:
        yield f"unix://{socket}", start
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.drill(4)
def test_uploads_are_accepted_while_the_broker_is_down(
    opened: Open, small: Path, figures: Figures, tmp_path: Path
) -> None:
    content = (small / "predictions.csv").read_bytes()
    with own_redis(tmp_path / "redis") as (url, start):
        redis = start()
        service = opened(REDIS_URL=url)
        redis.kill()
        redis.wait()
        waits: list[float] = []

        def timed(number: int) -> str:
            began = time.monotonic()
            identifier = service.submit(content)
            waits.append(time.monotonic() - began)
            return identifier

        with ThreadPoolExecutor(4) as pool:
            taken = len(set(pool.map(timed, range(MANY))))
        waiting = service.statuses()["queued"]
        start()
        seconds = all_ended(service, seconds=60)
        seen = counted(service)
    figures(
        f"{taken} taken (the slowest in {max(waits):.2f} s), {waiting} waiting; {seen} {seconds:.1f} s after its return"
    )
    assert (taken, waiting) == (MANY, MANY)
    assert seen == once(MANY, attempts=MANY)


@pytest.mark.drill(5)
def test_no_submission_is_lost_if_the_broker_loses_all_data(opened: Open, small: Path, figures: Figures) -> None:
    service = opened()
    service.freeze()
    upload_all(service, (small / "predictions.csv").read_bytes(), count=MANY)
    with Redis.from_url(json.loads((service.home / "runtime.json").read_text())["redis_url"]) as redis:
        messages = redis.llen("celery")
        redis.flushall()
    service.signal_all("celery -A", signal.SIGCONT)
    seconds = all_ended(service, seconds=60)
    seen = counted(service)
    figures(f"{messages} messages wiped: {seen} after {seconds:.1f} s")
    assert messages > MANY // 2
    assert seen == once(MANY, attempts=MANY)


@pytest.mark.drill(6)
def test_a_message_that_is_delivered_five_times_causes_one_evaluation(
    opened: Open, small: Path, figures: Figures
) -> None:
    service = opened()
    service.freeze()
    upload_all(service, (small / "predictions.csv").read_bytes(), count=MANY)
    sent = service.run("-c", SEND_AGAIN)
    assert sent.returncode == 0, sent.stderr
    log = service.home / "logs" / "worker.log"
    service.signal_all("celery -A", signal.SIGCONT)
    wait_for(lambda: len(re.findall(DONE, log.read_text())) >= 5 * MANY)
    all_ended(service, seconds=60)
    seen, messages = counted(service), len(re.findall(DONE, log.read_text()))
    figures(f"{messages} messages: {seen}, {seen.attempts} attempts")
    assert messages >= 5 * MANY
    assert seen == once(MANY, attempts=MANY)
