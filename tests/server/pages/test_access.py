"""Tests access to pages that `tests/server/test_access.py` does not cover: lists, redirects to the login, and forms."""

from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from server.submissions.models import Submission
from tests.conftest import Make
from tests.server.conftest import Scored

PEOPLE = ("nobody", "stranger", "member", "rival", "organizer")


@pytest.fixture
def people(make: Make) -> dict[str, Any]:
    return {"nobody": None, **{name: make.user(username=name) for name in PEOPLE[1:]}}


@pytest.fixture
def submission(make: Make, scored: Scored, people: dict[str, Any]) -> Submission:
    phase = make.phase(make.challenge(slug="c"), sample_submission=ContentFile(b"ImageId,PredictionString\n", "s.csv"))
    phase.challenge.organizers.add(people["organizer"])
    make.team(phase.challenge, people["rival"])
    return scored(phase, 0.5, private=0.4, team=make.team(phase.challenge, people["member"]))


def as_(person: Any) -> Client:
    client = Client()
    if person:
        client.force_login(person)
    return client


def test_a_private_challenge_is_not_listed_for_strangers(make: Make) -> None:
    make.challenge(slug="c", visibility="private", title="Hidden thing")
    assert b"Hidden thing" not in as_(make.user()).get("/").content


def test_an_unlisted_challenge_is_not_listed_but_can_be_read(make: Make) -> None:
    make.challenge(slug="c", visibility="unlisted", title="Quiet thing")
    assert b"Quiet thing" not in as_(None).get("/").content
    assert as_(None).get("/challenges/c/").status_code == 200


@pytest.mark.parametrize("action", ["cancel", "edit"])
@pytest.mark.parametrize(("name", "expected"), [("nobody", 302), ("stranger", 404), ("rival", 404)])
def test_other_people_cannot_change_a_submission(
    action: str, name: str, expected: int, submission: Submission, people: dict[str, Any]
) -> None:
    response = as_(people[name]).post(f"/submissions/{submission.pk}/{action}", {"note": "mine now"})
    assert response.status_code == expected
    submission.refresh_from_db()
    assert submission.note == ""


def test_a_form_without_csrf_token_is_refused(submission: Submission, people: dict[str, Any]) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people["member"])
    response = client.post(f"/submissions/{submission.pk}/edit", {"note": "forged"})
    assert response.status_code == 403
    assert "errors/csrf.html" in [template.name for template in response.templates]


def test_a_login_redirects_back_to_the_page(submission: Submission) -> None:
    assert as_(None).get("/challenges/c/submit").url == "/accounts/login?next=/challenges/c/submit"


def test_the_panel_redirects_to_the_login_after_a_logout(submission: Submission) -> None:
    response = as_(None).get(f"/submissions/{submission.pk}/panel")
    assert response["HX-Redirect"].startswith("/accounts/login?next=")
