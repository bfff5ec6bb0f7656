"""Measures how long the real service takes to score a small file, and the round-trip time of a task that does nothing.

`python -m tests.benchmarks.service MADE` prints the medians of the two durations in seconds. MADE is a folder that was
written by `challenge.write`.
"""

import json
import shutil
import sys
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import django
from celery import Celery
from redis import Redis

django.setup()  # Django must be set up before the following imports, because some of these modules define models.

from server.submissions.queue import EVALUATE, RERUN  # noqa: E402
from tests.benchmarks.probe import NOTHING  # noqa: E402
from tests.flows.running import Running  # noqa: E402
from tests.flows.taking_part import CHALLENGE, open_challenge  # noqa: E402

TIMES = 30
BYTES = 100_000
PATIENCE_SECONDS = 300
# The uploaded files are parts of one large file. Each part begins this number of lines after the beginning of the
# previous part, so that no two are equal.
UNLIKE_EACH_OTHER = 10


def main(made: str) -> None:
    with TemporaryDirectory(prefix="podium-bench-") as folder:
        bundle, home = Path(folder) / "bundle", Path(folder) / "home"
        (bundle / "phases" / "main").mkdir(parents=True)
        home.mkdir()
        (bundle / "challenge.yaml").write_text(CHALLENGE)
        shutil.copytree(Path(made) / "truth", bundle / "phases" / "main" / "truth")
        service = Running(home, WORKER_PROCESSES=1, DJANGO_SETTINGS_MODULE="tests.benchmarks.probe_settings").start()
        try:
            open_challenge(service, bundle, "ada")
            print(json.dumps(measured(service, Path(made) / "kaggle.csv")))
        finally:
            service.stop()


def measured(service: Running, predictions: Path) -> dict[str, float]:
    """Measure how long the worker takes to score a file, and to run a task that does nothing.

    The two measurements alternate, so that the load of the machine affects both equally. The first round is discarded.
    """
    url = json.loads((service.home / "runtime.json").read_text())["redis_url"]
    celery = Celery(broker=url.replace("unix://", "redis+socket://", 1))
    celery.conf.task_ignore_result = True
    scoring, nothing = [], []
    with Redis.from_url(url, socket_timeout=2 * PATIENCE_SECONDS) as broker:
        for file in cut(predictions, TIMES + 1):
            sent = perf_counter()
            celery.send_task(NOTHING)
            answer(broker, NOTHING)
            nothing.append(perf_counter() - sent)
            service.upload(file)
            scoring.append(answer(broker, EVALUATE))
            # When a submission has a score, two background jobs compute its confidence interval and explanation. Wait
            # for both jobs, so that they do not delay the next measurement.
            for _ in ("interval", "explanation"):
                answer(broker, RERUN)
    return {"scoring": median(scoring[1:]), "nothing": median(nothing[1:])}


def cut(predictions: Path, count: int) -> list[bytes]:
    """Return submissions of about 100 kB that begin at different lines of the given predictions."""
    with predictions.open("rb") as file:
        head, *rows = islice(file, 1 + BYTES // 100 + UNLIKE_EACH_OTHER * count)
    return [slice_of(head, rows[UNLIKE_EACH_OTHER * number :]) for number in range(count)]


def slice_of(head: bytes, rows: list[bytes]) -> bytes:
    content = head
    for row in rows:
        if len(content) >= BYTES:
            break
        content += row
    return content


def answer(broker: "Redis", task: str) -> float:
    """Wait until the worker has run the task, and return its duration in seconds."""
    found = broker.blpop([f"answers:{task}"], timeout=PATIENCE_SECONDS)
    if not found:
        raise RuntimeError(f"{task} was not done within {PATIENCE_SECONDS} s")
    return float(found[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
