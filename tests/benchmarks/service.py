"""Measures a real service: the time to run an empty task, to score a file, and from an upload to its complete page.

`python -m tests.benchmarks.service MADE` prints lists of seconds as JSON. MADE is a folder that was written by
`challenge.write`.
"""

import json
import shutil
import sys
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import django
from celery import Celery
from redis import Redis

django.setup()  # Django must be set up before the following imports, because some of these modules define models.

from server.submissions.queue import EVALUATE, RERUN  # noqa: E402
from tests.benchmarks.probe import NOTHING  # noqa: E402
from tests.flows.running import Running  # noqa: E402
from tests.flows.taking_part import open_challenge  # noqa: E402
from tests.flows.waiting import wait_for  # noqa: E402

TIMES = 30
BYTES = 100_000
PATIENCE_SECONDS = 300
POLL_SECONDS = 0.005
# The phase shows participants the whole report, because the page of a submission is complete only with its tables and
# curves.
CHALLENGE = """
slug: flows
title: Flows
phases:
  - slug: main
    title: Main
    track: openimages-detection
    quota: {per_day: 1000, attempts_per_day: 1000}
    feedback: {scores: exact, classes: true}
"""
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


def measured(service: Running, predictions: Path) -> dict[str, list[float]]:
    """Return lists of seconds: to run an empty task, to score a file, and from an upload until its page is complete.

    The times are measured in turn, so that the load of the machine affects all equally. The first round is discarded.
    """
    url = json.loads((service.home / "runtime.json").read_text())["redis_url"]
    celery = Celery(broker=url.replace("unix://", "redis+socket://", 1))
    celery.conf.task_ignore_result = True
    nothing, scoring, page = [], [], []
    with Redis.from_url(url, socket_timeout=2 * PATIENCE_SECONDS) as broker:
        files = iter(cut(predictions, 2 * (TIMES + 1)))
        for to_score, to_complete in zip(files, files, strict=True):
            began = perf_counter()
            celery.send_task(NOTHING)
            answer(broker, NOTHING)
            nothing.append(perf_counter() - began)
            identifier = uploaded(service, to_score)
            scoring.append(answer(broker, EVALUATE))
            wait_until_complete(service, broker, identifier)
            began = perf_counter()
            wait_until_complete(service, broker, uploaded(service, to_complete))
            page.append(perf_counter() - began)
    return {"nothing": nothing[1:], "scoring": scoring[1:], "page": page[1:]}


def uploaded(service: Running, content: bytes) -> str:
    """Upload a file, and return the id of the submission."""
    status, response = service.upload(content)
    if status != 201:
        raise RuntimeError(f"the upload was refused: {response}")
    return str(response["id"])


def wait_until_complete(service: Running, broker: "Redis", identifier: str) -> None:
    """Wait until the page of a submission can show everything.

    Requests during the computation would take CPU time from the worker. Therefore, no request is sent before the jobs
    for the confidence interval and the explanation are done.
    """
    for _ in ("interval", "explanation"):
        answer(broker, RERUN)
    wait_for(partial(is_complete, service, identifier), seconds=PATIENCE_SECONDS, every=POLL_SECONDS)


def is_complete(service: Running, identifier: str) -> bool:
    """Return whether a report has the scores, intervals and explanation that the page of a submission shows."""
    status, report = service.ask("GET", f"/api/v1/submissions/{identifier}/report")
    return status == 200 and report["explanation"] == "ready" and all(map(has_intervals, report["splits"].values()))


def has_intervals(split: Any) -> bool:
    return bool(split["metrics"] and split["intervals"])


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
    """Wait until the worker has finished a job of the given task, and return the duration of the job in seconds."""
    found = broker.blpop([f"answers:{task}"], timeout=PATIENCE_SECONDS)
    if not found:
        raise RuntimeError(f"{task} was not done within {PATIENCE_SECONDS} s")
    return float(found[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
