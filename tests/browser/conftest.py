"""Fixtures that start Debian's chromium. If it is not installed, the tests are skipped; in CI they fail."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, sync_playwright
from pytest_django.live_server_helper import LiveServer

from server.accounts.models import User
from tests.browser.every_page import addresses, readers
from tests.server.conftest import scored

# These fixtures are imported because pytest looks for them in conftest.py.
__all__ = ["addresses", "readers", "scored"]

CHROMIUM = Path("/usr/bin/chromium")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
MISSING = f"BROWSER TESTS NOT RUN: {CHROMIUM} is missing; install it with apt-get install chromium"
TIMEOUT_MS = 15_000

Open = Callable[..., BrowserContext]


@pytest.fixture
def chromium(monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    if not CHROMIUM.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    # Playwright runs an event loop in this thread. Django would therefore refuse database queries without
    # DJANGO_ALLOW_ASYNC_UNSAFE.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture
def window(chromium: Browser) -> Open:
    """Return a function that opens a browser context with an empty profile: `window(base_url, width=390)`."""

    def start(base_url: str, *, width: int = 1440, **options: Any) -> BrowserContext:
        context = chromium.new_context(
            base_url=base_url, viewport={"width": width, "height": 900}, locale="en-GB", **options
        )
        context.set_default_timeout(TIMEOUT_MS)
        return context

    return start


@pytest.fixture
def visit(window: Open, live_server: LiveServer) -> Open:
    """Return a function that opens a browser context with a logged-in user: `visit(person, width=390)`.

    `person` is a user, or a test client with the cookies of a user. If it is omitted, nobody is logged in.
    """

    def start(person: User | Client | None = None, **options: Any) -> BrowserContext:
        context = window(live_server.url, **options)
        client = person if isinstance(person, Client) else Client()
        if isinstance(person, User):
            client.force_login(person)
        cookies = [
            {"name": one.key, "value": one.value, "domain": "localhost", "path": one["path"] or "/"}
            for one in client.cookies.values()
        ]
        context.add_cookies(cast(Any, cookies))
        return context

    return start
