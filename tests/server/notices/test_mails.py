"""Tests the emails about notices: recipients, retries after errors or a killed process, unsubscribing, and headers."""

from datetime import timedelta
from smtplib import SMTPServerDisconnected
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail, signing
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from redis import RedisError

from server.accounts.models import User
from server.challenges.models import Challenge, Phase, Team
from server.notices import tasks
from server.notices.models import Event, Kind, MailChoice, Notice
from server.notices.services import deriving, mails
from server.submissions.models import Submission
from tests.conftest import Make
from tests.server.notices.conftest import Ended, choose_all
from tests.server.page import Page


@pytest.fixture
def due(phase: Phase, team: Team, member: User, ended: Ended) -> Notice:
    """Create a notice for which an email is due now."""
    choose_all(member)
    ended(phase, team, "rejected")
    deriving.derive()
    return Notice.objects.get(mail_at__isnull=False)


def later(notice: Notice) -> None:
    """Make the next attempt to send the email due now, as if the delay before it had passed."""
    Notice.objects.filter(pk=notice.pk, mail_at__isnull=False).update(mail_at=timezone.now() - timedelta(seconds=1))


def break_server(monkeypatch: pytest.MonkeyPatch, *, times: int, after_sending: bool = False) -> None:
    usual, left = EmailBackend.send_messages, [None] * times

    def send(self: EmailBackend, messages: Any) -> int:
        if after_sending:
            usual(self, messages)
        if left:
            left.pop()
            raise SMTPServerDisconnected
        return 0 if after_sending else int(usual(self, messages))

    monkeypatch.setattr(EmailBackend, "send_messages", send)


def test_nobody_gets_a_mail_without_choosing_it(phase: Phase, team: Team, member: User, ended: Ended) -> None:
    MailChoice.objects.create(user=member, kind=Kind.SCORED)
    ended(phase, team, "rejected")
    deriving.derive()
    assert mails.deliver_due() == 0
    assert mail.outbox == []


def test_a_mail_is_sent_once(due: Notice) -> None:
    tasks.deliver()
    tasks.deliver()
    (one,) = mail.outbox
    assert one.to == [due.user.email]
    assert "was rejected" in one.subject
    assert f"http://localhost:8000{due.event.path}" in one.body
    due.refresh_from_db()
    assert (due.mail_at, due.mailed_at is not None) == (None, True)


def test_a_mail_that_fails_is_tried_again_later(due: Notice, monkeypatch: pytest.MonkeyPatch) -> None:
    break_server(monkeypatch, times=2)
    delays = []
    for _ in range(2):
        mails.deliver_due()
        due.refresh_from_db()
        assert due.mail_at is not None
        delays.append(round((due.mail_at - timezone.now()).total_seconds() / 60))
        later(due)
    assert mails.deliver_due() == 1
    assert delays == [1, 4]
    assert len(mail.outbox) == 1


def test_a_mail_is_given_up_after_six_attempts(due: Notice, monkeypatch: pytest.MonkeyPatch) -> None:
    break_server(monkeypatch, times=99)
    for _ in range(10):
        mails.deliver_due()
        later(due)
    due.refresh_from_db()
    assert (due.mail_attempts, due.mail_at) == (6, None)


def test_a_mail_that_is_being_sent_is_not_sent_by_another_process(due: Notice) -> None:
    assert mails.claim_next() == due
    assert mails.deliver_due() == 0
    # Simulate a process that was killed after it had claimed the email. Its lease has expired.
    later(due)
    assert mails.deliver_due() == 1


def test_a_mail_that_is_sent_again_has_the_same_message_id(due: Notice, monkeypatch: pytest.MonkeyPatch) -> None:
    break_server(monkeypatch, times=1, after_sending=True)
    mails.deliver_due()
    later(due)
    mails.deliver_due()
    assert len({one.extra_headers["Message-ID"] for one in mail.outbox}) == 1


def test_one_bad_mail_does_not_stop_the_others(
    due: Notice, phase: Phase, team: Team, member: User, ended: Ended
) -> None:
    ended(phase, team, "failed")
    deriving.derive()
    User.objects.filter(pk=member.pk).update(email="a@example.org\nBcc: b@example.org")
    assert mails.deliver_due() == 0
    assert mail.outbox == []
    assert Notice.objects.filter(mail_attempts=1).count() == 2


def test_an_old_mail_is_not_sent(due: Notice) -> None:
    Event.objects.update(happened_at=timezone.now() - timedelta(days=3))
    assert mails.deliver_due() == 0
    assert not Notice.objects.filter(mail_at__isnull=False).exists()


@pytest.mark.parametrize("change", [{"is_active": False}, {"email": ""}])
def test_people_who_cannot_get_mails_get_none(due: Notice, change: dict[str, Any]) -> None:
    User.objects.filter(pk=due.user_id).update(**change)
    assert mails.deliver_due() == 0


def test_only_confirmed_addresses_get_mails(due: Notice, settings: Settings) -> None:
    settings.CONFIRM_EMAIL = True
    address = EmailAddress.objects.create(user=due.user, email=due.user.email, verified=False)
    assert mails.address_of(due.user) == ""
    address.set_verified()
    assert mails.deliver_due() == 1


def test_a_deleted_account_gets_no_mail(due: Notice, member: User) -> None:
    member.delete()
    assert mails.deliver_due() == 0


@pytest.mark.parametrize("bad", ["a\r\nBcc: x@example.org", "a\nSubject: b", "\u202ea", "x" * 500])
def test_names_cannot_add_headers(bad: str, due: Notice) -> None:
    Challenge.objects.update(title=bad[:120])
    Submission.objects.update(file_name=bad[:255])
    Event.objects.update(text=f"{bad[:400]} was rejected")
    mails.deliver_due()
    message = mail.outbox[0].message()
    assert message["Bcc"] is None
    assert len(message.get_all("Subject")) == 1
    assert len(mail.outbox[0].subject) < 140


def test_one_click_unsubscribes_from_mails_of_one_kind(due: Notice, member: User) -> None:
    mails.deliver_due()
    headers = mail.outbox[0].extra_headers
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    address = headers["List-Unsubscribe"].strip("<>").removeprefix("http://localhost:8000")
    stranger = Client(enforce_csrf_checks=True)
    assert "Unsubscribe from these emails?" in Page(stranger.get(address)).words
    assert member.mail_choices.count() == len(Kind)
    assert stranger.post(address, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert set(Kind.values) - set(member.mail_choices.values_list("kind", flat=True)) == {"rejected"}


def test_an_unsubscribe_page_does_not_name_the_person(due: Notice, member: User, client: Client) -> None:
    words = Page(Client().get(f"/unsubscribe/{mails.unsubscribe_token(member, Kind.SCORED)}")).words
    assert member.username not in words
    assert member.email not in words


def test_a_token_of_one_person_cannot_unsubscribe_another(make: Make, client: Client) -> None:
    ada, bob = make.user(), make.user()
    choose_all(ada)
    choose_all(bob)
    token = mails.unsubscribe_token(ada, Kind.SCORED)
    forged = signing.dumps([bob.pk, "scored"], key="guessed", salt=mails.SALT)
    for bad in (forged, token[:-1] + ("A" if token[-1] != "A" else "B"), signing.dumps([bob.pk, "scored"]), "x"):
        assert client.post(f"/unsubscribe/{bad}").status_code == 404
    client.post(f"/unsubscribe/{token}")
    assert (ada.mail_choices.count(), bob.mail_choices.count()) == (len(Kind) - 1, len(Kind))


def test_a_token_of_a_deleted_account_is_harmless(make: Make, client: Client) -> None:
    ada = make.user()
    token = mails.unsubscribe_token(ada, Kind.SCORED)
    ada.delete()
    assert client.post(f"/unsubscribe/{token}").status_code == 200


def test_a_person_chooses_in_the_inbox_which_mails_to_get(member: User, client: Client) -> None:
    client.post("/accounts/notices/mails", {"kind": ["scored", "invited", "nonsense"]})
    assert {*member.mail_choices.values_list("kind", flat=True)} == {"scored", "invited"}
    client.post("/accounts/notices/mails", {"kind": ["invited"]})
    assert {*member.mail_choices.values_list("kind", flat=True)} == {"invited"}


class Broker:
    def __init__(self, length: int | None) -> None:
        self.length = length

    def llen(self, name: str) -> int:
        assert name == "mail"
        if self.length is None:
            raise RedisError
        return self.length


@pytest.mark.parametrize(("length", "woken"), [(0, 1), (1, 0), (None, 0)])
def test_a_message_wakes_the_sender_unless_one_waits_or_the_broker_is_down(
    length: int | None, woken: int, due: Notice, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(mails, "broker", lambda url: Broker(length))
    monkeypatch.setattr(mails.current_app, "send_task", lambda *words, **options: sent.append((words, options)))
    mails.wake()
    assert sent == [(("mail.deliver",), {"queue": "mail", "retry": False})] * woken


def test_the_task_waits_if_the_mail_server_does_not_respond(due: Notice, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: EmailBackend) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(EmailBackend, "open", refuse)
    tasks.deliver()
    due.refresh_from_db()
    assert due.mail_attempts == 0
    monkeypatch.undo()
    tasks.deliver()
    assert len(mail.outbox) == 1
