"""A real browser: Debian's chromium, driven from here. Where there is none, the tests say so; in CI they fail."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.server.conftest import scored

__all__ = ["scored"]  # a fixture of the pages' and the API's tests, wanted here too

CHROMIUM = Path("/usr/bin/chromium")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
MISSING = f"BROWSER TESTS NOT RUN: {CHROMIUM} is missing; apt-get install chromium"
PATIENCE_MS = 15_000

Open = Callable[..., BrowserContext]


@pytest.fixture
def chromium(monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    if not CHROMIUM.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # the driver's loop runs in this thread, beside our queries
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture
def window(chromium: Browser) -> Open:
    """`window(base_url, width=390, …)`: a fresh profile; waiting for something gives up after a while."""

    def start(base_url: str, *, width: int = 1440, **options: Any) -> BrowserContext:
        context = chromium.new_context(
            base_url=base_url, viewport={"width": width, "height": 900}, locale="en-GB", **options
        )
        context.set_default_timeout(PATIENCE_MS)
        return context

    return start


@pytest.fixture
def visit(window: Open, live_server: Any) -> Open:
    """`visit(person, width=390)`: a window on the site of this test, logged in as this person."""

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
