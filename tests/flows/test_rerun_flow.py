"""Pending submissions are scored before intervals are computed, even if the service's processes are killed."""

import re
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from evaluator import scoring
from evaluator.digits import published
from evaluator.request import ScoringRequest
from tests.evaluator.options import with_intervals
from tests.flows.conftest import Start
from tests.flows.running import TRIES, Running, wait_for
from tests.flows.taking_part import open_challenge

pytestmark = [pytest.mark.processes, pytest.mark.enable_socket]

EACH = 5
# A program that sends messages about jobs that do not exist. The worker receives them, but finds nothing to score.
SEND = f"""
import django; django.setup()
from uuid import UUID
from server.celery import app
from server.submissions import queue
from server.submissions.models import Rerun, Submission
queue.enqueue(Submission, UUID(int=0))  # what the frozen worker was waiting for
for number in range({EACH}):
    queue.enqueue(Rerun, 10**9 + number)
for number in range({EACH}):
    queue.enqueue(Submission, UUID(int=1 + number))
print(queue.waiting(Submission), queue.waiting(Rerun))
"""


def taken(service: Any) -> list[str]:
    """Return the names of the tasks that the worker has received, in order of arrival."""
    return re.findall(r"Task (worker\.\w+)\[\S+\] received", (service.home / "logs" / "worker.log").read_text())


def test_queued_submissions_are_scored_before_queued_reruns(start: Start) -> None:
    service = start(WORKER_PROCESSES=1, DJANGO_SETTINGS_MODULE="server.settings")
    service.worker()
    service.freeze()
    sent = service.run("-c", SEND)
    # The worker was waiting for a message when it was frozen, so the broker may have delivered the first message to it.
    # In that case, the queue of submissions has one message fewer.
    assert sent.stdout.split() in ([str(EACH), str(EACH)], [str(EACH + 1), str(EACH)]), sent.stderr
    service.signal_all("celery -A worker", signal.SIGCONT)
    wait_for(lambda: len(taken(service)) == 1 + 2 * EACH)
    assert taken(service) == ["worker.evaluate"] * (1 + EACH) + ["worker.rerun"] * EACH


@pytest.fixture
def content(predictions: Path) -> bytes:
    return (predictions / "predictions.csv").read_bytes()


def settled(service: Any, identifier: str) -> dict[str, Any]:
    """Wait until the intervals of a submission are computed, and return its JSON."""
    service.ended(identifier)
    return dict(wait_for(lambda: (found := service.submission(identifier))["stage"] is None and found))


def test_an_interval_equals_that_of_the_evaluator_and_is_computed_after_the_score(
    service: Running, predictions: Path, content: bytes
) -> None:
    identifier = service.submit(content)
    first = service.ended(identifier)
    assert (first["stage"], first["intervals"]) in [
        ("bootstrapping", {}),
        (None, settled(service, identifier)["intervals"]),
    ]
    truth = predictions / "phases" / "main" / "truth"
    report = scoring.score(
        ScoringRequest("openimages-detection", truth, predictions / "predictions.csv", report=with_intervals(1000))
    )
    expected = {name: list(published((ends[0], ends[1]))) for name, ends in report.splits["public"].intervals.items()}
    found = settled(service, identifier)
    assert (found["scores"], found["intervals"]) == (first["scores"], {"public": expected})


def interrupted(service: Any, content: bytes) -> str:
    """Kill a worker while it computes the interval of a submission, and return the id of the submission.

    If the interval is computed before the worker is killed, another submission is tried.
    """
    claims = "SELECT attempts FROM submissions_rerun WHERE lease_token IS NOT NULL AND purpose = 'intervals'"
    for _ in range(TRIES):
        identifier = service.submit(content)
        claimed = partial(service.rows, claims)
        wait_for(claimed, every=0.002)
        service.signal_all("celery -A worker", signal.SIGKILL)
        if claimed() == [(1,)]:
            return identifier
        settled(service, identifier)
    raise AssertionError(f"each of {TRIES} intervals was computed before its worker could be killed")


def test_an_interval_is_computed_even_if_a_worker_was_killed(service: Running, content: bytes) -> None:
    identifier = interrupted(service, content)
    assert set(settled(service, identifier)["intervals"]["public"]) == {"mAP"}
    assert (service.evaluations(identifier), service.column("attempts", identifier)) == (1, 1)
    wait_for(lambda: service.rows("SELECT count(*) FROM submissions_rerun") == [(0,)])
    explained = service.rows("SELECT count(*) FROM submissions_explanation GROUP BY evaluation_id")
    assert explained == [(len(("all", "public")),)] * service.rows("SELECT count(*) FROM submissions_evaluation")[0][0]


def test_a_file_that_is_too_large_to_be_explained_without_kernels_keeps_score_and_interval(
    start: Start, predictions: Path, content: bytes
) -> None:
    service = start(EXPLANATION_MAX_BYTES=1000)
    open_challenge(service, predictions, "ada")
    header, first, *lines = content.split(b"\n")
    image, comma, boxes = first.partition(b",")
    identifier = service.submit(b"\n".join([header, b'"' + image + b'"' + comma + boxes, *lines]))
    assert set(settled(service, identifier)["intervals"]["public"]) == {"mAP"}
    given_up = wait_for(lambda: service.rows("SELECT purpose, failure FROM submissions_rerun WHERE failure != ''"))
    assert given_up == [
        (
            "explanation",
            "Files with more than 1000 uncompressed bytes get no explanation if the compiled kernels cannot read them.",
        )
    ]
