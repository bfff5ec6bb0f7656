"""Tests the status panel on a submission's page, which is updated while the submission is queued or running."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from server.challenges.models import Phase, Team
from server.submissions.models import Submission
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.page import Page
from tests.server.pages.test_submission import page_of, running

NOW = datetime.now(UTC)


pytestmark = [
    pytest.mark.phase(challenge={"slug": "c"}, closes_at=NOW + timedelta(days=1)),
    pytest.mark.team(name="Owls"),
]


def panel_of(client: Client, submission: Submission, seen: str = "") -> Any:
    return client.get(f"/submissions/{submission.pk}/panel", {"seen": seen})


def test_the_panel_of_a_queued_submission_polls_for_updates_every_second(
    make: Make, phase: Phase, team: Team, client: Client
) -> None:
    submission = make.submission(phase, team)
    panel = page_of(client, submission).all("div", id="panel")[0]
    assert panel["hx-get"] == f"/submissions/{submission.pk}/panel?seen=queued"
    assert panel["hx-trigger"] == "every 1s"


def test_without_javascript_the_page_reloads(make: Make, phase: Phase, team: Team, client: Client) -> None:
    page = page_of(client, make.submission(phase, team))
    assert page.all("meta", http_equiv="refresh", content="5")
    assert page.all("noscript")


def test_an_unchanged_panel_is_not_sent(make: Make, phase: Phase, team: Team, client: Client) -> None:
    assert panel_of(client, make.submission(phase, team), "queued").status_code == 204


def test_a_running_submission_shows_its_stage_and_progress(
    make: Make, phase: Phase, team: Team, client: Client
) -> None:
    submission = make.submission(phase, team)
    running(submission)
    page = Page(panel_of(client, submission, "queued"))
    assert page.all("progress")[0]["value"] == "50"
    assert page.all("li", aria_current="step")
    assert page.context["submission"].stage == "matching"


def test_a_new_status_is_announced_once(make: Make, phase: Phase, team: Team, client: Client) -> None:
    submission = make.submission(phase, team)
    running(submission)
    assert Page(panel_of(client, submission, "queued")).all("p", id="announcement")
    assert not Page(panel_of(client, submission, "running-matching")).all("p", id="announcement")


@pytest.mark.parametrize(
    ("status", "more"),
    [
        ("rejected", {"fault": "participant"}),
        ("failed", {"fault": "platform", "failure": "It broke."}),
        ("cancelled", {}),
    ],
)
def test_the_panel_of_a_finished_submission_does_not_poll_for_updates(
    status: str, more: Any, make: Make, phase: Phase, team: Team, client: Client
) -> None:
    submission = make.submission(phase, team, status=status, finished_at=NOW, **more)
    page = page_of(client, submission)
    assert "hx-get" not in page.all("div", id="panel")[0]
    assert not page.all("meta", http_equiv="refresh")
    assert page.all("a", class_="button", href=f"/challenges/c/submit?phase={phase.slug}")


def test_a_queued_submission_shows_how_many_files_are_ahead(
    make: Make, phase: Phase, team: Team, client: Client, scored: Scored
) -> None:
    took = {"started_at": NOW - timedelta(seconds=40), "finished_at": NOW}
    scored(phase, 0.5, **took)
    crowd = make.team(phase.challenge)
    # Teams take turns, so only one of the three files of the team `crowd` will be scored before the file of `team`.
    for minutes in range(3):
        make.submission(phase, crowd, received_at=NOW - timedelta(minutes=10 + minutes))
    submission = make.submission(phase, team)
    page = page_of(client, submission)
    assert "About 1 file is ahead of this submission. The wait is about" in page.words
    assert panel_of(client, submission, "queued-1").status_code == 204
    shorter = Page(panel_of(client, submission, "queued-2"))
    assert shorter.status == 200
    assert not shorter.all("p", id="announcement")


def test_the_brief_panel_has_the_score_and_no_report(phase: Phase, team: Team, client: Client, scored: Scored) -> None:
    Phase.objects.update(feedback_classes=True)
    submission = scored(phase, 0.5, team=team)
    page = Page(client.get(f"/submissions/{submission.pk}/panel?brief=1"))
    assert page.all("span", class_="honest-big")
    assert not page.context["report"]
    assert page.all("a", href=f"/submissions/{submission.pk}/")
