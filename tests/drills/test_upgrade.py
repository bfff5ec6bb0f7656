"""Three releases of a service are deployed in turn, host by host, while users read pages and upload files.

The releases are those of the app `releases`, which migrates the shared database twice: first it adds a column that the
next release needs (expand), then it removes the column that the previous release needed (contract).
"""

import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest
from django.conf import settings

from tests.drills.conftest import FAST, Figures
from tests.drills.counting import all_ended, counted
from tests.flows.postgres import own_database
from tests.flows.redis_server import own_redis
from tests.flows.running import Running
from tests.flows.taking_part import open_challenge
from tests.flows.test_parts import Hosts

pytestmark = pytest.mark.processes

RELEASES = (1, 2, 3)
REQUESTS, UPLOADS = 1000, 50
PEOPLE = tuple(f"person{number}" for number in range(5))
PAGES = ("/challenges/flows/", "/challenges/flows/leaderboard", "/api/v1/challenges/flows", "/readyz")
# Seconds to wait for the last requests to a host after it has been removed from the proxy.
DRAIN_SECONDS = 1.0


def source_of(release: int, folder: Path) -> Path:
    """Write the source code of a release, with the migrations up to the release's number, and return its folder."""
    app = folder / f"release-{release}" / "releases"
    shutil.copytree(Path(__file__).with_name("releases"), app, ignore=shutil.ignore_patterns("__pycache__"))
    for migration in app.glob("migrations/0*.py"):
        if int(migration.name[:4]) > release:
            migration.unlink()
    return app.parent


class Releases(Hosts):
    """Simulated hosts of one installation. They run its parts (web, worker and sweeper) in several releases."""

    def part(self, name: str, release: int) -> Running:
        source = self.folder / f"release-{release}"
        source = source if source.exists() else source_of(release, self.folder)
        path = f"{source}:{settings.BASE_DIR}"
        of_release = {"RELEASE": release, "PYTHONPATH": path, "DJANGO_SETTINGS_MODULE": "releases.settings"}
        return self.start(name, f"{name}-{release}", **of_release)


@pytest.fixture
def releases(tmp_path: Path) -> Iterator[Releases]:
    with ExitStack() as stack:
        shared = {
            "DATABASE_URL": stack.enter_context(own_database()),
            "REDIS_URL": stack.enter_context(own_redis(tmp_path / "redis")),
        }
        found = Releases(tmp_path, **{**FAST, **shared})
        yield found
        for running in found.started:
            running.stop()


class Visitors:
    """Simulated users who keep reading pages and uploading files. `web` is the web server that gets their requests."""

    def __init__(self, web: Running, content: bytes) -> None:
        self.web, self.content, self.tokens = web, content, web.tokens
        self.over = threading.Event()
        self.numbers, self.statuses, self.uploads = count(), Counter[int](), Counter[int]()

    def __enter__(self) -> "Visitors":
        self.pool = ThreadPoolExecutor(3)
        self.running = [self.pool.submit(self.read), self.pool.submit(self.read), self.pool.submit(self.upload)]
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self.pool.shutdown()
        for one in self.running:
            one.result()

    def read(self) -> None:
        while not self.over.is_set():
            self.statuses[self.web.ask("GET", PAGES[next(self.numbers) % len(PAGES)])[0]] += 1

    def upload(self) -> None:
        while not self.over.is_set():
            asked = self.web.asked_by(next(self.numbers) % len(PEOPLE))
            self.uploads[asked.upload_anew(self.content)[0]] += 1
            time.sleep(0.2)

    def move_to(self, web: Running) -> None:
        web.token, web.tokens = self.web.token, self.tokens
        self.web = web
        time.sleep(DRAIN_SECONDS)

    @property
    def are_enough(self) -> bool:
        return self.statuses.total() >= REQUESTS and self.uploads.total() >= UPLOADS


def continue_until(visitors: Visitors, share: float) -> None:
    """Wait until the visitors have made the given share of the planned requests and uploads."""
    while visitors.statuses.total() < REQUESTS * share or visitors.uploads.total() < UPLOADS * share:
        assert not any(one.done() for one in visitors.running), "a visitor met an error"
        time.sleep(0.1)


@pytest.mark.drill(35)
def test_releases_replace_each_other_without_errors(releases: Releases, small: Path, figures: Figures) -> None:
    web, worker = releases.part("web", 1), releases.part("worker", 1)
    releases.part("sweeper", 1)
    open_challenge(web, small, *PEOPLE)
    with Visitors(web, (small / "predictions.csv").read_bytes()) as visitors:
        for number, release in enumerate(RELEASES[1:], start=1):
            continue_until(visitors, number / len(RELEASES))
            # Starting the web part migrates the database while the previous release still uses it.
            new = releases.part("web", release)
            visitors.move_to(new)
            web.send(signal.SIGTERM)
            new_worker = releases.part("worker", release)
            worker.send(signal.SIGTERM)
            web, worker = new, new_worker
        continue_until(visitors, 1.0)
    seconds = all_ended(web, seconds=120)
    seen, visits = counted(web), web.count("releases_visit")
    old = releases.started[0].run("manage.py", "up", "--only", "web")
    columns = web.rows("SELECT column_name FROM information_schema.columns WHERE table_name = 'releases_visit'")
    figures(
        f"{visitors.statuses.total()} requests {dict(visitors.statuses)}, {visitors.uploads.total()} uploads "
        f"{dict(visitors.uploads)}, {seen}, {visits} visits; all ended {seconds:.0f} s after the last upload"
    )
    assert visitors.are_enough
    assert (set(visitors.statuses), set(visitors.uploads)) == ({200}, {201})
    assert (seen.taken, seen.scored, seen.lost, seen.twice) == (seen.taken, seen.taken, 0, 0)
    assert visits >= REQUESTS + UPLOADS
    assert {name for (name,) in columns} == {"id", "route"}
    assert (old.returncode != 0, "migrated by a newer version" in old.stderr) == (True, True)
