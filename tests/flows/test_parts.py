"""The parts web, worker and sweeper can run separately, as on several hosts, with PostgreSQL and Redis over TCP."""

import secrets
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from redis import Redis

from tests.flows.postgres import own_database
from tests.flows.redis_server import own_redis
from tests.flows.running import Running, wait_for
from tests.flows.taking_part import open_challenge

pytestmark = [pytest.mark.processes, pytest.mark.services, pytest.mark.enable_socket]


class Hosts:
    """Simulated hosts, each of which runs one part of a service (web, worker or sweeper).

    The hosts share a database, a broker, secret keys and the stored files.
    """

    def __init__(self, folder: Path, **shared: object) -> None:
        self.folder, self.shared = folder, shared
        self.keys = {name: secrets.token_hex(32) for name in ("SECRET_KEY", "AUDIT_KEY", "SIGNING_KEY")}
        self.started: list[Running] = []

    def start(self, part: str, name: str, *words: str, **more: object) -> Running:
        running = self.add(name, **more)
        running.up = ("manage.py", "up", "--only", part, *words)
        return running.start()

    def add(self, name: str, **more: object) -> Running:
        """Return a service on a new host. The service has not been started yet."""
        home = self.folder / name
        home.mkdir()
        for files in ("uploads", "truths"):
            (self.folder / files).mkdir(exist_ok=True)
            (home / files).symlink_to(self.folder / files)
        running = Running(home, **{**self.shared, **self.keys, **more})
        self.started.append(running)
        return running


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    with ExitStack() as stack:
        shared = {
            "DATABASE_URL": stack.enter_context(own_database(migrated=False)),
            "REDIS_URL": stack.enter_context(own_redis(tmp_path / "redis")),
        }
        short = {"LEASE_SECONDS": 3, "HEARTBEAT_SECONDS": 1, "SWEEP_SECONDS": 1, "RESEND_SECONDS": 2, "STOP_SECONDS": 1}
        found = Hosts(tmp_path, **shared, **short)
        yield found
        for running in found.started:
            running.stop()


def test_each_part_can_run_on_its_own_host(hosts: Hosts, predictions: Path) -> None:
    content = (predictions / "predictions.csv").read_bytes()
    web = hosts.start("web", "web")
    assert web.ask("GET", "/readyz") == (200, {"database": "ok", "storage": "ok"})
    assert web.processes("celery") == web.processes("sweep") == []
    open_challenge(web, predictions, "ada")
    first = web.submit(content)
    sweeper, worker = hosts.start("sweeper", "sweeper"), hosts.start("worker", "worker-1")
    assert web.ended(first)["status"] == "scored"
    lost = worker.processes()
    worker.send(signal.SIGKILL)
    wait_for(lambda: not set(worker.processes()) & set(lost))
    second = web.submit(content)
    third = hosts.start("worker", "worker-2")
    assert web.ended(second)["status"] == "scored"
    # The new worker has the same name as the killed one, whose heartbeat is still stored. The stored heartbeat
    # must not make the new worker count as ready before it has started.
    assert third.said().index("[tasks]") < third.said().index("is ready. Press")
    with Redis.from_url(web.environment["REDIS_URL"]) as redis:
        assert redis.dbsize() > 0
    for running in (web, sweeper, third):
        running.send(signal.SIGTERM)
        assert (running.process.returncode, running.processes()) == (0, [])


def test_a_worker_takes_only_the_kinds_of_jobs_in_its_start_command(hosts: Hosts, predictions: Path) -> None:
    """A worker for reruns computes the confidence interval of a score that a worker for scores recorded."""
    web = hosts.start("web", "web")
    open_challenge(web, predictions, "ada")
    hosts.start("worker", "reruns", "--queues", "reruns", INTERVAL_REPLICATES=20)
    submission = web.submit((predictions / "predictions.csv").read_bytes())
    with pytest.raises(AssertionError):
        wait_for(lambda: web.submission(submission)["status"] != "queued", seconds=3)
    hosts.start("worker", "scores", "--queues", "scores", INTERVAL_REPLICATES=20)
    assert web.ended(submission)["status"] == "scored"
    wait_for(lambda: web.count("submissions_replicates"))
    jobs = [(running.home.name, '"purpose": "intervals"' in running.said()) for running in hosts.started[1:]]
    assert jobs == [("reruns", True), ("scores", False)]
