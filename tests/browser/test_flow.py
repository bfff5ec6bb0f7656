"""In a browser, a person can sign up, join a challenge, submit a file and see its rank, with real processes."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.flows.running import Running

pytestmark = [pytest.mark.browser, pytest.mark.processes, pytest.mark.enable_socket]

CHALLENGE = """
slug: cats-and-dogs
title: Cats and dogs
summary: Find them.
phases:
  - {slug: main, title: Test, track: openimages-detection, feedback: {scores: exact, classes: true}}
"""
SCORING_MS = 60_000


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a challenge bundle. Submissions of three qualities are in a folder next to it."""
    folder = tmp_path_factory.mktemp("bundle")
    phase = folder / "phases" / "main"
    words = ["synthesize", "openimages-detection", "--out", str(phase), "--images", "60", "--seed", "5"]
    subprocess.run([sys.executable, "-m", "evaluator", *words], check=True, cwd=settings.BASE_DIR, capture_output=True)
    (folder / "challenge.yaml").write_text(CHALLENGE)
    (phase / "submissions").rename(folder.parent / f"{folder.name}-files")
    return folder


@pytest.fixture(scope="module")
def service(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("home"))
    try:
        running.start()
        done = running.run("manage.py", "import_challenge", str(made))
        assert done.returncode == 0, done.stderr
        yield running
    finally:
        running.stop()


def files(made: Path) -> list[Path]:
    return sorted(path for path in (made.parent / f"{made.name}-files").glob("*.csv") if "long" not in path.name)


def sign_up_and_join(page: Page, name: str) -> None:
    page.goto("/")
    page.get_by_role("link", name="Cats and dogs").click()
    page.get_by_role("link", name="Sign up to take part").click()
    page.get_by_label("Username").fill(name)
    page.get_by_label("Email").fill(f"{name}@example.org")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("main").get_by_role("button", name="Sign up").click()
    page.get_by_label("Team name").fill(f"Team {name}")
    page.get_by_label("I have read the rules").check()
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_text(f"as Team {name}.").first).to_be_visible()


def submit(page: Page, file: Path) -> None:
    page.goto("/challenges/cats-and-dogs/submit")
    page.set_input_files("input[type=file]", file)
    page.get_by_role("button", name="Submit file").click()
    page.wait_for_url("**/submissions/*/")


def test_from_signing_up_to_a_rank_on_the_leaderboard(service: Running, made: Path, window: Open) -> None:
    url = f"http://localhost:{service.port}"
    for name, file in zip(("ada", "grace"), files(made), strict=False):
        page = window(url).new_page()
        sign_up_and_join(page, name)
        submit(page, file)
        expect(page.locator(".honest-big")).to_be_visible(timeout=SCORING_MS)
        assert re.fullmatch(r"0\.\d{5}", page.locator(".honest-big").inner_text())
    page.get_by_role("link", name="Show it on the leaderboard").click()
    expect(page.locator("tr.mine")).to_contain_text("1 Team grace")
    expect(page.locator("tbody tr")).to_have_count(2)


def test_a_rejected_file_shows_its_defects_and_does_not_count_against_the_quota(
    service: Running, tmp_path: Path, window: Open
) -> None:
    page = window(f"http://localhost:{service.port}").new_page()
    sign_up_and_join(page, "linus")
    broken = tmp_path / "broken.csv"
    broken.write_text("ImageId,PredictionString\nimage,/m/01yrx nan 0 0 1 1\n")
    submit(page, broken)
    expect(page.locator("#defects")).to_be_visible(timeout=SCORING_MS)
    defect = page.locator(".defects section").filter(has_text="not_finite")
    expect(defect.locator("tbody tr")).to_contain_text("2 PredictionString image")
    expect(page.locator("#given-back")).to_be_visible()
    page.get_by_role("link", name="Submit a file").click()
    expect(page.locator(".quota")).to_contain_text("5 of 5 left today")
