"""An organizer blocks and unblocks a person, with the mouse and with the keyboard alone."""

from typing import Any

import pytest

from server.accounts.models import User
from server.challenges.models import Block, Phase
from tests.browser.conftest import Open
from tests.browser.person import Person
from tests.conftest import Make

pytestmark = [pytest.mark.browser, pytest.mark.enable_socket, pytest.mark.phase(challenge={"slug": "c"}, slug="main")]
WAYS = [({"width": 1440}, False), ({"width": 390, "color_scheme": "dark"}, True)]


@pytest.mark.parametrize(("options", "keyboard"), WAYS)
def test_a_person_is_blocked_and_unblocked(
    phase: Phase, member: User, make: Make, visit: Open, options: dict[str, Any], keyboard: bool
) -> None:
    phase.challenge.organizers.add(member)
    make.user(username="eve")
    page = visit(member, **options).new_page()
    page.goto("/organize/challenges/c")
    person = Person(page, keyboard=keyboard)
    person.click(page.get_by_role("link", name="Blocked people"))
    page.get_by_text("Nobody is blocked.").wait_for()
    person.enter("Username", "eve")
    person.enter("Reason", "A second account")
    person.click(page.get_by_role("button", name="Block", exact=True))
    page.get_by_text("eve is blocked.").wait_for()
    assert Block.objects.get().reason == "A second account"
    person.click(page.get_by_role("button", name="Unblock eve"))
    page.get_by_text("eve can join the challenge again.").wait_for()
    assert not Block.objects.exists()
