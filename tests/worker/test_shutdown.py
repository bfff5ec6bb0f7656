"""Tests that a worker puts its job back in the queue, no matter when the worker is stopped."""

import signal
import sys
from collections.abc import Iterator

import pytest

from worker.shutdown import claim


@pytest.fixture(autouse=True)
def sigterm_exits() -> Iterator[None]:
    """Make SIGTERM raise SystemExit, as in a pool process of Celery."""
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    yield
    signal.signal(signal.SIGTERM, before)


def test_a_job_is_put_back_if_the_worker_is_stopped_while_it_claims_the_job() -> None:
    put_back: list[str] = []

    def claim_next() -> str:
        signal.raise_signal(signal.SIGTERM)
        return "job"

    with pytest.raises(SystemExit), claim(claim_next, put_back.append):
        pytest.fail("a stopped worker does not score its job")
    assert put_back == ["job"]


def test_a_job_is_put_back_if_the_worker_is_stopped_while_it_scores_the_job() -> None:
    put_back: list[str] = []
    with pytest.raises(SystemExit), claim(lambda: "job", put_back.append):
        signal.raise_signal(signal.SIGTERM)
    assert put_back == ["job"]


def test_nothing_is_put_back_if_no_job_was_claimed() -> None:
    put_back: list[str] = []
    with pytest.raises(SystemExit), claim(lambda: None, put_back.append):
        signal.raise_signal(signal.SIGTERM)
    assert put_back == []


def test_a_finished_job_is_not_put_back() -> None:
    put_back: list[str] = []
    with claim(lambda: "job", put_back.append) as job:
        assert job == "job"
    assert put_back == []
