"""In a browser, two people form a team, merge it with a third person's team, and submit a file.

They select the submission as final. Afterwards, one of them leaves the team.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from server.challenges.models import Phase, Team
from server.submissions.models import Submission
from server.submissions.services import leases, lifecycle
from tests.browser.conftest import Open
from tests.browser.person import Person
from tests.conftest import InlineQueue, Make

pytestmark = [
    pytest.mark.browser,
    pytest.mark.enable_socket,
    pytest.mark.phase(challenge={"slug": "c", "title": "Cats", "rules": "Be kind.", "team_max_size": 3}),
]
# Each case has browser options and a flag that is True if only the keyboard is used.
WAYS: list[tuple[dict[str, Any], bool]] = [
    ({}, False),
    ({"width": 390}, True),
    ({"width": 390, "java_script_enabled": False}, True),
]
TEAM, PASSWORD = "/challenges/c/team", "correct horse battery"


def button(person: Person, name: str) -> None:
    person.click(person.page.get_by_role("main").get_by_role("button", name=name))


def link(person: Person, name: str) -> None:
    person.click(person.page.get_by_role("main").get_by_role("link", name=name))


def check(person: Person, box: Locator) -> None:
    if person.keyboard:
        person.move_focus_to(box)
        person.page.keyboard.press("Space")
    else:
        box.check()
    expect(box).to_be_checked()


def accept_rules(person: Person) -> None:
    check(person, person.page.get_by_label("I have read the rules"))


def assert_fits(page: Page) -> None:
    size = page.viewport_size
    assert size is not None
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def record_score(phase: Phase) -> None:
    found = leases.claim(Submission, Submission.objects.get(status="queued").pk)
    assert found is not None
    split = {"headline": "mAP", "metrics": {"mAP": 0.5}, "intervals": {}, "classes": []}
    report = {"signature": phase.signature, "splits": {"public": split}}
    assert lifecycle.record(found, truth=phase.truth, report=report, cpu_seconds=1.0)


@pytest.mark.parametrize(("options", "keyboard"), WAYS)
def test_a_team_is_formed_merged_and_left(
    options: dict[str, Any],
    keyboard: bool,
    make: Make,
    phase: Phase,
    visit: Open,
    window: Open,
    live_server: LiveServer,
    inline_queue: InlineQueue,
    tmp_path: Path,
) -> None:
    eve_user = make.user(username="eve")
    make.team(phase.challenge, eve_user, name="Crows")
    ada = Person(visit(make.user(username="ada"), **options).new_page(), keyboard=keyboard)
    bob = Person(window(live_server.url, **options).new_page(), keyboard=keyboard)
    eve = Person(visit(eve_user, **options).new_page(), keyboard=keyboard)

    ada.page.goto("/challenges/c/rules")
    ada.enter("Team name", "Owls")
    accept_rules(ada)
    button(ada, "Join")
    ada.click(ada.page.get_by_role("navigation", name="Challenge").get_by_role("link", name="Team"))
    button(ada, "Create an invitation link")
    address = urlsplit(ada.page.locator(".secret code, .secret pre").first.inner_text().strip()).path

    bob.page.goto(address)
    assert urlsplit(bob.page.url).path == "/invitation"
    expect(bob.page.get_by_role("heading", name="Join Owls?")).to_be_visible()
    assert_fits(bob.page)
    link(bob, "Sign up")
    bob.enter("Username", "bob")
    bob.enter("Email", "bob@example.org")
    bob.enter("Password", PASSWORD)
    button(bob, "Sign up")
    accept_rules(bob)
    button(bob, "Join Owls")
    expect(bob.page.get_by_text("You are now in Owls")).to_be_visible()
    assert_fits(bob.page)

    ada.page.goto(TEAM)
    ada.enter("Name of the other team", "Crows")
    button(ada, "Preview the merge")
    expect(ada.page.get_by_text("A merge cannot be undone")).to_be_visible()
    assert_fits(ada.page)
    button(ada, "Propose this merge")
    expect(ada.page.get_by_text("You have proposed the merge.")).to_be_visible()
    eve.page.goto(TEAM)
    link(eve, "Review the proposal")
    button(eve, "Merge the teams permanently")
    expect(eve.page.get_by_role("heading", name="Owls")).to_be_visible()
    assert_fits(eve.page)

    file = tmp_path / "run.csv"
    file.write_text("ImageId,PredictionString\na,\n")
    bob.page.goto("/challenges/c/submit")
    bob.choose(bob.page.get_by_label("Drop your predictions here"), file)
    bob.click(bob.page.locator("form[data-upload] button[type=submit]"))
    expect(bob.page.locator(".status-queued")).to_be_visible()
    record_score(phase)
    bob.page.goto("/challenges/c/submissions")
    bob.click(bob.page.locator("button[role=switch]"))
    expect(bob.page.locator("button[role=switch][aria-checked=true]")).to_be_visible()

    bob.page.goto(TEAM)
    link(bob, "Leave the team")
    expect(bob.page.get_by_text("you can only return to this team")).to_be_visible()
    button(bob, "Leave the team")
    expect(bob.page.get_by_role("heading", name="You have no team yet")).to_be_visible()
    assert_fits(bob.page)
    owls = Team.objects.get(name="Owls")
    assert set(owls.memberships.values_list("user__username", flat=True)) == {"ada", "eve"}
    assert Submission.objects.get(team=owls).final

    bob.page.goto("/challenges/c/leaderboard")
    bob.click(bob.page.get_by_role("main").get_by_role("link", name="Owls"))
    expect(bob.page.get_by_text("2 members who are not named")).to_be_visible()
    assert_fits(bob.page)
