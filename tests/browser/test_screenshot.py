"""Takes the screenshot of the demo's leaderboard for the README, if PODIUM_SCREENSHOT=1 is set."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests.browser.conftest import Open
from tests.flows.running import NOT_INHERITED, free_port

pytestmark = [
    pytest.mark.browser,
    pytest.mark.processes,
    pytest.mark.enable_socket,
    pytest.mark.skipif(os.environ.get("PODIUM_SCREENSHOT") != "1", reason="only with PODIUM_SCREENSHOT=1"),
]

SCREENSHOT = Path(settings.BASE_DIR) / "screenshot.png"


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Run the demo, and yield its URL and the password of its users."""
    url = f"http://localhost:{(port := free_port())}"
    kept = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    given = {"PODIUM_HOME": str(tmp_path / "home"), "PODIUM_PORT": str(port), "PODIUM_URL": url}
    process = subprocess.Popen(
        [sys.executable, "-u", "manage.py", "demo"],
        cwd=settings.BASE_DIR,
        env={**kept, **given},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = ""
        while "Ctrl-C" not in said:
            said += (line := process.stdout.readline())
            assert line, said
        password = re.search(r"password\s+(\S+)", said)
        assert password is not None
        yield url, password.group(1)
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_the_screenshot_is_taken(demo: tuple[str, str], window: Open) -> None:
    url, password = demo
    page = window(url, width=1280, color_scheme="light", device_scale_factor=1.5).new_page()
    page.set_viewport_size({"width": 1280, "height": 860})
    page.goto("/accounts/login")
    page.get_by_label("Username").fill("participant")
    page.get_by_label("Password").fill(password)
    page.get_by_role("main").get_by_role("button", name="Log in").click()
    page.goto("/challenges/demo-detection/leaderboard")
    page.locator("tr.mine").wait_for()
    page.screenshot(path=SCREENSHOT)
    assert SCREENSHOT.stat().st_size > 0
