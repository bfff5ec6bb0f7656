"""Every submission gets exactly one outcome, even if workers are killed, are stopped, crash, or lose their leases."""

import os
import random
import re
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.drills.conftest import Figures, Open
from tests.drills.counting import all_ended, counted, once, standstill, upload_all, uploading
from tests.flows.running import Running, wait_for

pytestmark = pytest.mark.processes

# When the worker of bent/strange.py scores a file that begins with these bytes, it kills itself.
POISON = b"poison"
# During the uploads, the worker is killed three times: after these numbers of submissions have been scored.
KILLED_AFTER = (30, 80, 130)
ALL = 200


def kill_while_it_scores(service: Running) -> bool:
    """Kill all processes of the worker if it is scoring a submission. Return whether they were killed."""
    # Suspend the processes of the worker first. Otherwise, the worker could finish the submission after its status is
    # checked and before the worker is killed.
    service.signal_all("celery -A", signal.SIGSTOP)
    try:
        scores = bool(service.statuses(seconds=0.5)["running"])
    # A process may be suspended while it writes, so the database may be locked. In this case, the worker is not killed,
    # and the caller tries again.
    except sqlite3.OperationalError:
        scores = False
    service.signal_all("celery -A", signal.SIGKILL if scores else signal.SIGCONT)
    return scores


def killed_three_times(service: Running, content: bytes) -> None:
    """Upload the same content `ALL` times, and kill the worker three times during the uploads."""
    with uploading(service, content, count=ALL):
        for ended in KILLED_AFTER:
            wait_for(lambda ended=ended: service.statuses()["scored"] >= ended)
            wait_for(lambda: kill_while_it_scores(service), every=0.01)


@pytest.mark.drill(1)
def test_if_a_worker_is_killed_every_submission_is_still_scored_exactly_once(
    opened: Open, small: Path, figures: Figures
) -> None:
    service = opened()
    killed_three_times(service, (small / "predictions.csv").read_bytes())
    seconds = all_ended(service, seconds=120)
    seen = counted(service)
    figures(f"{seen}; 3 kills cost {seen.attempts - ALL} attempts, the last ended {seconds:.0f} s after the uploads")
    assert seen == once(ALL, attempts=seen.attempts)
    assert seen.attempts >= ALL + len(KILLED_AFTER)


@pytest.mark.drill(2)
def test_without_claims_and_leases_the_drill_detects_lost_or_repeated_scorings(
    opened: Open, small: Path, figures: Figures
) -> None:
    service = opened(up=("worker=tests.drills.bent.unguarded",), INTERVAL_REPLICATES=0)
    killed_three_times(service, (small / "predictions.csv").read_bytes())
    standstill(service, seconds=8, at_most=120)
    seen = counted(service)
    figures(f"{seen.taken} taken, {seen.scored} scored, {seen.lost} lost, {seen.twice} twice: the drill can tell")
    assert seen.taken == ALL
    assert seen.lost + seen.twice > 0


@pytest.mark.drill(7)
def test_a_result_that_arrives_after_the_end_of_its_lease_is_refused(
    opened: Open, small: Path, figures: Figures
) -> None:
    service = opened(up=("worker=tests.drills.bent.strange",))
    log, hold = service.home / "logs" / "worker.log", service.home / "hold"
    hold.touch()
    submission = service.submit((small / "predictions.csv").read_bytes())
    wait_for(lambda: service.column("stage != ''", submission))
    began, frozen = time.monotonic(), service.freeze()
    hold.unlink()
    with second_worker(service):
        wait_for(lambda: service.column("status", submission) == "scored")
        outlived, first = time.monotonic() - began, service.rows("SELECT id, created_at FROM submissions_evaluation")
        for process in frozen:
            os.kill(process, signal.SIGCONT)
        wait_for(lambda: re.search(r"Task worker\.evaluate\[\S+\] succeeded", log.read_text()))
    all_ended(service, seconds=60)
    seen = counted(service)
    figures(f"frozen for {outlived:.1f} s with a lease of 3 s: {seen}, the late result was refused")
    assert service.rows("SELECT id, created_at FROM submissions_evaluation") == first
    assert seen == once(1, attempts=2)


@contextmanager
def second_worker(service: Running) -> Iterator[None]:
    """Run a second worker during the `with` block, as if on a second machine."""
    words = ("-m", "celery", "-A", "worker", "worker", "--hostname", "second@drill")
    with (
        (service.home / "logs" / "second.log").open("wb") as log,
        service.popen(*words, stdout=log, stderr=log) as process,
    ):
        try:
            yield
        finally:
            process.terminate()


@pytest.mark.drill(8)
def test_a_submission_that_kills_its_worker_does_not_affect_others(opened: Open, small: Path, figures: Figures) -> None:
    service = opened(up=("worker=tests.drills.bent.strange",))
    content = (small / "predictions.csv").read_bytes()
    others = upload_all(service, content, count=10)
    status, answer = service.upload(POISON)
    others += upload_all(service, content, count=30)
    seconds = all_ended(service, seconds=90)
    others += upload_all(service, content, count=10)
    all_ended(service, seconds=60)
    poison, seen = service.submission(answer["id"]), counted(service)
    attempts = [service.column("attempts", one) for one in others]
    ((charged,),) = service.rows(
        "SELECT sum(amount) FROM submissions_quotaentry WHERE submission_id = ?", answer["id"].replace("-", "")
    )
    figures(
        f"{poison['status']} after {service.column('attempts', answer['id'])} attempts in {seconds:.0f} s; of "
        f"{len(others)} others {seen.scored} scored, {attempts.count(1)} at the first attempt"
    )
    assert (status, poison["status"], poison["fault"], charged) == (201, "failed", "participant", 1)
    assert service.column("attempts", answer["id"]) == 3
    assert (seen.scored, attempts) == (len(others), [1] * len(others))


@pytest.mark.drill(9)
def test_a_submission_beyond_the_memory_limit_does_not_affect_others(
    opened: Open, small: Path, figures: Figures
) -> None:
    service = opened(WORKER_MEMORY_BYTES=96 * 2**20)
    content, before = (small / "predictions.csv").read_bytes(), service.worker()
    others = upload_all(service, content, count=3)
    status, answer = service.upload(many_detections(content))
    others += upload_all(service, content, count=3)
    seconds = all_ended(service, seconds=90)
    large, seen = service.submission(answer["id"]), counted(service)
    failure = service.column("failure", answer["id"])
    figures(f"{large['status']} after {seconds:.1f} s: {failure[:60]}…; {seen.scored} others scored, same processes")
    assert (status, large["status"]) == (201, "failed")
    assert "takes more memory than allowed" in failure
    assert (seen.scored, seen.attempts) == (len(others), len(others) + 1)
    assert service.worker() == before


def many_detections(content: bytes) -> bytes:
    """Return a valid file with a million detections of one class in one image."""
    header, first = content.decode().split("\n")[:2]
    image, words = first.split(",")
    label = words.split()[0]
    return f"{header}\n{image},{' '.join(f'{label} 0.{number:07} 0 0 1 1' for number in range(10**6))}\n".encode()


@pytest.mark.drill(10)
def test_a_worker_that_receives_sigterm_finishes_or_requeues_in_time(
    opened: Open, small: Path, figures: Figures
) -> None:
    service = opened(
        up=("worker=tests.drills.bent.strange",),
        WORKER_PROCESSES=3,
        # With three worker processes, two submissions of the same team can be scored at the same time.
    )
    content, hold = (small / "predictions.csv").read_bytes(), service.home / "hold"
    grace = int(service.environment["STOP_SECONDS"]) + 10
    put_back = stopped_while_held(service, content, hold, release_after=None)
    after_the_first = service.statuses()["queued"]
    hold.unlink()
    all_ended(service, seconds=60)
    finished = stopped_while_held(service, content, hold, release_after=0.5)
    all_ended(service, seconds=60)
    seen = counted(service)
    figures(
        f"exit after {put_back:.1f} s with 2 of 8 put back, after {finished:.1f} s with 2 finished "
        f"(at most {grace} s); {seen}, {seen.attempts} attempts"
    )
    assert max(put_back, finished) < grace
    assert after_the_first == 8
    assert seen == once(16, attempts=16)


def stopped_while_held(service: Running, content: bytes, hold: Path, *, release_after: float | None) -> float:
    """Stop the worker while it scores two submissions and others wait. Return how many seconds it took to exit."""
    hold.touch()
    upload_all(service, content, count=8)
    query = "SELECT count(*) FROM submissions_submission WHERE status = 'running' AND stage != ''"
    wait_for(lambda: service.rows(query) == [(2,)])
    first = service.worker()[0]
    began = time.monotonic()
    os.kill(first, signal.SIGTERM)
    if release_after:
        time.sleep(release_after)
        hold.unlink()
    wait_for(lambda: not Path(f"/proc/{first}").exists() or first not in service.processes("celery -A"))
    return time.monotonic() - began


@pytest.mark.drill(19)
def test_a_submission_is_cancelled_or_scored_but_never_both(opened: Open, small: Path, figures: Figures) -> None:
    service = opened()
    content = (small / "predictions.csv").read_bytes()
    with ThreadPoolExecutor(6) as pool:
        answers = Counter(pool.map(lambda number: cancelled_in_time(service, content, number), range(ALL)))
    all_ended(service, seconds=60)
    statuses, seen = service.statuses(), counted(service)
    both = service.rows(
        "SELECT count(*) FROM submissions_submission WHERE status = 'cancelled' AND id IN "
        "(SELECT submission_id FROM submissions_evaluation)"
    )[0][0]
    ((begun,),) = service.rows(
        "SELECT count(*) FROM submissions_submission WHERE status = 'cancelled' AND attempts > 0"
    )
    figures(
        f"{statuses['cancelled']} cancelled ({begun} while they were scored), {statuses['scored']} scored, "
        f"{both} both; answers {dict(sorted(answers.items()))}"
    )
    assert statuses == {"cancelled": answers[200], "scored": answers[409]}
    assert answers.total() == ALL
    assert (both, seen.evaluations, seen.twice) == (0, answers[409], 0)
    assert begun > 0
    assert answers[409] > 0


def cancelled_in_time(service: Running, content: bytes, number: int) -> Any:
    """Cancel a submission at about the moment when its result is recorded. Return the status of the response."""
    identifier = service.submit(content)
    wait_for(lambda: service.column("status != 'queued'", identifier), every=0.001)
    time.sleep(random.Random(number).uniform(0, 0.04))
    return service.ask("POST", f"/api/v1/submissions/{identifier}/cancel")[0]
