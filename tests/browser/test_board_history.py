"""Tests a leaderboard's history in a browser: the slider for earlier days, the marks for changes, and the chart."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Open
from tests.conftest import Make
from tests.server.conftest import Scored

pytestmark = [pytest.mark.browser, pytest.mark.enable_socket]

FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
BOARD, HISTORY = "/challenges/c/leaderboard", "/challenges/c/leaderboard/history"


@pytest.fixture
def board(transactional_db: Any, make: Make, scored: Scored) -> None:
    """Create two teams whose leaderboard entries have changed on three earlier days and today."""
    phase = make.phase(make.challenge(slug="c", opens_at=FIRST - DAY))
    owls, foxes = (make.team(phase.challenge, name=name) for name in ("Owls", "Foxes"))
    for team, score, day in ((owls, 0.5, 0), (foxes, 0.4, 1), (owls, 0.6, 4)):
        scored(phase, score, team=team, at=FIRST + day * DAY)
    scored(phase, 0.7, team=foxes)


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


def test_arrow_keys_choose_a_day_and_the_slider_keeps_the_focus(board: None, visit: Open) -> None:
    page = visit().new_page()
    page.goto(BOARD)
    slider = page.get_by_label("Day")
    slider.focus()
    for value in ("5 Mar 2026", "2 Mar 2026"):
        page.keyboard.press("ArrowLeft")
        assert slider.get_attribute("aria-valuetext") == page.locator(".day-slider output").inner_text() == value
    page.wait_for_url("**at=2026-03-02T23:59:59")
    assert page.locator("tbody .team").all_inner_texts() == ["Owls", "Foxes"]
    assert slider.get_attribute("aria-valuetext") == "2 Mar 2026"
    page.wait_for_function("document.activeElement.id == 'day'")
    page.keyboard.press("End")
    page.wait_for_url("**/leaderboard?split=public")
    assert slider.get_attribute("aria-valuetext") == "Now"


def test_without_scripts_the_day_is_chosen_in_a_date_field(board: None, visit: Open) -> None:
    page = visit(java_script_enabled=False).new_page()
    page.goto(BOARD)
    assert page.locator("#day:visible").count() == 0
    page.get_by_text("Exact time").click()
    page.get_by_label("As of (UTC)").fill("2026-03-02T23:59:59")
    page.get_by_role("button", name="Show").click()
    assert page.locator("tbody tr").count() == 2
    assert page.locator("#at").input_value() == "2026-03-02T23:59:59"


def test_on_a_phone_the_mark_of_a_change_is_next_to_the_name(board: None, visit: Open) -> None:
    page = visit(width=390).new_page()
    page.goto(BOARD)
    name, mark, folded = (
        page.locator(f"tbody tr:first-child {part}").bounding_box()
        for part in (".team a", ".change", "[data-label='Submissions:']")
    )
    assert name is not None
    assert mark is not None
    assert folded is not None
    assert name["x"] + name["width"] <= mark["x"]
    assert mark["y"] + mark["height"] <= folded["y"]


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_the_chart_fills_its_box_and_its_texts_keep_their_size(board: None, visit: Open, width: int) -> None:
    page = visit(width=width).new_page()
    page.goto(f"{HISTORY}?chart=rank")
    drawing, plot, ends = (page.locator(f".drawing {part}").bounding_box() for part in ("", ".plot", ".ends"))
    assert drawing is not None
    assert plot is not None
    assert ends is not None
    assert plot["width"] > drawing["width"] - 100
    assert ends["x"] + ends["width"] <= drawing["x"] + drawing["width"] + 1
    assert page.evaluate("getComputedStyle(document.querySelector('.times text')).fontSize") == "11px"


def test_the_values_of_a_moment_are_shown_on_hover(board: None, visit: Open) -> None:
    page = visit().new_page()
    page.goto(HISTORY)
    titles = page.locator(".band title").all_text_contents()
    assert titles[1].split("\n") == ["2 Mar 2026, 12:00 UTC", "0.50000  Owls", "0.40000  Foxes"]
    fill = "getComputedStyle(document.querySelector('.band')).fillOpacity"
    before = page.evaluate(fill)
    page.locator(".band").first.hover(force=True)
    assert page.evaluate(fill) != before
