"""The real service in a folder of its own, with a challenge and somebody who takes part."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.flows.running import Running

Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """`start(NAME=value)`: a service with these settings; whatever still runs afterwards is stopped."""
    started: list[Running] = []

    def begin(home: Path = tmp_path / "home", **settings_of_it: Any) -> Running:
        home.mkdir(parents=True)
        started.append(Running(home, **settings_of_it))
        return started[-1].start()

    yield begin
    for service in started:
        service.stop()


JOIN = """
import django; django.setup()
from server.accounts.models import User
from server.accounts.services import issue_token
from server.challenges.models import Challenge
from server.challenges.services import join
user = User.objects.create_user("ada", "ada@example.org", "correct horse battery")
join(user=user, challenge=Challenge.objects.get(slug="flows"), accept_rules=True)
print(issue_token(user=user, name="flows", scope="submit", days=1)[1])
"""

CHALLENGE = """
slug: flows
title: Flows
phases:
  - {slug: main, title: Main, track: openimages-detection, quota: {per_day: 1000, attempts_per_day: 1000}}
"""


@pytest.fixture(scope="module")
def predictions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a challenge bundle, made by `podium synthesize`, and a submission that takes a moment to score."""
    folder = tmp_path_factory.mktemp("bundle")
    words = [sys.executable, "-m", "evaluator", "synthesize", "openimages-detection", "--out", str(folder / "made")]
    subprocess.run([*words, "--images", "1500", "--quality", "0.7"], check=True, cwd=settings.BASE_DIR)
    (folder / "phases" / "main").mkdir(parents=True)
    (folder / "made" / "truth").rename(folder / "phases" / "main" / "truth")
    (folder / "made" / "submissions" / "quality-0.70.csv").rename(folder / "predictions.csv")
    (folder / "challenge.yaml").write_text(CHALLENGE)
    return folder


@pytest.fixture(scope="module")
def service(predictions: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A running service with a challenge and a member; short leases, so that crashes are noticed in seconds."""
    home = tmp_path_factory.mktemp("service") / "home"
    home.mkdir()
    short = {"LEASE_SECONDS": 3, "HEARTBEAT_SECONDS": 1, "SWEEP_SECONDS": 1, "RESEND_SECONDS": 2, "STOP_SECONDS": 1}
    running = Running(home, **short).start()
    try:
        imported = running.run("manage.py", "import_challenge", str(predictions))
        assert imported.returncode == 0, imported.stdout + imported.stderr
        running.environment["DJANGO_SETTINGS_MODULE"] = "server.settings"
        joined = running.run("-c", JOIN)
        running.token = joined.stdout.strip()
        assert running.token, joined.stderr
        yield running
    finally:
        running.stop()
