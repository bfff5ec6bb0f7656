"""Two worker hosts with their own disks share the work. One is cut off, the other loses power, and nothing is lost."""

import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import psycopg
import pytest

from server.runtime.joining import WRONG_CONFIGURATION
from tests.drills.cluster import own_cluster
from tests.drills.conftest import FAST, Figures
from tests.drills.counting import all_ended, counted
from tests.drills.network import Host, Network, own_network
from tests.flows.redis_server import own_redis
from tests.flows.running import Running, wait_for
from tests.flows.taking_part import open_challenge
from tests.object_store import own_store

pytestmark = pytest.mark.processes

ALL, EACH_SECONDS, CUT_SECONDS = 200, 0.25, 20.0
PEOPLE = tuple(f"person{number}" for number in range(10))
BY_HOST = "SELECT host, count(*) FROM submissions_submission WHERE finished_at > to_timestamp(?) GROUP BY host"

HOLD = """
import django; django.setup()
import time
from django.db import transaction
from server.challenges.models import Phase
with transaction.atomic():
    Phase.objects.select_for_update().get()
    print("held", flush=True)
    time.sleep(600)
"""


class Installation:
    """One installation on several simulated hosts. Its servers run on this machine, and each worker on its own host."""

    def __init__(self, network: Network, folder: Path, **shared: object) -> None:
        self.network, self.folder = network, folder
        self.keys = {name: secrets.token_hex(32) for name in ("SECRET_KEY", "AUDIT_KEY", "SIGNING_KEY")}
        self.shared = {**FAST, "EXPLANATION_MAX_BYTES": 0, **shared, **self.keys}
        self.started: list[Running] = []

    def part(self, name: str, home: Path, host: Host | None = None) -> Running:
        running = Running(home, **self.shared)
        running.up = ("manage.py", "up", "--only", name)
        running.inside = host.inside if host else ()
        self.started.append(running)
        return running.start()

    def worker(self, name: str) -> tuple[Host, Running]:
        host = self.network.add(name, self.folder / name)
        return host, self.part("worker", host.home, host)


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with ExitStack() as stack:
        network = stack.enter_context(own_network())
        store = stack.enter_context(own_store(network.address))
        shared = {
            "DATABASE_URL": stack.enter_context(own_cluster(network.address)).url,
            "REDIS_URL": stack.enter_context(own_redis(tmp_path / "redis", network.address)),
            "STORAGE_URL": f"s3://key:secret@{network.address}:{store}/podium?tls=false",
        }
        found = Installation(network, tmp_path, **shared)
        yield found
        for running in found.started:
            running.stop()


def upload_later(web: Running, content: bytes, began: float, number: int) -> float:
    """Wait until the upload with this number is due, then upload the file. Return how many seconds the upload took."""
    time.sleep(max(0.0, began + number * EACH_SECONDS - time.monotonic()))
    started = time.monotonic()
    web.asked_by(number % len(PEOPLE)).submit(content)
    return time.monotonic() - started


def lose_power(installation: Installation, host: Host, worker: Running) -> None:
    """Cut off a host and kill all its processes, as if it lost power: no connection is closed. Then start it again."""
    installation.network.unplug(host)
    worker.signal_all("", signal.SIGKILL)
    worker.process.wait()
    wait_for(lambda: not worker.processes())
    installation.network.plug_in(host)
    worker.start()


@pytest.mark.drill(31)
def test_nothing_is_lost_if_one_worker_host_is_cut_off_and_another_loses_power(
    installation: Installation, small: Path, figures: Figures
) -> None:
    content = (small / "predictions.csv").read_bytes()
    web = installation.part("web", installation.folder / "web")
    installation.part("sweeper", installation.folder / "sweeper")
    open_challenge(web, small, *PEOPLE)
    first, _ = installation.worker("first")
    second, killed = installation.worker("second")
    with ThreadPoolExecutor(8) as pool:
        upload = partial(upload_later, web, content, time.monotonic())
        sent = [pool.submit(upload, number) for number in range(ALL)]
        wait_for(lambda: web.statuses()["scored"] >= ALL // 8)
        installation.network.unplug(first)
        began = time.monotonic()
        lose_power(installation, second, killed)
        time.sleep(max(0.0, began + CUT_SECONDS - time.monotonic()))
        installation.network.plug_in(first)
        back = time.time()
        before = web.statuses()["scored"]
        waited = [one.result() for one in sent]
    seconds = all_ended(web, seconds=180)
    seen, attempts = counted(web), web.rows("SELECT max(attempts) FROM submissions_submission")[0][0]
    by_host, later = dict(web.rows(BY_HOST, 0)), dict(web.rows(BY_HOST, back))
    blamed = web.rows("SELECT count(*) FROM submissions_submission WHERE fault != ''")[0][0]
    figures(
        f"{len(waited)} uploaded, {seen}, {blamed} blamed on anybody, at most {attempts} attempts; by host {by_host}; "
        f"{before} were scored when the first host was back after {CUT_SECONDS:.0f} s, by host after that {later}; "
        f"slowest upload {max(waited):.1f} s; all ended {seconds:.0f} s after the last one"
    )
    assert (len(waited), seen.taken, seen.scored, seen.evaluations) == (ALL, ALL, ALL, ALL)
    assert (seen.lost, seen.twice, seen.bare, blamed) == (0, 0, 0, 0)
    assert max(waited) < CUT_SECONDS
    assert set(by_host) == set(later) == {"first", "second"}


@pytest.mark.drill(31)
def test_a_lock_of_a_host_that_was_cut_off_is_released(
    installation: Installation, small: Path, figures: Figures
) -> None:
    """With PostgreSQL's default TCP keepalive settings, the lock on the phase would be held for two hours."""
    content = (small / "predictions.csv").read_bytes()
    web = installation.part("web", installation.folder / "web")
    open_challenge(web, small, *PEOPLE[:1])
    host = installation.network.add("first", installation.folder / "first")
    other = Running(host.home, **installation.shared)
    other.inside = host.inside
    holder = other.popen("-c", HOLD, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        installation.network.unplug(host)
        began = time.monotonic()
        web.submit(content)
        seconds = time.monotonic() - began
    finally:
        holder.kill()
        holder.communicate()
    figures(f"an upload waited {seconds:.1f} s for the lock of a host that was cut off")
    assert 1 < seconds < CUT_SECONDS


@pytest.mark.drill(32)
def test_a_part_with_servers_or_keys_of_another_installation_is_refused_at_start(
    installation: Installation, small: Path, figures: Figures
) -> None:
    """Start a worker with the settings of its installation, except for one server, bucket or key.

    The server or key belongs to another installation, or the bucket does not exist.
    """
    web = installation.part("web", installation.folder / "web")
    open_challenge(web, small, *PEOPLE[:1])
    own = installation.shared
    with psycopg.connect(str(own["DATABASE_URL"]), autocommit=True) as connection:
        connection.execute("CREATE DATABASE other")
    installation.shared = {
        **own,
        "DATABASE_URL": str(own["DATABASE_URL"]).removesuffix("/postgres") + "/other",
        "REDIS_URL": str(own["REDIS_URL"]).removesuffix("3") + "4",
        "STORAGE_URL": str(own["STORAGE_URL"]).replace("/podium?", "/other?"),
    }
    installation.part("web", installation.folder / "other-web")
    host = installation.network.add("first", installation.folder / "first")
    wrong = {name: {**own, name: installation.shared[name]} for name in ("DATABASE_URL", "REDIS_URL", "STORAGE_URL")}
    wrong["no bucket"] = {**own, "STORAGE_URL": str(own["STORAGE_URL"]).replace("/podium?", "/missing?")}
    wrong |= {name: {**own, name: secrets.token_hex(32)} for name in installation.keys}
    codes, said = {}, []
    for name, environment in wrong.items():
        worker = Running(host.home, **environment)
        worker.inside = host.inside
        done = worker.run("manage.py", "up", "--only", "worker")
        codes[name] = done.returncode
        said.append(done.stderr.strip().splitlines()[-1])
    figures(f"exit statuses of a worker that is joined to the wrong servers: {codes}")
    assert codes == dict.fromkeys(wrong, WRONG_CONFIGURATION)
    told = ("belong", "is not the storage", "not the key that this installation uses")
    assert [sentence for sentence in said if not any(words in sentence for words in told)] == []
