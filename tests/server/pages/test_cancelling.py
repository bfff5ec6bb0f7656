"""The cancel button of a submission's page."""

from typing import Any

from django.test import Client

from tests.server.page import Page


def test_cancelling_ends_it(make: Any, team: Any, client: Client) -> None:
    submission = make.submission(make.phase(team.challenge), team)
    page = Page(client.post(f"/submissions/{submission.pk}/cancel", follow=True))
    assert "The submission was cancelled." in page.words
    assert "Cancelled before it was scored." in page.words


def test_a_scored_one_is_not_cancelled(make: Any, scored: Any, team: Any, client: Client) -> None:
    submission = scored(make.phase(team.challenge), 0.5, team=team)
    page = Page(client.post(f"/submissions/{submission.pk}/cancel"))
    assert page.status == 409
    assert "not_cancellable" in page.words
    assert "0.50000" in page.words
