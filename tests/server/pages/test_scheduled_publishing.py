"""The sweeper publishes a draft at the scheduled time, after the same checks as when an organizer publishes it."""

from datetime import timedelta

import pytest
from django.test import Client

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Challenge, Phase, Truth
from server.clock import database_now
from server.notices.models import Notice
from server.notices.services.deriving import derive
from server.organize.models import Publication
from server.organize.services.publishing import publish_due, unpublish
from tests.conftest import Make

PUBLISH = "/organize/challenges/c/publish"
DRAFT = {"slug": "c", "visibility": "draft", "contact": "a@example.org"}
pytestmark = pytest.mark.phase(challenge=DRAFT, slug="main")


@pytest.fixture
def owner(phase: Phase, make: Make) -> Client:
    user, client = make.user(username="owner"), Client()
    phase.challenge.organizers.add(user)
    client.force_login(user)
    return client


def schedule(owner: Client, hours: float = 1) -> int:
    at = f"{database_now() + timedelta(hours=hours):%Y-%m-%dT%H:%M:%S}"
    return owner.post(PUBLISH, {"schedule": "1", "at": at, "visibility": "unlisted"}).status_code


def test_a_draft_is_published_at_its_time(phase: Phase, owner: Client) -> None:
    assert schedule(owner) == 302
    assert b"The challenge will be published as unlisted" in owner.get("/organize/challenges/c").content
    publish_due()
    assert Challenge.objects.get().visibility == "draft"
    Publication.objects.update(at=database_now())
    publish_due()
    assert Challenge.objects.get().visibility == "unlisted"
    assert not Publication.objects.exists()


def test_a_draft_that_was_published_in_the_admin_keeps_no_schedule(phase: Phase, owner: Client) -> None:
    schedule(owner)
    Challenge.objects.update(visibility="public")
    Publication.objects.update(at=database_now())
    publish_due()
    assert Challenge.objects.get().visibility == "public"
    assert not Publication.objects.exists()
    assert not Entry.objects.filter(action="publication.failed").exists()


def test_a_challenge_that_becomes_a_draft_again_keeps_no_earlier_schedule(phase: Phase, owner: Client) -> None:
    schedule(owner)
    Challenge.objects.update(visibility="public")
    unpublish(challenge=Challenge.objects.get(), by=User.objects.get(username="owner"))
    assert not Publication.objects.exists()
    assert Entry.objects.filter(action="publication.cancelled").exists()


def test_a_time_in_the_past_is_refused(phase: Phase, owner: Client) -> None:
    assert schedule(owner, -1) == 422
    assert owner.post(PUBLISH, {"schedule": "1", "at": "", "visibility": "public"}).status_code == 422


def test_a_schedule_can_be_cancelled(phase: Phase, owner: Client) -> None:
    schedule(owner)
    assert owner.post(PUBLISH, {"unschedule": "1"}).status_code == 302
    assert not Publication.objects.exists()


@pytest.mark.parametrize("fault", ["contact", "gate"])
def test_a_draft_that_fails_a_check_stays_one_and_its_owners_are_notified(
    phase: Phase, owner: Client, fault: str
) -> None:
    derive()
    schedule(owner)
    if fault == "contact":
        Challenge.objects.update(contact="")
    else:
        Truth.objects.update(gate=None)
    Publication.objects.update(at=database_now())
    publish_due()
    publish_due()
    assert Challenge.objects.get().visibility == "draft"
    # The draft still fails a check, so its owner cannot publish it by hand.
    assert owner.post(PUBLISH, {"visibility": "public"}).status_code in (409, 422)
    derive()
    (notice,) = Notice.objects.all()
    assert (notice.user.get_username(), "was not published as scheduled" in notice.event.text) == ("owner", True)
    assert b"was not published at" in owner.get("/organize/challenges/c").content
    assert Entry.objects.filter(action="publication.failed").count() == 1


def test_the_page_says_why_a_scheduled_draft_cannot_be_published_yet(phase: Phase, owner: Client) -> None:
    Challenge.objects.update(contact="")
    schedule(owner)
    said = b"The challenge cannot be published in its current state. Contact: enter an address for participants"
    assert said in owner.get("/organize/challenges/c").content
    Challenge.objects.update(contact="a@example.org")
    assert b"The challenge cannot be published in its current state." not in owner.get("/organize/challenges/c").content


def test_a_draft_cannot_be_returned_to_draft(phase: Phase, owner: Client) -> None:
    schedule(owner)
    answer = owner.post(PUBLISH, {"visibility": "draft"})
    assert (answer.status_code, b"This challenge is already a draft." in answer.content) == (422, True)
    assert not Entry.objects.filter(action="challenge.changed").exists()
