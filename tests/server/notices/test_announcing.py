"""Organizers can preview an announcement before they publish it, and decide whether emails are sent."""

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.notices.models import Announcement, Kind, MailChoice, Notice
from server.notices.services import announcing, deriving
from tests.conftest import Make

pytestmark = [pytest.mark.phase(challenge={"slug": "c"}), pytest.mark.usefixtures("team")]
ADDRESS = "/challenges/c/announcements"


@pytest.fixture
def organizer(phase: Phase, make: Make) -> User:
    user = make.user()
    phase.challenge.organizers.add(user)
    return user


@pytest.mark.parametrize("with_mail", [True, False])
def test_people_who_want_emails_get_one_unless_the_organizer_sends_none(
    with_mail: bool, phase: Phase, member: User, organizer: User
) -> None:
    MailChoice.objects.create(user=member, kind=Kind.ANNOUNCED)
    deriving.derive()
    announcing.announce(challenge=phase.challenge, by=organizer, title="t", text="x", with_mail=with_mail)
    deriving.derive()
    notice = Notice.objects.get(user=member)
    assert (notice.mail_at is not None) == with_mail


def test_a_preview_shows_the_text_and_publishes_nothing(organizer: User, client: Client) -> None:
    client.force_login(organizer)
    answer = client.post(ADDRESS, {"title": "Hello", "text": "**Read** the rules.", "preview": "yes"})
    assert b"<strong>Read</strong> the rules." in answer.content
    assert b'value="Hello"' in answer.content
    assert not Announcement.objects.exists()


def test_an_unchecked_box_publishes_without_emails(organizer: User, team: Team, client: Client) -> None:
    client.force_login(organizer)
    client.post(ADDRESS, {"title": "Hello", "text": "x"})
    client.post(ADDRESS, {"title": "Hello", "text": "x", "with_mail": "on"})
    assert list(Announcement.objects.order_by("pk").values_list("with_mail", flat=True)) == [False, True]
