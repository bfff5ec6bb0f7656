"""Organizers copy a challenge with its phases. The copy is a draft without dates, teams or submissions."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Challenge, Phase
from tests.conftest import Make
from tests.server.organize.conftest import BundleFolder, bundle, one_process, run
from tests.server.page import Page

__all__ = ["bundle", "one_process", "run"]  # pytest finds these imported fixtures by name.
pytestmark = pytest.mark.usefixtures("one_process", "inline_queue")
PATH = "/organize/challenges/animals/clone"
COPY = {"slug": "animals-2027", "title": "Animals 2027"}
OF_PHASE = ("slug", "title", "track", "parameters", "salt", "public_share", "quota_per_day", "finals", "signature")


@pytest.fixture
def source(bundle: BundleFolder, run: Callable[..., Any], make: Make, client: Client) -> Challenge:
    """Import a challenge as a logged-in user, and add dates, a team and a submission. Return the challenge."""
    user = make.user(username="olga")
    run(by=user)
    client.force_login(user)
    now = datetime.now(UTC)
    Challenge.objects.update(rules="# Be fair", contact="a@example.org", join_until=now + timedelta(days=9))
    Phase.objects.update(quota_per_day=7, closes_at=now + timedelta(days=9))
    found = Challenge.objects.get()
    make.submission(found.phases.get())
    return found


def test_a_copy_has_the_same_pages_and_phases_without_dates_and_teams(source: Challenge, client: Client) -> None:
    assert client.get(PATH).status_code == 200
    assert client.post(PATH, COPY)["Location"] == "/organize/challenges/animals-2027"
    made = Challenge.objects.get(slug="animals-2027")
    assert (made.title, made.visibility, made.rules, made.contact) == (
        "Animals 2027",
        "draft",
        "# Be fair",
        "a@example.org",
    )
    assert (made.closes_at, made.join_until, made.teams.count()) == (None, None, 0)
    one, two = source.phases.get(), made.phases.get()
    assert [getattr(one, name) for name in OF_PHASE] == [getattr(two, name) for name in OF_PHASE]
    assert (two.closes_at, two.submissions.count()) == (None, 0)
    assert two.truth is not None
    assert two.truth.gate is not None


def test_the_warnings_about_a_copy_are_shown_on_the_next_page(source: Challenge, client: Client) -> None:
    page = client.post(PATH, COPY)["Location"]
    assert "truth_images_unlisted" not in Page(client.get("/organize/challenges/animals")).words
    assert "truth_images_unlisted" in Page(client.get(page)).words
    assert "truth_images_unlisted" not in Page(client.get(page)).words


def test_the_copy_belongs_to_the_person_who_made_it(source: Challenge, make: Make, client: Client) -> None:
    source.organizers.add(make.user(username="otto"))
    client.post(PATH, COPY)
    made = Challenge.objects.get(slug="animals-2027")
    assert [(one.user.username, one.role) for one in made.organizer_roles.all()] == [("olga", "owner")]
    entry = Entry.objects.get(action="challenge.cloned")
    assert (entry.actor, entry.subject, entry.detail) == ("olga", f"challenge {made.pk}", {"of": "animals"})


def test_an_archived_challenge_can_be_copied(source: Challenge, client: Client) -> None:
    Challenge.objects.update(archived_at=datetime.now(UTC))
    assert client.post(PATH, COPY).status_code == 302


@pytest.mark.parametrize("form", [{}, {"slug": "animals", "title": "Again"}, {"slug": "a b", "title": "Again"}])
def test_a_copy_needs_a_new_short_name_and_a_title(form: dict[str, str], source: Challenge, client: Client) -> None:
    assert client.post(PATH, form).status_code == 422
    assert Challenge.objects.count() == 1


def test_a_challenge_without_phases_is_not_copied(source: Challenge, client: Client, make: Make) -> None:
    owner = User.objects.get(username="olga")
    make.challenge(slug="empty").organizers.add(owner)
    refused = client.post("/organize/challenges/empty/clone", COPY)
    assert (refused.status_code, b"nothing to copy" in refused.content) == (422, True)
