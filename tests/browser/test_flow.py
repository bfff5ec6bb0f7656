"""In a browser, with real processes, a user signs up, submits a file with six clicks, and sees its score and rank."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.person import Person
from tests.flows.running import Running, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.processes, pytest.mark.enable_socket]

CHALLENGE = """
slug: cats-and-dogs
title: Cats and dogs
summary: Find them.
phases:
  - {slug: main, title: Test, track: openimages-detection, feedback: {scores: exact, classes: true}}
"""
SCORING_MS = 60_000
MOST_CLICKS = 6
# Each case has a username, browser options and a flag that is True if only the keyboard is used.
WAYS: list[tuple[str, dict[str, Any], bool]] = [
    ("ada", {}, False),
    ("grace", {"width": 390}, False),
    ("linus", {}, True),
    ("edsger", {"java_script_enabled": False}, False),
    ("barbara", {"java_script_enabled": False, "width": 390}, True),
]


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
    """Start a service that requires confirmed email addresses. It writes its emails to the log of the web process."""
    running = Running(tmp_path_factory.mktemp("home"), CONFIRM_EMAIL="true")
    running.environment["PODIUM_URL"] = f"http://localhost:{running.port}"
    try:
        running.start()
        done = running.run("manage.py", "import_challenge", str(made))
        assert done.returncode == 0, done.stderr
        yield running
    finally:
        running.stop()


def files(made: Path) -> list[Path]:
    return sorted(path for path in (made.parent / f"{made.name}-files").glob("*.csv") if "long" not in path.name)


def link_in_mail(service: Running, name: str) -> str:
    """Return the link in the email that confirms the address of an account."""
    address = re.escape(f"http://localhost:{service.port}/accounts/confirm/")
    mail = re.compile(rf"^To: {name}@example\.org$.*?^({address}\S+)$", re.MULTILINE | re.DOTALL)
    found = wait_for(lambda: mail.search((service.home / "logs" / "web.log").read_text()))
    return str(found[1])


def sign_up(person: Person, service: Running, name: str) -> None:
    """Go from the front page to the submit page of the challenge, with a new account."""
    page = person.page
    page.goto("/")
    person.click(page.get_by_role("link", name="Cats and dogs"))
    person.click(page.get_by_role("link", name="Sign up to take part"))
    person.enter("Username", name)
    person.enter("Email", f"{name}@example.org")
    person.enter("Password", "correct horse battery")
    person.click(page.get_by_role("main").get_by_role("button", name="Sign up"))
    expect(page.get_by_role("heading", name="Check your email")).to_be_visible()
    person.open_mail(link_in_mail(service, name))


def submit(person: Person, file: Path) -> None:
    page = person.page
    person.choose(page.get_by_label("Drop your predictions here"), file)
    person.click(page.locator("form[data-upload] button[type=submit]"))


@pytest.mark.parametrize(("name", "options", "keyboard"), WAYS)
def test_six_clicks_lead_from_the_front_page_to_a_score(
    name: str, options: dict[str, Any], keyboard: bool, service: Running, made: Path, window: Open
) -> None:
    page: Page = window(f"http://localhost:{service.port}", **options).new_page()
    person = Person(page, keyboard=keyboard)
    sign_up(person, service, name)
    person.enter("Team name", f"Team {name}")
    submit(person, files(made)[0])
    expect(page.locator(".honest-big")).to_be_visible(timeout=SCORING_MS)
    assert re.fullmatch(r"0\.\d{5}", page.locator(".honest-big").inner_text())
    assert person.clicks <= MOST_CLICKS
    page.get_by_role("link", name="Show on the leaderboard").click()
    expect(page.locator("tr.mine .team")).to_contain_text(f"Team {name}")


def test_a_rejected_file_shows_its_defects_and_does_not_count_against_the_quota(
    service: Running, tmp_path: Path, window: Open
) -> None:
    page = window(f"http://localhost:{service.port}").new_page()
    person = Person(page)
    sign_up(person, service, "alan")
    broken = tmp_path / "broken.csv"
    broken.write_text("ImageId,PredictionString\nimage,/m/01yrx nan 0 0 1 1\n")
    submit(person, broken)
    expect(page.locator("#defects")).to_be_visible(timeout=SCORING_MS)
    defect = page.locator(".defects section").filter(has_text="not_finite")
    expect(defect.locator("tbody tr")).to_contain_text("2 PredictionString image")
    expect(page.locator("#given-back")).to_be_visible()
    page.goto("/challenges/cats-and-dogs/submit")
    expect(page.locator(".quota")).to_contain_text("5 of 5 left today")


HEADER = "ImageId,PredictionString\n"
DEFECTS = 20  # Number of defects of each kind in the uploaded file, which has three kinds of defects.


def test_a_file_with_sixty_defects_lists_them_by_kind(service: Running, tmp_path: Path, window: Open) -> None:
    page = window(f"http://localhost:{service.port}", width=390).new_page()
    person = Person(page)
    sign_up(person, service, "frances")
    lines = ["/m/01yrx nan 0 0 1 1", "/m/01yrx 0.5 0 0", "/m/01yrx high 0 0 1 1"] * DEFECTS
    broken = tmp_path / "sixty.csv"
    broken.write_text(HEADER + "".join(f"image{number},{line}\n" for number, line in enumerate(lines)))
    person.choose(page.get_by_label("Drop your predictions here"), broken)
    expect(page.locator("#first-part li")).to_have_count(5)
    person.click(page.locator("form[data-upload] button[type=submit]"))
    expect(page.locator("#defects")).to_be_visible(timeout=SCORING_MS)
    for code in ("not_finite", "bad_tokens", "not_a_number"):
        section = page.locator(".defects section").filter(has_text=code)
        expect(section.locator("tbody tr")).to_have_count(DEFECTS)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("#beside .quota")).to_contain_text("5 of 5 left today")


def in_pixels(file: Path, folder: Path) -> Path:
    """Write a copy of a submission whose coordinates are pixels instead of fractions."""
    lines = [HEADER.strip()]
    for line in file.read_text().splitlines()[1:]:
        image, _, string = line.partition(",")
        tokens = string.split()
        tokens = [token if place % 6 < 2 else str(round(500 * float(token)) + 9) for place, token in enumerate(tokens)]
        lines.append(f"{image},{' '.join(tokens)}")
    pixels = folder / "pixels.csv"
    pixels.write_text("\n".join(lines) + "\n")
    return pixels


@pytest.mark.parametrize(("name", "options", "keyboard"), [("radia", {}, False), ("joan", {"width": 390}, True)])
def test_coordinates_in_pixels_are_noticed_and_use_no_quota_unless_the_file_is_submitted_anyway(
    name: str, options: dict[str, Any], keyboard: bool, service: Running, made: Path, tmp_path: Path, window: Open
) -> None:
    page = window(f"http://localhost:{service.port}", **options).new_page()
    person = Person(page, keyboard=keyboard)
    sign_up(person, service, name)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    person.choose(page.get_by_label("Drop your predictions here"), in_pixels(files(made)[0], tmp_path))
    expect(page.locator("#first-part")).to_contain_text("Are these pixels?")
    assert "POST" not in sent
    person.click(page.locator("form[data-upload] button[type=submit]"))
    expect(page.locator("#result #defects")).to_be_visible(timeout=SCORING_MS)
    expect(page.locator(".defects")).to_contain_text("nothing_to_score")
    expect(page.locator("#notices")).to_contain_text("Are these pixels?")
    expect(page.locator("#beside .quota")).to_contain_text("5 of 5 left today")
    address = page.url
    person.click(page.locator("#submit-anyway"))
    expect(page.locator("#result .honest-big")).to_have_text("0.00000", timeout=SCORING_MS)
    expect(page.locator("#beside .quota")).to_contain_text("4 of 5 left today")
    assert page.url == address
    assert page.evaluate("document.documentElement.scrollWidth") <= options.get("width", 1440)


def test_a_file_with_pixels_can_be_submitted_anyway_without_javascript(
    service: Running, made: Path, tmp_path: Path, window: Open
) -> None:
    page = window(f"http://localhost:{service.port}", java_script_enabled=False).new_page()
    person = Person(page)
    sign_up(person, service, "hedy")
    submit(person, in_pixels(files(made)[0], tmp_path))
    expect(page.locator("#defects")).to_be_visible(timeout=SCORING_MS)
    person.click(page.locator("#submit-anyway"))
    expect(page.locator(".honest-big")).to_have_text("0.00000", timeout=SCORING_MS)
