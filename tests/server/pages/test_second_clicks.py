"""A second click on a button, or a click on an outdated page, changes nothing, and the response explains why."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin

import pytest
from django.test import Client

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges import blocking, organizers
from server.challenges.approval import enter
from server.challenges.models import Block, JoinRequest, Organizer, Phase, RoleOffer
from server.notices.models import Announcement
from server.submissions.models import QuotaGrant
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.page import Page

pytestmark = [
    pytest.mark.phase(challenge={"slug": "c", "registration": "approval"}, slug="main"),
    pytest.mark.usefixtures("inline_queue"),
]
PATH = "/organize/challenges/c"
PEOPLE = "/challenges/c/organizers"


@pytest.fixture
def owner(phase: Phase, member: User) -> User:
    phase.challenge.organizers.add(member)
    return member


def clicked_twice(client: Client, address: str, form: dict[str, Any] | None = None) -> Page:
    """Submit a form twice. Check that only the first request changed something, and return the second response."""
    assert client.post(address, form or {}).status_code == 302
    known = Entry.objects.count()
    second = client.post(address, form or {})
    assert second.status_code in (404, 409, 422)
    assert Entry.objects.count() == known
    return Page(second)


def test_a_second_approval_of_a_request_says_that_it_was_approved(
    phase: Phase, owner: User, client: Client, make: Make
) -> None:
    waiting = enter(user=make.user(), challenge=phase.challenge, accept_rules=True)
    assert isinstance(waiting, JoinRequest)
    page = clicked_twice(client, f"{PATH}/teams", {"act": "approve", "request": waiting.pk})
    assert "This request has already been approved" in page.words
    assert "1 team" in page.words


def test_a_second_removal_of_an_organizer_an_offer_or_a_block_says_that_it_is_gone(
    phase: Phase, owner: User, client: Client, make: Make
) -> None:
    organizers.add(challenge=phase.challenge, by=owner, username=make.user().username, role="editor")
    found = Organizer.objects.exclude(user=owner).get()
    page = clicked_twice(client, f"{PEOPLE}/{found.pk}/remove")
    assert "This person is no longer an organizer." in page.words
    rival = make.team(phase.challenge).memberships.get().user
    organizers.add(challenge=phase.challenge, by=owner, username=rival.username, role="editor")
    page = clicked_twice(client, f"{PEOPLE}/offers/{RoleOffer.objects.get().pk}/withdraw")
    assert "This offer is no longer open: it was withdrawn, accepted or declined." in page.words
    blocking.block(challenge=phase.challenge, by=owner, username=make.user().username, reason="Two accounts")
    page = clicked_twice(client, f"{PATH}/blocked", {"act": "unblock", "block": Block.objects.get().pk})
    assert "This person is no longer blocked." in page.words


def test_a_second_acceptance_of_a_role_says_that_the_offer_was_answered(
    phase: Phase, owner: User, client: Client, make: Make
) -> None:
    rival = make.team(phase.challenge).memberships.get().user
    organizers.add(challenge=phase.challenge, by=owner, username=rival.username, role="editor")
    client.force_login(rival)
    page = clicked_twice(client, f"{PEOPLE}/offer", {"accept": "yes"})
    assert "This offer is no longer open: it was withdrawn, accepted or declined." in page.words


def test_an_announcement_is_published_once_and_its_text_stays_in_the_form(owner: User, client: Client) -> None:
    form = {"title": "New data", "text": "We added *images*.", "with_mail": "on"}
    page = clicked_twice(client, "/challenges/c/announcements", form)
    assert "published less than a minute ago" in page.words
    assert page.all("input", name="title")[0]["value"] == "New data"
    assert Announcement.objects.count() == 1
    Announcement.objects.update(announced_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert client.post("/challenges/c/announcements", form).status_code == 302


def test_a_grant_is_made_once(phase: Phase, owner: User, client: Client, make: Make) -> None:
    team, day = make.team(phase.challenge), f"{datetime.now(UTC):%Y-%m-%d}"
    form = {"act": "grant", "grant-amount": 5, "grant-day": day, "grant-reason": "A worker was down."}
    address = f"{PATH}/phases/main/teams/{team.pk}"
    assert "The same grant was made less than a minute ago." in clicked_twice(client, address, form).words
    assert client.post(address, form | {"grant-amount": 4}).status_code == 302
    assert [one.amount for one in QuotaGrant.objects.order_by("pk")] == [5, 4]


@pytest.mark.parametrize("act", ["apply", "discard"])
def test_a_second_decision_about_a_rescoring_says_that_none_is_open(
    phase: Phase, owner: User, client: Client, act: str
) -> None:
    client.post(f"{PATH}/phases/main/rescore", {"truth": 1})
    page = clicked_twice(client, f"{PATH}/phases/main/{act}", {"version": 1, "reason": "A test"})
    assert "No rescoring is in progress." in page.words
    assert page.all("h2", id="versions")


def test_links_and_filters_work_on_the_page_of_a_refused_act(
    phase: Phase, owner: User, client: Client, scored: Scored
) -> None:
    address = f"{PATH}/phases/main/submissions/{scored(phase, 0.5).pk}/hide"
    page = clicked_twice(client, address, {"act": "hide"})
    assert "This submission is already hidden." in page.words
    targets = [*page.links(), *(one.get("action", "") for one in page.all("form", method="get"))]
    for target in (one for one in targets if not one.startswith(("#", "http"))):
        assert client.get(urljoin(address, target)).status_code == 200, target
