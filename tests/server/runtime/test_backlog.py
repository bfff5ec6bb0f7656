"""The public status page shows whether scoring is delayed, and counts the queued jobs of every kind."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import caches
from django.test import Client

from server.clock import database_now
from server.runtime import backlog
from server.submissions.models import Rerun, Status
from tests.conftest import Make


@pytest.fixture(autouse=True)
def uncached() -> None:
    caches["status"].clear()


def ago(seconds: float) -> dict[str, Any]:
    return {"enqueued_at": database_now() - timedelta(seconds=seconds)}


def scoring(client: Client) -> tuple[str, int]:
    answer = client.get("/status.json").json()
    return answer["scoring"], round(answer["delay_seconds"], -1)


def test_without_submissions_scoring_is_normal(client: Client, db: None) -> None:
    assert client.get("/status.json").json()["delayed_since"] is None
    assert b"Scoring is not delayed" in client.get("/status").content


@pytest.mark.parametrize(("seconds", "expected"), [(30, ("normal", 0)), (600, ("delayed", 600))])
def test_scoring_is_delayed_if_a_submission_has_waited_for_a_minute(
    seconds: int, expected: tuple[str, int], client: Client, make: Make
) -> None:
    make.submission(make.phase(), **ago(seconds))
    assert scoring(client) == expected


def test_the_page_shows_how_long_scoring_is_delayed(client: Client, make: Make) -> None:
    make.submission(make.phase(), **ago(605))
    page = client.get("/status").content.decode()
    assert "Scoring is delayed by 10 minutes" in page


def test_a_team_that_waits_for_its_own_submission_is_not_delayed(client: Client, make: Make) -> None:
    phase = make.phase()
    team = make.team(phase.challenge)
    make.submission(phase, team, **ago(600))
    make.submission(phase, team, status=Status.RUNNING, **leased())
    assert scoring(client) == ("normal", 0)


def test_a_team_whose_worker_died_is_waiting(client: Client, make: Make) -> None:
    phase = make.phase()
    team = make.team(phase.challenge)
    make.submission(phase, team, **ago(600))
    make.submission(phase, team, status=Status.RUNNING, **leased(-60))
    assert scoring(client) == ("delayed", 600)


def leased(seconds: float = 60) -> dict[str, Any]:
    return {"lease_token": uuid4(), "lease_until": database_now() + timedelta(seconds=seconds)}


def test_a_postponed_submission_is_not_a_delay(client: Client, make: Make) -> None:
    later = database_now() + timedelta(hours=1)
    make.submission(make.phase(), not_before=later, **ago(600))
    assert scoring(client) == ("normal", 0)


def test_the_status_is_computed_once_in_a_few_seconds(client: Client, make: Make) -> None:
    assert scoring(client) == ("normal", 0)
    make.submission(make.phase(), **ago(600))
    assert scoring(client) == ("normal", 0)


def test_queues_are_counted_by_kind_with_the_age_of_their_oldest_job(make: Make) -> None:
    phase = make.phase()
    make.submission(phase, **ago(10))
    scored = make.submission(phase, status=Status.SCORED, finished_at=database_now())
    for purpose, seconds in (("intervals", 20), ("explanation", 30)):
        Rerun.objects.create(submission=scored, truth=phase.truth, purpose=purpose, **ago(seconds))
    found = {queue.name: (queue.jobs, round(queue.seconds, -1)) for queue in backlog.queues()}
    expected = {"submissions": (1, 10), "intervals": (1, 20), "explanations": (1, 30)}
    assert found == {**expected, "comparisons": (0, 0), "mails": (0, 0)}
