"""An old version of the service, from the project's history, serves users while this version is started alongside it.

Drill 35 upgrades between synthetic releases. This drill upgrades from a version that was in use.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.metadata import distributions
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.conf import settings

from tests.drills.conftest import FAST, Figures
from tests.drills.counting import all_ended, counted
from tests.flows.postgres import own_database
from tests.flows.redis_server import own_redis
from tests.flows.running import NOT_INHERITED, Running, wait_for
from tests.flows.taking_part import open_challenge
from tests.flows.test_parts import Hosts

pytestmark = pytest.mark.processes

# The last commit in which accounts do not use django-allauth, leaderboard entries are not stored, and ground truths
# have no checksums.
OLD_VERSION = "c85bc0e4c06a1907925d1d62a1bf250fae0dea5c"
# UPLOADS_BEFORE is the number of uploads to each web server before the new worker starts.
REQUESTS, UPLOADS_EACH, UPLOADS_BEFORE, SCORED_BEFORE = 1000, 25, 12, 20
PEOPLE = tuple(f"person{number}" for number in range(5))
PAGES = (
    "/challenges/flows/",
    "/challenges/flows/leaderboard",
    "/api/v1/challenges/flows",
    "/api/v1/challenges/flows/phases/main/leaderboard",
    "/api/v1/challenges/flows/phases/main/submissions",
)
# Seconds to wait for the last requests to a host after it has been removed from the proxy.
DRAIN_SECONDS = 1.0
START_SECONDS = END_SECONDS = 600.0


def not_run(why: str) -> NoReturn:
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"NOT RUN: {why}")


def checked_out(commit: str) -> Path:
    """Return a folder with the source code of a commit, its packages, its static files and its compiled kernels."""
    folder = settings.BASE_DIR / "build" / "tests" / f"version-{commit[:8]}"
    if folder.exists():
        return folder
    archive = subprocess.run(["git", "archive", commit], cwd=settings.BASE_DIR, capture_output=True)
    if archive.returncode:
        not_run(f"this clone has no commit {commit[:8]}; git fetch --unshallow")
    new = folder.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(settings.BASE_DIR / "build" / "assets", new / "build" / "assets")
    subprocess.run(["tar", "-x", "-C", str(new)], input=archive.stdout, check=True)
    install_missing(new)
    environment = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    environment["PYTHONPATH"] = str(new / "packages")
    for words in (("manage.py", "collectstatic", "--noinput"), ("-m", "evaluator.kernels")):
        subprocess.run([sys.executable, *words], cwd=new, env=environment, check=True, capture_output=True)
    new.rename(folder)
    return folder


def install_missing(source: Path) -> None:
    """Install the pinned packages of an old version, except those that are already installed in the pinned version."""
    pins = re.findall(r"^([\w.-]+)==(\S+?)(?:\s*#.*)?$", (source / "requirements.txt").read_text(), re.MULTILINE)
    installed = {normalized(one.name): one.version for one in distributions()}
    missing = [f"{name}=={version}" for name, version in pins if installed.get(normalized(name)) != version]
    command = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--target", str(source / "packages")]
    if missing and subprocess.run([*command, *missing]).returncode:
        not_run(f"pip cannot install {' '.join(missing)}")


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# Selects submissions with two scores of the same signature, which must not exist. Two scores with different signatures
# are allowed: a worker of this version that computes the interval of an old score adds a score with its own signature.
REPEATED = "SELECT 1 FROM submissions_evaluation GROUP BY submission_id, signature HAVING count(*) > 1"


class Visitors:
    """Simulated users who read pages and upload files. `webs` maps names to the web servers that share the requests."""

    def __init__(self, content: bytes, **webs: Running) -> None:
        self.content, self.webs = content, webs
        self.most = UPLOADS_BEFORE  # The maximum number of uploads to each web server.
        self.over = threading.Event()
        self.numbers = count()
        self.statuses, self.uploads = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
        self.wrong: list[str] = []

    def __enter__(self) -> "Visitors":
        self.pool = ThreadPoolExecutor(3)
        self.running = [self.pool.submit(self.repeat, act) for act in (self.read, self.read, self.upload)]
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self.pool.shutdown()
        for one in self.running:
            one.result()

    def repeat(self, act: Callable[[int], None]) -> None:
        while not self.over.is_set():
            act(next(self.numbers))

    def read(self, number: int) -> None:
        names = tuple(self.webs)
        name, page = names[number % len(names)], PAGES[number // 2 % len(PAGES)]
        self.note(self.statuses, name, self.webs[name].ask("GET", page), page)

    def upload(self, number: int) -> None:
        sent = {name: self.total(self.uploads, name) for name in self.webs}
        name = min(sent, key=sent.__getitem__)
        if sent[name] < self.most:
            answered = self.webs[name].asked_by(number % len(PEOPLE)).upload_anew(self.content)
            self.note(self.uploads, name, answered, "upload")
        time.sleep(0.3)

    def note(self, counts: Counter[tuple[str, int]], name: str, answered: tuple[int, Any], what: str) -> None:
        status, answer = answered
        counts[name, status] += 1
        if status not in (200, 201):
            self.wrong.append(f"{name} {what} {status} {str(answer)[:300]}")

    @staticmethod
    def total(counts: Counter[tuple[str, int]], name: str) -> int:
        return sum(number for (of, _), number in counts.items() if of == name)

    def wait(self, *, uploads: int, requests: int = 0) -> None:
        """Wait until each server has received `uploads` uploads, and all servers together `requests` page requests."""
        while self.statuses.total() < requests or any(self.total(self.uploads, n) < uploads for n in self.webs):
            assert not any(one.done() for one in self.running), "a visitor met an error"
            time.sleep(0.1)


class PatientHosts(Hosts):
    """Hosts on which a service has more time to start, because two versions and their visitors share the processors."""

    def add(self, name: str, **more: object) -> Running:
        running = super().add(name, **more)
        running.start_seconds = START_SECONDS
        return running


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    with ExitStack() as stack:
        shared = {
            "DATABASE_URL": stack.enter_context(own_database(migrated=False)),
            "REDIS_URL": stack.enter_context(own_redis(tmp_path / "redis")),
        }
        found = PatientHosts(tmp_path, **{**FAST, **shared})
        yield found
        for running in found.started:
            running.stop()


@pytest.fixture
def bundle(small: Path, tmp_path: Path) -> Path:
    """Return the folder of a challenge bundle without a salt, because the old version does not support salts."""
    folder = tmp_path / "bundle"
    shutil.copytree(small, folder)
    (folder / "phases" / "main" / "truth" / "salt.txt").unlink()
    return folder


def populated(hosts: Hosts, bundle: Path, content: bytes) -> Running:
    """Start all parts of the old version on one host, create its tables and a challenge, and score a few files."""
    source = checked_out(OLD_VERSION)
    old = hosts.add("old")
    old.source = source
    old.environment["PYTHONPATH"] = str(source / "packages")
    old.start(migrated=False)
    open_challenge(old, bundle, *PEOPLE)
    for number in range(SCORED_BEFORE):
        old.asked_by(number % len(PEOPLE)).submit(content)
    all_ended(old, seconds=END_SECONDS)
    return old


def stop_worker(old: Running) -> None:
    """Stop the worker of the old version, which cannot read ground truths that this version has prepared.

    The old version cannot start its parts separately, and its supervisor would start the worker again.
    Therefore, the supervisor is frozen first.
    """
    first, _ = old.worker()
    old.process.send_signal(signal.SIGSTOP)
    os.kill(first, signal.SIGTERM)
    wait_for(lambda: not [one for one in old.processes("celery -A") if is_running(one)], seconds=END_SECONDS)


def is_running(process: int) -> bool:
    """Return whether a process is not a zombie, that is, an ended process whose status its parent has not read."""
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.drill(38)
def test_an_old_version_serves_while_this_one_starts(hosts: Hosts, bundle: Path, figures: Figures) -> None:
    content = (bundle / "predictions.csv").read_bytes()
    old = populated(hosts, bundle, content)
    with Visitors(content, old=old) as visitors:
        visitors.wait(uploads=UPLOADS_BEFORE // 2)
        new = hosts.start("web", "web")  # This migrates the database while the old version still uses it.
        new.token, new.tokens = old.token, old.tokens
        visitors.webs = {"old": old, "new": new}
        visitors.wait(uploads=UPLOADS_BEFORE)
        stop_worker(old)
        hosts.start("sweeper", "sweeper")
        hosts.start("worker", "worker")
        visitors.most = UPLOADS_EACH
        visitors.wait(uploads=UPLOADS_EACH, requests=REQUESTS)
        visitors.webs = {"new": new}
        time.sleep(DRAIN_SECONDS)
        old.process.send_signal(signal.SIGCONT)
        old.send(signal.SIGTERM)
    all_ended(new, seconds=END_SECONDS)
    seen = counted(new)
    # The old worker records scores but no leaderboard entries, because its version does not store them.
    before, _, after = (new.run("manage.py", "verify_board", *words) for words in ((), ("--rebuild",), ()))
    wrong = re.search(r"(\d+) entries of", before.stderr)
    figures(
        f"{visitors.statuses.total()} requests {dict(visitors.statuses)}, {visitors.uploads.total()} uploads "
        f"{dict(visitors.uploads)}, {seen} (twice: once by each version); {wrong[1] if wrong else 0} entries to rebuild"
    )
    assert visitors.wrong == []
    assert visitors.statuses.total() >= REQUESTS
    assert visitors.uploads == {("old", 201): UPLOADS_EACH, ("new", 201): UPLOADS_EACH}
    total = SCORED_BEFORE + 2 * UPLOADS_EACH
    assert (seen.taken, seen.scored, seen.lost) == (total, total, 0)
    assert new.rows(REPEATED) == []
    assert after.returncode == 0, after.stderr
