"""Tests pages with axe-core, which finds violations of the Web Content Accessibility Guidelines (WCAG 2.2, AA)."""

from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page

from tests.browser.conftest import Open
from tests.browser.every_page import Reader

AXE = Path(settings.BASE_DIR) / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WIDTHS, SCHEMES = (390, 1440), ("light", "dark")

pytestmark = [pytest.mark.browser, pytest.mark.enable_socket]


def violations(page: Page, addresses: Iterable[str]) -> set[tuple[str, str, str]]:
    """Return (URL, rule, element) for each violation on these pages, in both schemes, in a narrow and a wide window."""
    found = set()
    for address in addresses:
        page.goto(address)
        found |= violations_of(page)
    return found


def violations_of(page: Page) -> set[tuple[str, str, str]]:
    """Return (URL, rule, element) for each violation on the open page, as :func:`violations` does."""
    found, size = set(), page.viewport_size
    page.evaluate(AXE.read_text())
    for width, scheme in product(WIDTHS, SCHEMES):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        result = page.evaluate("tags => axe.run({runOnly: tags})", TAGS)
        for rule in result["violations"]:
            found |= {(page.url, rule["id"], node["html"][:200]) for node in rule["nodes"]}
    page.emulate_media(color_scheme="null")
    if size is not None:
        page.set_viewport_size(size)
    return found


def test_a_picture_without_alternative_text_is_a_violation(visit: Open, db: None) -> None:
    page = visit().new_page()
    page.route("**/broken", lambda route: route.fulfill(body="<html><body><img src='data:,'></body></html>"))
    assert "image-alt" in {rule for _, rule, _ in violations(page, ["/broken"])}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_with_too_little_contrast_in_one_scheme_is_a_violation(scheme: str, visit: Open, db: None) -> None:
    style = f"@media (prefers-color-scheme: {scheme}) {{ p {{ color: #777; background: #666 }} }}"
    page = visit().new_page()
    page.route("**/broken", lambda route: route.fulfill(body=f"<style>{style}</style><p>Hard to read</p>"))
    assert "color-contrast" in {rule for _, rule, _ in violations(page, ["/broken"])}


def test_no_page_violates_the_guidelines(readers: list[Reader], visit: Open) -> None:
    found = set()
    for reader in readers:
        page = visit(reader.client).new_page()
        found |= violations(page, reader.addresses)
        page.context.close()
    assert found == set()
