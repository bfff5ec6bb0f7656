"""An organizer adds, removes and puts back a baseline, with the mouse and with the keyboard alone."""

from pathlib import Path
from typing import Any

import pytest

from server.accounts.models import User
from server.challenges.models import Phase, Team
from tests.browser.conftest import Open
from tests.browser.person import Person
from tests.conftest import InlineQueue

pytestmark = [pytest.mark.browser, pytest.mark.enable_socket, pytest.mark.phase(challenge={"slug": "c"}, slug="main")]
WAYS = [({"width": 1440}, False), ({"width": 390, "color_scheme": "dark"}, True)]


@pytest.mark.parametrize(("options", "keyboard"), WAYS)
def test_a_baseline_is_added_removed_and_put_back(
    phase: Phase,
    member: User,
    visit: Open,
    inline_queue: InlineQueue,
    tmp_path: Path,
    options: dict[str, Any],
    keyboard: bool,
) -> None:
    phase.challenge.organizers.add(member)
    file = tmp_path / "center.csv"
    file.write_text("ImageId,PredictionString\na,\n")
    page = visit(member, **options).new_page()
    page.goto("/organize/challenges/c/phases/main/live")
    person = Person(page, keyboard=keyboard)
    person.click(page.get_by_role("link", name="Baselines"))
    page.get_by_text("This phase has no baselines.").wait_for()
    person.enter("Name", "Center")
    person.choose(page.get_by_label("Predictions file"), file)
    person.click(page.get_by_role("button", name="Add baseline"))
    page.get_by_text("center.csv was submitted for the baseline Center.").wait_for()
    person.click(page.get_by_role("button", name="Remove Center"))
    page.get_by_text("Center was removed from the leaderboards.").wait_for()
    assert Team.objects.get(is_baseline=True).disqualified_at is not None
    person.click(page.get_by_role("button", name="Put back Center"))
    page.get_by_text("Center is on the leaderboards again.").wait_for()
    assert Team.objects.get(is_baseline=True).disqualified_at is None
