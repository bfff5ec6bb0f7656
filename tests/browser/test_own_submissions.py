"""On a phone, a participant submits, annotates, filters, downloads and compares files, and selects the final ones."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.submissions.models import Submission
from server.submissions.services import leases, lifecycle
from tests.browser.conftest import Open
from tests.browser.person import Person
from tests.conftest import InlineQueue
from tests.server.conftest import Scored

pytestmark = [pytest.mark.browser, pytest.mark.enable_socket, pytest.mark.phase(challenge={"slug": "c"})]

CONTENT = b"ImageId,PredictionString\na,\n"
LIST = "/challenges/c/submissions"


def submit(person: Person, folder: Path, phase: Phase) -> Submission:
    """Submit a file on the submit page, and record a score of 0.6 for it."""
    file = folder / "run.csv"
    file.write_bytes(CONTENT)
    person.page.goto("/challenges/c/submit")
    person.choose(person.page.locator("input[type=file]"), file)
    person.click(person.page.locator("form[data-upload] button[type=submit], main form button[type=submit]").first)
    person.page.locator("#result .status-queued, #panel .status-queued").first.wait_for()
    submission = Submission.objects.get(file_name="run.csv")
    mine = leases.claim(Submission, submission.pk)
    assert mine is not None
    report = {
        "signature": phase.signature,
        "splits": {"public": {"headline": "mAP", "metrics": {"mAP": 0.6}, "intervals": {}}},
    }
    lifecycle.record(mine, truth=phase.truth, report=report, cpu_seconds=1.0)
    return submission


def choose_final(person: Person, row: str) -> None:
    switch = person.page.locator(f"{row} button[role=switch]")
    person.click(switch)
    person.page.locator(f"{row} button[role=switch][aria-checked=true]").wait_for()


def edit_note(person: Person, row: str) -> None:
    field = person.page.locator(f"{row} input[name=note]")
    if person.keyboard:
        person.move_focus_to(field)
    else:
        field.focus()
    person.page.keyboard.type("larger model")
    with person.page.expect_response(lambda answer: answer.url.endswith("/edit")):
        if person.keyboard:
            person.page.keyboard.press("Enter")
        else:
            person.click(person.page.locator(f"{row} .note-form button"))
    person.page.wait_for_load_state("networkidle")


def pick(person: Person, box: str) -> None:
    if person.keyboard:
        person.move_focus_to(person.page.locator(box))
        person.page.keyboard.press("Space")
    else:
        person.click(person.page.locator(box))


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


@pytest.mark.parametrize(("keyboard", "scripts"), [(True, True), (False, False)], ids=["keyboard", "without scripts"])
def test_a_person_manages_their_submissions_on_a_phone(
    keyboard: bool,
    scripts: bool,
    tmp_path: Path,
    member: User,
    phase: Phase,
    team: Team,
    scored: Scored,
    visit: Open,
    inline_queue: InlineQueue,
) -> None:
    other = scored(phase, 0.5, team=team, file_name="first.csv")
    page = visit(member, width=390, java_script_enabled=scripts, accept_downloads=True).new_page()
    person = Person(page, keyboard=keyboard)
    mine = submit(person, tmp_path, phase)
    row = f"#s-{mine.pk}"
    page.goto(LIST)
    choose_final(person, f"#s-{other.pk}")
    page.get_by_text("is not among your final submissions").wait_for()
    choose_final(person, row)
    page.get_by_text("is not among your final submissions").wait_for(state="hidden")
    edit_note(person, row)
    mine.refresh_from_db()
    assert (mine.note, mine.final) == ("larger model", True)
    page.goto(LIST)
    person.enter("Note, method or file", "larger")
    person.click(page.get_by_role("button", name="Filter"))
    page.get_by_text("Show all 2").wait_for()
    assert page.locator("tbody tr").count() == 1
    with page.expect_download() as download:
        person.click(page.locator(f"{row} a[download]"))
    assert Path(download.value.path()).read_bytes() == CONTENT
    assert fits(page)
    page.goto(LIST)
    for one in (mine, other):
        pick(person, f"#s-{one.pk} input[name=pick]")
    person.click(page.get_by_role("button", name="Compare two submissions"))
    page.get_by_role("heading", name="Compare two submissions").wait_for()
    assert page.locator("#a").input_value() == str(other.pk)
    assert page.locator("#b").input_value() == str(mine.pk)
    assert fits(page)


def test_arrow_keys_move_between_the_points_of_the_chart_and_show_their_values(
    member: User, phase: Phase, team: Team, scored: Scored, visit: Open
) -> None:
    ones = [scored(phase, value, team=team, interval=(value - 0.1, value + 0.1)) for value in (0.3, 0.4, 0.5)]
    page = visit(member, width=390).new_page()
    page.goto(LIST)
    person = Person(page, keyboard=True)
    person.move_focus_to(page.locator(".score-chart .plot a").last)
    page.keyboard.press("ArrowLeft")
    assert "0.40000 (95%: 0.3 to 0.5)" in page.locator(".score-chart .reading").inner_text()
    page.keyboard.press("Home")
    assert "0.30000" in page.locator(".score-chart .reading").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/submissions/{ones[0].pk}/")


def test_the_tabs_of_a_report_are_opened_by_keyboard_on_a_phone(
    member: User, phase: Phase, team: Team, scored: Scored, visit: Open
) -> None:
    Phase.objects.update(feedback_classes=True)
    one = scored(phase, 0.5, team=team)
    page = visit(member, width=390, java_script_enabled=False).new_page()
    page.goto(f"/submissions/{one.pk}/")
    assert page.locator(".honest-big").bounding_box()["y"] < 900  # type: ignore[index]
    for name in ("Curves", "Errors", "By class"):
        Person(page, keyboard=True).click(page.locator(".report-tabs").get_by_role("link", name=name))
        page.locator(".report-tabs [aria-current]", has_text=name).wait_for()
        assert fits(page)
