"""Tests pages in a browser: width, colour schemes, focus, content security policy, and use without JavaScript."""

import re
from datetime import UTC, datetime

import pytest
from pytest_django.live_server_helper import LiveServer

from server.accounts.models import User
from tests.browser.conftest import Open
from tests.browser.every_page import WITHOUT_ACCOUNT, Reader
from tests.conftest import Make

pytestmark = [pytest.mark.browser, pytest.mark.enable_socket, pytest.mark.member(username="w" * 60)]

WIDTHS = (390, 768, 1440)
# Chromium writes this message to the console for a 403 or 404 response. The tests ignore it.
REFUSAL = re.compile("^Failed to load resource: the server responded with a status of (403|404) ")


def test_no_page_is_wider_than_its_window_violates_the_policy_or_loads_anything_from_another_host(
    readers: list[Reader], visit: Open, live_server: LiveServer
) -> None:
    complaints: list[str] = []
    requested: list[str] = []
    wide = []
    for reader in readers:
        page = visit(reader.client).new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requested.append(request.url))
        for address in reader.addresses:
            page.goto(address)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                if page.evaluate("document.documentElement.scrollWidth") > width:
                    wide.append((address, width))
        page.context.close()
    assert wide == []
    assert [text for text in complaints if not REFUSAL.search(text)] == []
    assert {url for url in requested if not url.startswith((f"{live_server.url}/", "data:"))} == set()


@pytest.mark.parametrize("scripts", [True, False])
def test_account_forms_fit_a_phone_and_do_not_violate_the_policy(scripts: bool, visit: Open, db: None) -> None:
    page = visit(width=390, java_script_enabled=scripts).new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    for address in WITHOUT_ACCOUNT:
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert [text for text in complaints if not REFUSAL.search(text)] == []


def test_a_person_can_sign_up_with_only_the_keyboard(visit: Open, transactional_db: None) -> None:
    page = visit(java_script_enabled=False).new_page()
    page.goto("/accounts/signup?next=/accounts/")
    page.get_by_label("Username").focus()
    for typed in ("ada", "ada@example.org", "correct horse battery"):
        page.keyboard.type(typed)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/accounts/")


def test_the_tab_key_visits_the_links_of_the_header_in_order(visit: Open, db: None) -> None:
    page = visit().new_page()
    page.goto("/")
    visited = []
    for _ in range(5):
        page.keyboard.press("Tab")
        visited.append(page.evaluate("document.activeElement.textContent.trim()"))
    assert visited == ["Skip to content", "Podium", "Challenges", "Log in", "Sign up"]


def test_the_skip_link_moves_the_focus_to_the_content(visit: Open, db: None) -> None:
    page = visit().new_page()
    page.goto("/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_the_focus_is_visible(visit: Open, db: None) -> None:
    page = visit().new_page()
    page.goto("/accounts/login")
    ring = "(e => [getComputedStyle(e).outlineStyle, getComputedStyle(e).outlineWidth])(document.activeElement)"
    page.keyboard.press("Tab")
    assert page.evaluate(ring) == ["solid", "2px"]


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(251, 250, 247)"), ("dark", "rgb(16, 18, 22)")])
def test_the_colour_scheme_is_that_of_the_browser(scheme: str, paper: str, visit: Open, db: None) -> None:
    page = visit(color_scheme=scheme).new_page()
    page.goto("/")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper


def test_times_are_in_the_time_zone_of_the_browser_with_utc_on_hover(make: Make, visit: Open) -> None:
    make.phase(
        make.challenge(slug="c", opens_at=datetime(2026, 1, 1, tzinfo=UTC), closes_at=datetime(2099, 6, 1, tzinfo=UTC))
    )
    page = visit(timezone_id="Asia/Tokyo").new_page()
    page.goto("/challenges/c/")
    time = page.locator("main time[data-style=absolute]").first
    assert "09:00" in time.inner_text()
    assert time.get_attribute("title").endswith("2099-06-01 00:00:00 UTC")


def test_on_a_phone_the_current_tab_is_in_view(addresses: list[str], member: User, visit: Open) -> None:
    page = visit(member, width=390).new_page()
    page.goto("/challenges/c/team")
    box = page.locator(".tabs [aria-current]").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_on_a_phone_rank_team_and_score_are_on_the_first_line_of_an_entry(
    addresses: list[str], member: User, visit: Open
) -> None:
    page = visit(member, width=390).new_page()
    page.goto("/challenges/c/leaderboard")
    row = page.locator("tbody tr").first
    tops = [row.locator(f".{name}").first.bounding_box() for name in ("rank", "team", "score")]
    below = row.locator("[data-label='Submissions:']").bounding_box()
    assert below is not None
    for box in tops:
        assert box is not None
        assert box["y"] < below["y"]


def test_on_a_phone_the_header_has_room_for_the_username(addresses: list[str], member: User, visit: Open) -> None:
    page = visit(member, width=390).new_page()
    page.goto("/challenges/c/team")
    assert page.get_by_role("navigation", name="Podium").get_by_role("link", name="Challenges").count() == 0
    box = page.locator(".masthead .who").bounding_box()
    assert box is not None
    assert box["width"] >= 60


def test_on_a_tablet_file_names_and_notes_in_the_list_of_submissions_are_readable(
    addresses: list[str], member: User, visit: Open
) -> None:
    page = visit(member, width=768).new_page()
    page.goto("/challenges/c/submissions")
    name = page.get_by_role("link", name="predictions.csv", exact=True).first.bounding_box()
    note = page.get_by_placeholder("Add a note").first.bounding_box()
    assert name is not None
    assert note is not None
    # If the file name wrapped onto a second line, its element would be at least 30 pixels high.
    assert name["height"] < 30
    assert note["width"] >= 100


def test_without_scripts_buttons_that_need_them_are_hidden(addresses: list[str], member: User, visit: Open) -> None:
    page = visit(member, java_script_enabled=False).new_page()
    page.goto("/challenges/c/data")
    assert page.locator("button.copy:visible").count() == 0
    page.goto("/challenges/c/leaderboard")
    assert page.locator("tbody tr").count() == 2


def test_empty_boxes_take_no_space(addresses: list[str], member: User, visit: Open) -> None:
    page = visit(member, width=390).new_page()
    page.goto("/challenges/c/submit")
    assert page.evaluate("getComputedStyle(document.querySelector('#messages')).display") == "none"
    assert page.evaluate("getComputedStyle(document.querySelector('#refusal + *')).marginTop") == "0px"
