"""Tests the cancel button on the page of a submission."""

from django.test import Client

from server.challenges.models import Team
from server.submissions.models import Submission
from server.submissions.services import leases
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.page import Page


def test_a_queued_submission_can_be_cancelled(make: Make, team: Team, client: Client) -> None:
    submission = make.submission(make.phase(team.challenge), team)
    page = Page(client.post(f"/submissions/{submission.pk}/cancel", follow=True))
    assert page.all("p", class_="notice-success")
    assert page.context["submission"].status == "cancelled"


def test_a_scored_submission_cannot_be_cancelled(make: Make, scored: Scored, team: Team, client: Client) -> None:
    submission = scored(make.phase(team.challenge), 0.5, team=team)
    page = Page(client.post(f"/submissions/{submission.pk}/cancel"))
    assert page.status == 409
    assert "not_cancellable" in page.words
    assert "0.50000" in page.words


def test_the_page_says_that_cancelling_costs_quota_once_scoring_has_begun(
    make: Make, team: Team, client: Client
) -> None:
    submission = make.submission(make.phase(team.challenge), team)
    charged = "Scoring has started, so the submission will count against your quota even if you cancel it."
    address = f"/submissions/{submission.pk}/"
    assert charged not in Page(client.get(address)).words
    claimed = leases.claim(Submission, submission.pk)
    assert claimed is not None
    leases.release_as_large(claimed)
    assert charged in Page(client.get(address)).words
