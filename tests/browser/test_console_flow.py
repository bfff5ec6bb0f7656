"""Organizers follow links from the header to a failed submission and requeue it, with and without JavaScript."""

import pytest

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Phase
from server.clock import database_now
from tests.browser.conftest import Open
from tests.conftest import InlineQueue, Make

pytestmark = [
    pytest.mark.browser,
    pytest.mark.enable_socket,
    pytest.mark.phase(challenge={"slug": "c", "title": "Owls in flight"}, slug="main", title="Main phase"),
]


@pytest.mark.parametrize("scripts", [True, False])
def test_an_organizer_finds_a_failed_submission_and_queues_it_again(
    scripts: bool, make: Make, phase: Phase, member: User, visit: Open, inline_queue: InlineQueue
) -> None:
    phase.challenge.organizers.add(member)
    ended = {"status": "failed", "fault": "platform", "failure_code": "worker_lost", "failure": "Its worker stopped."}
    one = make.submission(phase, file_name="lost.csv", finished_at=database_now(), **ended)
    make.submission(phase, file_name="waiting.csv")
    page = visit(member, java_script_enabled=scripts).new_page()
    page.goto("/help/")
    page.get_by_role("navigation", name="Podium").get_by_role("link", name="Organize").click()
    page.get_by_role("link", name="Main phase").click()
    page.get_by_role("row", name="worker_lost").get_by_role("link", name="1").click()
    assert page.get_by_role("row", name="lost.csv").count() == 1
    assert page.get_by_role("row", name="waiting.csv").count() == 0
    page.get_by_role("row", name="lost.csv").get_by_role("button", name="Requeue").click()
    page.get_by_text("was queued again").wait_for()
    one.refresh_from_db()
    assert one.status == "queued"
    assert Entry.objects.get(action="submission.requeued").actor == member.username


def test_the_live_page_is_updated_without_reloading(
    make: Make, phase: Phase, member: User, visit: Open, inline_queue: InlineQueue
) -> None:
    phase.challenge.organizers.add(member)
    page = visit(member).new_page()
    page.goto("/organize/challenges/c/phases/main/live")
    page.evaluate("window.sameWindow = true")
    make.submission(phase)
    page.locator("#live").get_by_text("oldest received").wait_for()
    assert page.evaluate("window.sameWindow")
