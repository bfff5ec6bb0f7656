"""With and without JavaScript, organizers edit a challenge and its phases, and confirm an edit that ends a phase."""

from datetime import UTC, datetime

import pytest

from server.accounts.models import User
from server.challenges.models import Challenge, Phase
from server.clock import database_now
from tests.browser.conftest import Open

pytestmark = [
    pytest.mark.browser,
    pytest.mark.enable_socket,
    pytest.mark.phase(challenge={"slug": "c", "title": "Owls in flight"}, slug="main", title="Main phase"),
]
EDIT, SETTINGS = "/organize/challenges/c/edit", "/organize/challenges/c/phases/main/edit"


@pytest.fixture
def owner(phase: Phase, member: User) -> User:
    phase.challenge.organizers.add(member)
    return member


def test_the_preview_follows_what_is_typed(owner: User, visit: Open) -> None:
    page = visit(owner).new_page()
    page.goto(EDIT)
    page.get_by_label("Rules", exact=True).fill("# Be **fair**")
    page.get_by_role("region", name="Preview of rules").get_by_role("heading", name="Be fair").wait_for()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("The changes were saved.").wait_for()
    assert Challenge.objects.get().rules == "# Be **fair**"


def test_without_scripts_a_button_shows_the_preview(owner: User, visit: Open) -> None:
    page = visit(owner, java_script_enabled=False).new_page()
    page.goto(EDIT)
    page.get_by_label("Rules", exact=True).fill("# Be **fair**")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("region", name="Preview of rules").get_by_role("heading", name="Be fair").wait_for()
    assert Challenge.objects.get().rules == ""
    page.get_by_role("button", name="Save").click()
    assert Challenge.objects.get().rules == "# Be **fair**"


@pytest.mark.parametrize("scripts", [True, False])
def test_an_edit_that_ends_a_phase_is_saved_after_its_name_is_typed(scripts: bool, owner: User, visit: Open) -> None:
    page = visit(owner, java_script_enabled=scripts).new_page()
    page.goto(SETTINGS)
    page.get_by_label("Closes").fill(f"{database_now():%Y-%m-%dT%H:%M:%S}")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("phase main would end immediately").first.wait_for()
    assert Phase.objects.get().closes_at is None
    page.get_by_label("Type main to confirm").fill("main")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("The changes were saved.").wait_for()
    assert Phase.objects.get().has_closed(datetime.now(UTC))


def test_a_date_is_also_shown_in_the_time_zone_of_the_viewer(owner: User, visit: Open) -> None:
    page = visit(owner, timezone_id="Asia/Tokyo").new_page()
    page.goto(SETTINGS)
    page.get_by_label("Closes").fill("2099-06-01T20:00:00")
    page.get_by_text("2 Jun 2099, 05:00 in Asia/Tokyo").wait_for()
