"""In a browser, with and without JavaScript, users submit files, follow their progress, and edit submissions."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings

from server.accounts.models import User
from server.challenges.models import Phase
from server.submissions.models import Rerun, Submission
from server.submissions.services import leases, lifecycle, reruns
from tests.browser.conftest import Open
from tests.conftest import InlineQueue, Make
from tests.server.conftest import Scored, explain
from tests.server.pages.test_report import CONTENT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.enable_socket,
    pytest.mark.phase(challenge={"slug": "c"}),
    pytest.mark.usefixtures("team"),
]

FILE = {"name": "run.csv", "mimeType": "text/csv", "buffer": b"ImageId,PredictionString\na,\n"}


def report(phase: Phase, **intervals: list[float]) -> dict[str, Any]:
    split = {"headline": "mAP", "metrics": {"mAP": 0.5}, "intervals": intervals, "classes": []}
    return {"signature": phase.signature, "splits": {"public": split}}


def test_the_page_of_a_submission_is_updated_until_score_and_interval_are_shown(
    make: Make, phase: Phase, member: User, visit: Open, inline_queue: InlineQueue
) -> None:
    submission = make.submission(phase, phase.challenge.teams.get())
    page = visit(member).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/panel" in request.url else None)
    page.goto(f"/submissions/{submission.pk}/")
    page.evaluate("window.sameWindow = true")
    mine = leases.claim(Submission, submission.pk)
    assert mine is not None
    lifecycle.report_progress(mine, stage="matching", progress=0.4)
    page.locator("progress[value='40']").wait_for()
    page.locator("#cancel").focus()
    lifecycle.report_progress(mine, stage="scoring", progress=0.8)
    page.locator("progress[value='80']").wait_for()
    assert page.evaluate("document.activeElement.id") == "cancel"
    lifecycle.record(mine, truth=phase.truth, report=report(phase), cpu_seconds=1.0)
    page.locator(".honest-big").wait_for()
    assert page.locator(".honest-big").inner_text() == "0.50000"
    assert "scored" in page.locator("#announcement").inner_text()
    rerun = leases.claim(Rerun, submission.reruns.get().pk)
    assert rerun is not None
    reruns.record(rerun, report=report(phase, mAP=[0.4, 0.6]), replicates={}, cpu_seconds=1.0)
    page.get_by_text("95%: 0.4 to 0.6").wait_for()
    assert page.evaluate("window.sameWindow")
    before = len(asked)
    page.wait_for_timeout(1500)
    assert len(asked) == before


def test_an_explanation_appears_without_reloading_and_a_class_shows_its_curve(
    make: Make, phase: Phase, member: User, visit: Open, scored: Scored, inline_queue: InlineQueue
) -> None:
    Phase.objects.update(feedback_classes=True)
    one = scored(phase, 0.5, team=phase.challenge.teams.get())
    reruns.request([one], truth=phase.truth, purpose=Rerun.Purpose.EXPLANATION)
    page = visit(member).new_page()
    page.goto(f"/submissions/{one.pk}/report/curves")
    assert page.locator(".chart").count() == 0
    explain(one, CONTENT)
    Rerun.objects.all().delete()
    page.locator(".chart .curve").wait_for()
    page.get_by_role("link", name="By class").click()
    page.get_by_role("link", name="Cat").click()
    page.locator(".chart .curve.own").wait_for()
    assert page.locator(".chart .curve").count() == 2


def test_the_submit_page_shows_the_progress_of_a_submitted_file(
    phase: Phase, member: User, visit: Open, inline_queue: InlineQueue
) -> None:
    page = visit(member).new_page()
    page.goto("/challenges/c/submit")
    page.set_input_files("input[type=file]", FILE)
    assert "run.csv · 28 B" in page.locator("[data-chosen]").inner_text()
    page.fill("input[name=note]", "first")
    page.locator("form[data-upload] button[type=submit]").click()
    page.locator("#result .status-queued").wait_for()
    page.locator("#beside rect.used").wait_for()
    submission = Submission.objects.get()
    assert submission.note == "first"
    mine = leases.claim(Submission, submission.pk)
    assert mine is not None
    lifecycle.record(mine, truth=phase.truth, report=report(phase), cpu_seconds=1.0)
    page.locator("#result .honest-big").wait_for()
    page.locator("#result").get_by_role("link", name="run.csv").click()
    assert page.locator("h1").inner_text() == "run.csv"


def test_a_refused_file_remains_selected_in_the_form(
    phase: Phase, member: User, visit: Open, inline_queue: InlineQueue
) -> None:
    page = visit(member).new_page()
    page.goto("/challenges/c/submit")
    page.set_input_files("input[type=file]", FILE)
    phase.closes_at = datetime.now(UTC) - timedelta(minutes=1)
    phase.save()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method))
    page.locator("form[data-upload] button[type=submit]").click()
    page.locator("#refusal .code").wait_for()
    assert page.locator("#refusal .code").inner_text() == "phase_closed"
    assert asked == ["GET"]  # The browser sent a GET request but no POST request, so the file was not uploaded.
    assert page.evaluate("document.querySelector('input[type=file]').files[0].name") == "run.csv"


def test_a_duplicate_file_is_refused_on_the_same_page(
    phase: Phase, member: User, visit: Open, inline_queue: InlineQueue
) -> None:
    page = visit(member).new_page()
    for expected in ("#result .status-queued", "#refusal .code"):
        page.goto("/challenges/c/submit")
        page.set_input_files("input[type=file]", FILE)
        page.locator("form[data-upload] button[type=submit]").click()
        page.locator(expected).wait_for()
    assert page.locator("#refusal .code").inner_text() == "duplicate_file"


def test_a_file_that_is_too_large_is_refused_before_the_upload(
    phase: Phase, member: User, visit: Open, settings: Settings
) -> None:
    settings.UPLOAD_MAX_BYTES = 10
    page = visit(member).new_page()
    page.goto("/challenges/c/submit")
    page.set_input_files("input[type=file]", FILE)
    assert "10 B" in page.locator("#refusal").inner_text()
    assert page.locator("form[data-upload] button[type=submit]").is_disabled()


def test_a_file_can_be_dropped(phase: Phase, member: User, visit: Open, inline_queue: InlineQueue) -> None:
    page = visit(member).new_page()
    page.goto("/challenges/c/submit")
    page.evaluate(
        """() => {
            const data = new DataTransfer();
            data.items.add(new File(["ImageId,PredictionString\\n"], "dropped.csv"));
            document.querySelector("[data-drop]").dispatchEvent(
                new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }"""
    )
    page.locator("form[data-upload] button[type=submit]").click()
    page.locator("#result").get_by_role("link", name="dropped.csv").wait_for()


def test_a_file_is_submitted_without_scripts(
    phase: Phase, member: User, visit: Open, inline_queue: InlineQueue
) -> None:
    page = visit(member, java_script_enabled=False).new_page()
    page.goto("/challenges/c/submit")
    page.set_input_files("input[type=file]", FILE)
    page.locator("form[data-upload] button[type=submit]").click()
    assert page.locator("h1").inner_text() == "run.csv"
    assert page.locator(".status-queued").is_visible()


def test_a_note_can_be_edited_without_reloading(phase: Phase, member: User, scored: Scored, visit: Open) -> None:
    submission = scored(phase, 0.5, team=phase.challenge.teams.get())
    page = visit(member).new_page()
    page.goto("/challenges/c/submissions")
    page.evaluate("window.sameWindow = true")
    page.fill("input[name=note]", "bigger model")
    with page.expect_response("**/challenges/c/submissions"):
        page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('input[name=note]').getAttribute('value') === 'bigger model'")
    submission.refresh_from_db()
    assert submission.note == "bigger model"
    assert page.evaluate("window.sameWindow")


def test_one_final_submission_too_many_is_refused_without_reloading(
    phase: Phase, member: User, scored: Scored, visit: Open
) -> None:
    team = phase.challenge.teams.get()
    for _ in range(phase.finals):
        scored(phase, 0.5, team=team, final=True)
    scored(phase, 0.6, team=team)
    page = visit(member).new_page()
    page.goto("/challenges/c/submissions")
    page.evaluate("window.sameWindow = true")
    page.locator("button[role=switch][aria-checked=false]").click()
    page.locator("#refusal .code").wait_for()
    assert page.locator("#refusal .code").inner_text() == "invalid"
    assert page.locator("button[role=switch][aria-checked=true]").count() == phase.finals
    assert page.evaluate("window.sameWindow")


def test_a_signature_can_be_copied(phase: Phase, member: User, scored: Scored, visit: Open) -> None:
    submission = scored(phase, 0.5, team=phase.challenge.teams.get())
    page = visit(member, permissions=["clipboard-read", "clipboard-write"]).new_page()
    page.goto(f"/submissions/{submission.pk}/")
    page.get_by_role("button", name="Copy the signature").click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == phase.signature
