"""Fixtures that start Debian's chromium. If it is not installed, the tests are skipped; in CI they fail."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, sync_playwright
from pytest_django.live_server_helper import LiveServer

from tests.server.conftest import scored

__all__ = ["scored"]  # a fixture for pages and API

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
    # Playwright runs an event loop in this thread, in which Django would otherwise refuse database queries.
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
    """Return a function that opens a browser context logged in as a person: `visit(person, width=390)`."""

    def start(person: Any = None, **options: Any) -> BrowserContext:
        context = window(live_server.url, **options)
        if person is not None:
            client = Client()
            client.force_login(person)
            context.add_cookies(
                [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
            )
        return context

    return start
