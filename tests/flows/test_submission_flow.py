"""Tests with real processes: an uploaded file is scored and ranked, even if processes are killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from redis import Redis

from tests.flows.running import Running, wait_for

pytestmark = [pytest.mark.processes, pytest.mark.enable_socket]


@pytest.fixture
def content(predictions: Path) -> bytes:
    return (predictions / "predictions.csv").read_bytes()


@pytest.fixture(autouse=True)
def thawed(service: Running) -> Iterator[None]:
    """After each test, resume all processes that the test has frozen (suspended)."""
    yield
    service.signal_all("", signal.SIGCONT)


def quota(service: Any) -> dict[str, Any]:
    status, answer = service.ask("GET", "/api/v1/challenges/flows/phases/main/quota")
    assert status == 200, answer
    return dict(answer)


def test_an_uploaded_file_gets_a_rank_and_the_same_score_as_on_the_command_line(
    service: Running, predictions: Path, content: bytes, tmp_path: Path
) -> None:
    scored = service.ended(service.submit(content))
    truth, submission = predictions / "phases" / "main" / "truth", predictions / "predictions.csv"
    words = ["score", "openimages-detection", "--truth", str(truth), "--submission", str(submission)]
    answer = tmp_path / "score.json"
    subprocess.run(
        [sys.executable, "-m", "evaluator", *words, "--json", str(answer)], cwd=settings.BASE_DIR, check=True
    )
    expected = json.loads(answer.read_text())
    assert scored["scores"]["public"] == expected["splits"]["public"]["metrics"]
    assert scored["signature"] == expected["signature"]
    status, board = service.ask("GET", "/api/v1/challenges/flows/phases/main/leaderboard")
    first = board["results"][0]
    assert (status, first["rank"], first["team"], first["score"]) == (200, 1, "ada", scored["scores"]["public"]["mAP"])


def test_a_broken_file_is_rejected_with_the_location_and_uses_no_quota(service: Running) -> None:
    before = quota(service)["used"]
    rejected = service.ended(service.submit(b"ImageId,PredictionString\nimage,/m/0jbk nan 0 0 1 1\n"))
    assert (rejected["status"], rejected["fault"]) == ("rejected", "participant")
    assert ("not_finite", 2) in [(error["code"], error["line"]) for error in rejected["problems"]["errors"]]
    assert quota(service)["used"] == before


def is_told_to_end(process: int) -> bool:
    """Return whether the given frozen process has a pending SIGTERM."""
    status = Path(f"/proc/{process}/status").read_text()
    pending = next(line for line in status.splitlines() if line.startswith("ShdPnd:"))
    return bool(int(pending.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def test_a_submission_is_scored_once_even_if_its_worker_was_killed(service: Running, content: bytes) -> None:
    submission = service.frozen_while_scoring(content)
    others = [service.submit(content) for _ in range(3)]
    service.signal_all("celery -A worker", signal.SIGKILL)
    assert {service.ended(one)["status"] for one in (submission, *others)} == {"scored"}
    assert [service.evaluations(one) for one in (submission, *others)] == [1, 1, 1, 1]
    assert [service.column("attempts", one) for one in (submission, *others)] == [2, 1, 1, 1]


def test_stopping_a_worker_requeues_jobs_that_it_cannot_finish_in_time(service: Running, content: bytes) -> None:
    # The sweeper also requeues jobs. It is frozen, so that only the worker can requeue this job.
    service.freeze("sweep --forever")
    # Because the scoring process is frozen, its job does not end within STOP_SECONDS after the worker is told to stop.
    submission = service.frozen_while_scoring(content)
    first, pool = service.worker()
    os.kill(first, signal.SIGTERM)
    wait_for(lambda: all(is_told_to_end(process) for process in pool))
    service.signal_all("celery -A worker", signal.SIGCONT)
    scored = service.ended(submission)
    service.signal_all("sweep --forever", signal.SIGCONT)
    assert (scored["status"], service.column("attempts", submission), service.evaluations(submission)) == (
        "scored",
        1,
        1,
    )


def test_messages_that_the_broker_lost_are_resent(service: Running, content: bytes) -> None:
    service.freeze()
    submissions = [service.submit(content) for _ in range(3)]
    with Redis.from_url(json.loads((service.home / "runtime.json").read_text())["redis_url"]) as redis:
        redis.flushall()
    service.signal_all("celery -A worker", signal.SIGCONT)
    assert {service.ended(one)["status"] for one in submissions} == {"scored"}
    assert [service.evaluations(one) for one in submissions] == [1, 1, 1]


def test_an_upload_is_accepted_while_the_broker_is_down_and_scored_afterwards(service: Running, content: bytes) -> None:
    assert service.signal_all("redis-server", signal.SIGKILL)
    assert service.ended(service.submit(content))["status"] == "scored"


def test_a_cancelled_submission_is_not_scored(service: Running, content: bytes) -> None:
    service.freeze()
    submission = service.submit(content)
    before = quota(service)["used"]
    status, answer = service.ask("POST", f"/api/v1/submissions/{submission}/cancel")
    service.signal_all("celery -A worker", signal.SIGCONT)
    assert (status, answer["status"], quota(service)["used"]) == (200, "cancelled", before - 1)
    following = service.submit(content)
    assert service.ended(following)["status"] == "scored"
    assert (service.submission(submission)["status"], service.evaluations(submission)) == ("cancelled", 0)


def test_the_service_is_ready_soon(service: Running) -> None:
    # Wait, because a previous test may have killed a process of the service whose replacement is not ready yet.
    wait_for(lambda: service.ask("GET", "/readyz")[0] == 200)
    assert service.ask("GET", "/healthz") == (200, "ok")
