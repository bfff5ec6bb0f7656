"""The database enforces quota and deadline, even for simultaneous uploads and web processes with wrong clocks."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPConnection
from threading import Barrier
from typing import Any

import pytest

from server.clock import is_over
from tests.drills.conftest import Figures, Open
from tests.drills.slow import SlowClients, form, upload_head
from tests.flows.running import Running, free_port, wait_for

pytestmark = pytest.mark.processes

PARALLEL, QUOTA = 50, 5
HOUR = 3600
SET_QUOTA = f"""
import django; django.setup()
from server.challenges.models import Phase
Phase.objects.update(quota_per_day={QUOTA})
"""
SET_DEADLINE = """
import django; django.setup()
from datetime import timedelta
from server.challenges.models import Phase
from server.clock import database_now
now = database_now()
Phase.objects.update(closes_at=now + timedelta(seconds=4), quota_per_day=100000, attempts_per_day=100000)
print(now.timestamp() + 4)
"""


@pytest.fixture(
    params=[pytest.param("sqlite", marks=pytest.mark.embedded), pytest.param("postgresql", marks=pytest.mark.services)]
)
def database(request: pytest.FixtureRequest) -> dict[str, str]:
    """Return the settings that make the service use SQLite or PostgreSQL."""
    return {} if request.param == "sqlite" else {"DATABASE_URL": request.getfixturevalue("postgres")}


@pytest.mark.drill(11)
def test_parallel_uploads_cannot_exceed_the_quota(opened: Open, figures: Figures, database: dict[str, str]) -> None:
    service = opened(WEB_PROCESSES=2, **database)
    assert service.run("-c", SET_QUOTA).returncode == 0
    # Freeze the worker, because it would reject the uploaded files, which are invalid, and refund their quota.
    service.freeze()
    barrier = Barrier(PARALLEL)

    def upload(number: int) -> int:
        barrier.wait(30)
        return service.upload(b"ImageId,PredictionString\nimage%d,\n" % number)[0]

    with ThreadPoolExecutor(PARALLEL) as pool:
        answers = Counter(pool.map(upload, range(PARALLEL)))
    rows = service.count("submissions_submission")
    charged = service.rows("SELECT count(*) FROM submissions_quotaentry WHERE amount = 1")[0][0]
    files = len(list((service.home / "uploads" / "submissions").iterdir()))
    figures(f"{PARALLEL} at once: {answers[201]} taken, {answers[429]} refused; {rows} rows, {files} files")
    assert answers == {201: QUOTA, 429: PARALLEL - QUOTA}
    assert (rows, charged, files) == (QUOTA, QUOTA, QUOTA)


@dataclass(frozen=True)
class Attempt:
    """The result of an upload near the deadline. Its start and end are measured by a clock that is not skewed."""

    began: float
    ended: float
    status: int
    code: str


def attempts_until(service: Running, until: float, first: int) -> list[Attempt]:
    """Upload one file after another until the given time, and return the results."""
    made: list[Attempt] = []
    while (began := time.time()) < until:
        content = b"ImageId,PredictionString\nimage%d-%d,\n" % (first, len(made))
        status, answer = service.upload(content)
        made.append(Attempt(began, time.time(), status, answer.get("code", "")))
    return made


@contextmanager
def skewed_web(service: Running, seconds: int) -> Iterator[Running]:
    """Start an additional web process with a clock that is wrong by the given number of seconds."""
    other = copy(service)
    other.port = free_port()
    other.environment = {**service.environment, "SKEW_SECONDS": str(seconds), "PODIUM_PORT": str(other.port)}
    words = ("-m", "gunicorn", "--config", "python:server.runtime.web", "tests.drills.bent.skewed:application")
    with (service.home / "logs" / f"skewed{seconds}.log").open("wb") as log:
        process = other.popen(*words, stdout=log, stderr=log)
    try:
        wait_for(lambda: suppressed(partial(clock_of, other)))
        assert clock_of(other) - time.time() == pytest.approx(seconds, abs=5)
        yield other
    finally:
        process.terminate()
        process.wait(20)


def clock_of(service: Running) -> float:
    connection = HTTPConnection("127.0.0.1", service.port, timeout=5)
    connection.request("GET", "/healthz")
    date = connection.getresponse().getheader("Date")
    connection.close()
    return parsedate_to_datetime(date or "").timestamp()


def suppressed(deed: Any) -> Any:
    with suppress(OSError):
        return deed()
    return None


@pytest.mark.drill(12)
def test_the_clock_of_the_database_decides_whether_an_upload_is_in_time(
    opened: Open, figures: Figures, database: dict[str, str]
) -> None:
    service = opened(WEB_PROCESSES=1, **database)
    with skewed_web(service, HOUR) as ahead, skewed_web(service, -HOUR) as behind:
        doors = (service, ahead, behind)
        answer = service.run("-c", SET_DEADLINE)
        deadline = float(answer.stdout)
        kind, body = form(b"begun in time" * 1000)
        late = [upload_head(service.token, kind, len(body)) + body] * 5
        with SlowClients(service.port, late, bytes_per_second=2000) as slow, ThreadPoolExecutor(len(doors)) as pool:
            made = list(pool.map(lambda door: attempts_until(door, deadline + 1.5, door.port), doors))
            slow.join(30)
    wrong = [one for door in made for one in door if not judged_rightly(one, deadline)]
    taken, refused = (sum(one.status == status for door in made for one in door) for status in (201, 409))
    begun_in_time = sum(b" 409 " in answer for answer in slow.answers)
    received = service.rows(
        "SELECT s.received_at, p.closes_at FROM submissions_submission s JOIN challenges_phase p ON p.id = s.phase_id"
    )
    after = sum(is_over(moment(closes), moment(at)) for at, closes in received)
    figures(
        f"at clocks of 0, +1 h and -1 h {taken} taken before, {refused} refused after, {len(wrong)} wrongly; "
        f"{begun_in_time} of 5 that ended after it refused; {after} rows from after it"
    )
    assert (wrong, begun_in_time, after) == ([], 5, 0)
    for door in made:
        assert {one.status for one in door} == {201, 409}
    assert service.count("submissions_submission") == taken


def moment(told: float | str) -> datetime:
    """Convert a timestamp, or a time from the database, to a datetime."""
    return datetime.fromtimestamp(told, UTC) if isinstance(told, float) else datetime.fromisoformat(told)


def judged_rightly(attempt: Attempt, deadline: float) -> bool:
    """Return whether the decision on an upload was correct.

    Only uploads that began before the deadline may be accepted, and only those that ended after it may be rejected.
    """
    if attempt.status == 201:
        return not is_over(moment(deadline), moment(attempt.began))
    return (attempt.status, attempt.code) == (409, "phase_closed") and attempt.ended > deadline
