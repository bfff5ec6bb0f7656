"""An organizer runs a challenge in a browser, and the test checks after each action what a participant sees.

The organizer pauses and extends a phase, grants a team extra submissions, hides a submission, disqualifies a team,
publishes an announcement, freezes the leaderboard, and reveals the private scores.
"""

from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Page

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Extension, Phase, Team
from server.clock import database_now
from tests.browser.conftest import Open
from tests.conftest import Make
from tests.server.conftest import Scored

pytestmark = [
    pytest.mark.browser,
    pytest.mark.enable_socket,
    pytest.mark.phase(challenge={"slug": "c", "title": "Owls in flight"}, slug="main", title="Main phase"),
    pytest.mark.usefixtures("inline_queue"),
]
PHASE = "/organize/challenges/c/phases/main"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ACTIONS = {
    *("phase.paused", "phase.resumed", "phase.changed", "challenge.announced", "phase.revealed"),
    *("phase.reveal_taken_back", "team.quota_granted", "team.extended", "team.disqualified", "team.reinstated"),
    *("submission.hidden", "submission.unhidden"),
}


@pytest.fixture
def organizer(phase: Phase, make: Make) -> User:
    user = make.user(username="olga")
    phase.challenge.organizers.add(user)
    return user


@pytest.fixture
def owls(phase: Phase, member: User, make: Make, scored: Scored) -> Team:
    """Return the participant's team, which ranks second in a phase whose private scores are revealed manually."""
    Phase.objects.filter(pk=phase.pk).update(closes_at=database_now() + DAY, reveal=Phase.MANUAL)
    owls, bats = make.team(phase.challenge, member, name="Owls"), make.team(phase.challenge, name="Bats")
    scored(phase, 0.5, team=owls, private=0.25, file_name="owls.csv")
    scored(phase, 0.75, team=bats, private=0.125, file_name="bats.csv")
    return owls


def press(page: Page, button: str) -> None:
    page.get_by_role("button", name=button, exact=True).click()


def local(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}"


def ranking(participant: Page, split: str = "public") -> list[str]:
    """Return the names of the teams on the leaderboard that the participant sees, best first."""
    participant.goto(f"/challenges/c/leaderboard?split={split}")
    lines = participant.locator("table tbody th.team").all_inner_texts()
    return [name for line in lines for name in ("Owls", "Bats") if name in line]


def pause_and_resume(console: Page, participant: Page) -> None:
    console.goto(f"{PHASE}/intake")
    console.get_by_label("Reason").first.fill("A disk is being replaced.")
    press(console, "Pause submissions")
    console.get_by_text("Submissions are paused.").wait_for()
    participant.goto("/challenges/c/submit")
    participant.get_by_text("A disk is being replaced.").first.wait_for()
    press(console, "Resume submissions")
    console.get_by_text("Submissions are accepted again.").wait_for()
    participant.reload()
    assert participant.get_by_text("A disk is being replaced.").count() == 0


def extend_for_all(console: Page, until: datetime) -> None:
    console.goto(f"{PHASE}/intake")
    console.get_by_label("New end").fill(local(until))
    console.get_by_label("Reason").last.fill("The server was down.")
    press(console, "Extend for all teams")
    console.get_by_text("The phase was extended.").wait_for()
    assert Phase.objects.get().closes_at == until


def grant_and_extend_for_one(console: Page, participant: Page, owls: Team, until: datetime) -> None:
    """Find a team by name, grant it extra submissions, and extend the phase for it."""
    console.goto(f"{PHASE}/live")
    console.get_by_role("link", name="Teams", exact=True).click()
    console.get_by_label("Find a team").fill("owl")
    press(console, "Find")
    console.get_by_role("link", name="Owls", exact=True).click()
    quota = console.locator("section[aria-labelledby=quota]")
    quota.get_by_label("Submissions", exact=True).fill("3")
    quota.get_by_label("Reason", exact=True).fill("For the lost hours")
    press(console, "Grant submissions")
    console.get_by_text("Owls can now make more submissions.").wait_for()
    participant.goto("/challenges/c/team")
    participant.get_by_text("For the lost hours").first.wait_for()
    extension = console.locator("section[aria-labelledby=extend]")
    extension.get_by_label("New end").fill(local(until))
    extension.get_by_label("Reason", exact=True).fill("Their files were lost.")
    press(console, "Extend for this team")
    console.get_by_text("Owls can submit until the new end.").wait_for()
    assert Extension.objects.get(team=owls).until == until


def hide_and_unhide(console: Page, participant: Page) -> None:
    console.goto(f"{PHASE}/submissions")
    console.get_by_role("row", name="bats.csv").get_by_role("button", name="Hide").click()
    console.get_by_text("bats.csv of Bats is hidden from the leaderboards.").wait_for()
    assert ranking(participant) == ["Owls"]
    console.get_by_role("row", name="bats.csv").get_by_role("button", name="Unhide").click()
    console.get_by_text("bats.csv of Bats counts for the leaderboards again.").wait_for()
    assert ranking(participant) == ["Bats", "Owls"]


def disqualify_and_reinstate(console: Page, participant: Page) -> None:
    console.goto(f"{PHASE}/submissions")
    console.get_by_role("link", name="Bats", exact=True).click()
    form = console.locator("section[aria-labelledby=disqualify]")
    form.get_by_label("Reason", exact=True).fill("Two accounts")
    form.get_by_label("Show the reason to the team").uncheck()
    press(console, "Disqualify the team")
    console.get_by_text("Bats was disqualified.").wait_for()
    assert ranking(participant) == ["Owls"]
    form.get_by_label("Reason", exact=True).fill("They are siblings.")
    press(console, "Reinstate the team")
    console.get_by_text("Bats was reinstated.").wait_for()
    assert ranking(participant) == ["Bats", "Owls"]


def announce(console: Page, participant: Page) -> None:
    console.goto("/challenges/c/announcements")
    console.get_by_label("Title").fill("One more day")
    console.get_by_label("Text", exact=True).fill("The phase is **longer**.")
    press(console, "Preview")
    preview = console.get_by_role("region", name="Preview of the text")
    preview.locator("strong", has_text="longer").wait_for()
    press(console, "Publish announcement")
    console.get_by_text("The announcement was published.").wait_for()
    participant.goto("/challenges/c/announcements")
    participant.get_by_role("heading", name="One more day").wait_for()


def freeze(console: Page) -> None:
    console.goto(f"{PHASE}/edit")
    console.get_by_label("Leaderboard freezes").fill(local(database_now()))
    press(console, "Save")
    console.get_by_text("The changes were saved.").wait_for()


def reveal_after_a_cancelled_reveal(console: Page, participant: Page) -> None:
    """Reveal the private scores, cancel the reveal, reveal them again, and skip the time until they are shown."""
    for is_cancelled in (True, False):
        console.goto(f"{PHASE}/reveal")
        console.get_by_label("Type main to confirm").fill("main")
        press(console, "Reveal the private scores")
        console.get_by_role("button", name="Cancel the reveal").wait_for()
        assert participant.goto("/challenges/c/leaderboard?split=private").status == 403  # type: ignore[union-attr]
        if is_cancelled:
            press(console, "Cancel the reveal")
            console.get_by_label("Type main to confirm").wait_for()
    Phase.objects.update(reveals_at=database_now() - HOUR)
    assert ranking(participant, "private") == ["Owls", "Bats"]


@pytest.mark.parametrize("scripts", [True, False])
def test_acts_of_an_organizer_have_the_announced_effects_and_are_logged(
    scripts: bool, phase: Phase, organizer: User, member: User, owls: Team, visit: Open, scored: Scored
) -> None:
    console = visit(organizer, java_script_enabled=scripts).new_page()
    participant = visit(member, java_script_enabled=scripts).new_page()
    end = database_now().replace(microsecond=0) + 2 * DAY
    assert ranking(participant) == ["Bats", "Owls"]
    pause_and_resume(console, participant)
    extend_for_all(console, end)
    grant_and_extend_for_one(console, participant, owls, end + DAY)
    hide_and_unhide(console, participant)
    disqualify_and_reinstate(console, participant)
    announce(console, participant)

    freeze(console)
    scored(phase, 1.0, team=owls, private=0.5)
    assert ranking(participant) == ["Bats", "Owls"]

    past = database_now() - HOUR
    Extension.objects.update(until=past)
    Phase.objects.update(closes_at=past, extended_until=past)
    reveal_after_a_cancelled_reveal(console, participant)
    # The public leaderboard is no longer frozen, so it shows the new score of the team Owls.
    assert ranking(participant) == ["Owls", "Bats"]
    assert {one.action for one in Entry.objects.all() if one.actor == "olga"} >= ACTIONS
