"""`manage.py jobs` lists waiting, running and failed jobs, with their times, hosts and reasons for failure."""

import json
from datetime import timedelta
from io import StringIO
from socket import gethostname
from uuid import uuid4

import pytest
from django.core.management import call_command

from server.clock import database_now
from server.leaderboards.models import Board, Comparison
from server.runtime.jobs import FAILED, RUNNING, WAITING, jobs
from server.submissions.models import Rerun, Status, Submission
from server.submissions.services import leases
from tests.conftest import Make


def told(*words: str) -> str:
    output = StringIO()
    call_command("jobs", *words, stdout=output)
    return output.getvalue()


@pytest.mark.django_db
def test_without_jobs_each_state_has_none() -> None:
    assert told().splitlines() == ["0 waiting", "0 running", "0 failed"]


def test_a_running_submission_is_listed_with_its_host(make: Make) -> None:
    submission = make.submission(make.phase())
    assert leases.claim(Submission, submission.pk)
    count, (job,) = jobs(RUNNING, limit=5)
    assert (count, job.kind, job.id, job.host) == (1, "submission", str(submission.pk), gethostname()[:64])


def test_a_waiting_submission_is_listed_with_its_phase_and_time(make: Make) -> None:
    phase = make.phase()
    received = database_now() - timedelta(minutes=7)
    make.submission(phase, received_at=received)
    assert f"{phase}  for 7 minutes" in told()
    listed = json.loads(told("--json"))
    assert listed["waiting"]["count"] == 1
    assert listed["running"] == listed["failed"] == {"count": 0, "jobs": []}


def test_the_longest_waiting_jobs_come_first_and_the_rest_is_counted(make: Make) -> None:
    phase = make.phase()
    ids = [
        str(make.submission(phase, received_at=database_now() - timedelta(minutes=minutes)).pk) for minutes in (1, 3, 2)
    ]
    count, listed = jobs(WAITING, limit=2)
    assert (count, [job.id for job in listed]) == (3, [ids[1], ids[2]])
    assert "… and 1 more" in told("--limit", "2")


def test_a_failure_is_listed_with_its_reason_and_fault(make: Make) -> None:
    failed = {"status": Status.FAILED, "failure_code": "worker_lost", "failure": "Its worker stopped."}
    make.submission(make.phase(), finished_at=database_now(), fault="platform", host="w1", **failed)
    _, (job,) = jobs(FAILED, limit=5)
    assert (job.host, job.reason) == ("w1", "Its worker stopped. (platform)")


def test_reruns_are_listed_with_the_id_of_their_submission(make: Make) -> None:
    phase, now = make.phase(), database_now()
    scored = make.submission(phase, status=Status.SCORED, finished_at=now)
    held = {"lease_token": uuid4(), "lease_until": now + timedelta(minutes=1)}
    shared = {"submission": scored, "truth": phase.truth, "enqueued_at": now}
    Rerun.objects.create(purpose="intervals", host="w2", **held, **shared)
    Rerun.objects.create(purpose="explanation", failure="too large", **shared)
    (_, (running,)), (_, (failed,)) = jobs(RUNNING, limit=5), jobs(FAILED, limit=5)
    assert (running.kind, running.id, running.host) == ("intervals", str(scored.pk), "w2")
    assert (failed.kind, failed.reason) == ("explanation", "too large")


def test_the_most_recent_failures_come_first_even_if_others_exceed_the_limit(make: Make) -> None:
    phase, now = make.phase(), database_now()
    for minutes in (3, 1, 2):
        scored = make.submission(phase, status=Status.SCORED, finished_at=now)
        queued = now - timedelta(minutes=minutes)
        Rerun.objects.create(submission=scored, truth=phase.truth, enqueued_at=queued, failure=f"{minutes} minutes")
    count, listed = jobs(FAILED, limit=2)
    assert (count, [job.reason for job in listed]) == (3, ["1 minutes", "2 minutes"])


def test_jobs_whose_time_is_not_stored_come_last(make: Make) -> None:
    phase = make.phase()
    board = Board.objects.create(phase=phase, kind="public", signature=phase.signature, version=2)
    Comparison.objects.create(board=board, version=1)
    make.submission(phase, received_at=database_now() - timedelta(minutes=1))
    _, listed = jobs(WAITING, limit=5)
    assert [job.kind for job in listed] == ["submission", "comparison"]


def test_a_postponed_submission_is_listed_with_the_time_of_its_next_attempt(make: Make) -> None:
    make.submission(make.phase(), not_before=database_now() + timedelta(hours=1), postponed=2)
    _, (job,) = jobs(WAITING, limit=5)
    assert "after 2 attempts" in job.reason
