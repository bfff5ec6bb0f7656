"""Creates a challenge and its participants in a running service."""

import subprocess
import sys
from pathlib import Path

from django.conf import settings

from tests.flows.running import Running

JOIN = """
import sys, django; django.setup()
from server.accounts.models import User
from server.accounts.services import issue_token
from server.challenges.models import Challenge
from server.challenges.services import join
for name in sys.argv[1:]:
    user = User.objects.create_user(name, f"{name}@example.org", "correct horse battery")
    join(user=user, challenge=Challenge.objects.get(slug="flows"), accept_rules=True)
    print(issue_token(user=user, name="flows", scope="submit", days=1)[1])
"""

# The salt determines the bootstrap samples. With a known salt, tests can compute the same intervals as the service.
SALT = "0123456789abcdef" * 2
CHALLENGE = """
slug: flows
title: Flows
phases:
  - {slug: main, title: Main, track: openimages-detection, quota: {per_day: 1000, attempts_per_day: 1000}}
"""


def make_bundle(folder: Path, *, images: int) -> Path:
    """Write a challenge bundle and a submission `predictions.csv` to a folder, and return the folder."""
    words = [sys.executable, "-m", "evaluator", "synthesize", "openimages-detection", "--out", str(folder / "made")]
    subprocess.run([*words, "--images", str(images), "--quality", "0.7"], check=True, cwd=settings.BASE_DIR)
    (folder / "phases" / "main").mkdir(parents=True)
    (folder / "made" / "truth").rename(folder / "phases" / "main" / "truth")
    (folder / "phases" / "main" / "truth" / "salt.txt").write_text(f"{SALT}\n")
    (folder / "made" / "submissions" / "quality-0.70.csv").rename(folder / "predictions.csv")
    (folder / "challenge.yaml").write_text(CHALLENGE)
    return folder


def open_challenge(service: Running, bundle: Path, *people: str) -> None:
    """Import the bundle and add the given users to the challenge. `service` then sends requests as the first user."""
    imported = service.run("manage.py", "import_challenge", str(bundle))
    assert imported.returncode == 0, imported.stdout + imported.stderr
    joined = service.run("-c", JOIN, *people)
    service.tokens = joined.stdout.split()
    assert len(service.tokens) == len(people), joined.stderr
    service.token = service.tokens[0]
