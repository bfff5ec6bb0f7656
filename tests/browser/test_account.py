"""Users protect, export and delete their accounts and read notices, with the mouse or only with the keyboard."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from allauth.mfa.totp.internal import auth
from django.core import mail
from playwright.sync_api import Page, expect

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.notices.models import Event, Kind, Notice
from server.notices.services import deriving, mails
from tests.browser.conftest import Open
from tests.browser.person import Person
from tests.browser.test_accessibility import violations_of
from tests.conftest import PASSWORD, Make
from tests.server.conftest import Scored
from tests.server.notices.conftest import choose_all

pytestmark = [
    pytest.mark.browser,
    pytest.mark.enable_socket,
    pytest.mark.django_db(transaction=True),
]

# Each case has browser options and a flag that is True if only the keyboard is used.
WAYS = [({"width": 1440}, False), ({"width": 390, "color_scheme": "dark"}, True)]


def code_of(secret: str, *, later: int = 0) -> str:
    counter = next(iter(auth.yield_hotp_counters_from_time()))
    return auth.format_hotp_value(auth.hotp_value(secret, counter + later))


def log_in(person: Person, name: str) -> None:
    person.page.goto("/accounts/login")
    person.enter("Username", name)
    person.enter("Password", PASSWORD)
    person.click(person.page.get_by_role("button", name="Log in"))
    person.page.wait_for_url(lambda url: not url.endswith("/accounts/login"))


def log_out(person: Person) -> None:
    person.click(person.page.get_by_role("button", name="Log out", exact=True))
    expect(person.page.get_by_role("link", name="Log in")).to_be_visible()


def confirm(person: Person) -> None:
    """Enter the user's password on the page "Confirm that it is you", and continue."""
    expect(person.page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    person.enter("Password", PASSWORD)
    person.click(person.page.get_by_role("button", name="Continue"))


def assert_shown_well(page: Page) -> None:
    """Assert that the open page is not wider than the window and meets the accessibility guidelines."""
    size = page.viewport_size
    assert size is not None
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert violations_of(page) == set()


@pytest.mark.parametrize(("options", "keyboard"), WAYS)
def test_two_factor_authentication_is_turned_on_and_used(
    window: Open, live_server: Any, make: Make, options: dict[str, Any], keyboard: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth.time, "time", lambda: 1_900_000_000.0)
    make.user(username="ada")
    page = window(live_server.url, **options).new_page()
    person = Person(page, keyboard=keyboard)
    log_in(person, "ada")
    page.goto("/accounts/security")
    person.click(page.get_by_role("link", name="Turn on"))
    confirm(person)
    expect(page.get_by_role("img", name="QR code for your authenticator app")).to_be_visible()
    assert_shown_well(page)
    secret = page.locator("code").first.inner_text().strip()
    person.enter("Authenticator code", code_of(secret))
    person.click(page.get_by_role("button", name="Turn on"))
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    assert_shown_well(page)
    codes = page.locator(".codes code").all_inner_texts()
    assert len(codes) == 10
    log_out(person)
    for code in (code_of(secret), codes[0]):
        log_in(person, "ada")
        expect(page.get_by_role("heading", name="Enter your code")).to_be_visible()
        assert_shown_well(page)
        person.enter("Code", code)
        person.click(page.get_by_role("button", name="Log in"))
        expect(page.get_by_role("button", name="Log out", exact=True)).to_be_visible()
        page.goto("/accounts/security")
        expect(page.get_by_text("On since")).to_be_visible()
        log_out(person)


@pytest.mark.parametrize(("options", "keyboard"), WAYS)
def test_a_person_exports_their_data_and_deletes_their_account(
    window: Open, live_server: Any, make: Make, scored: Scored, options: dict[str, Any], keyboard: bool, tmp_path: Path
) -> None:
    user, phase = make.user(username="ada"), make.phase(make.challenge(slug="c"))
    one = scored(phase, 0.5, team=make.team(phase.challenge, user, name="ada"))
    page = window(live_server.url, **options).new_page()
    person = Person(page, keyboard=keyboard)
    log_in(person, "ada")
    page.goto("/accounts/data")
    assert_shown_well(page)
    person.click(page.get_by_role("link", name="Export my data"))
    with page.expect_download() as download:
        confirm(person)
    with ZipFile(BytesIO(Path(download.value.path()).read_bytes())) as archive:
        assert f"submissions/{one.pk}.csv" in archive.namelist()
    page.goto("/accounts/data")
    person.click(page.get_by_role("link", name="Delete my account"))
    expect(page.get_by_role("heading", name="Delete your account?")).to_be_visible()
    assert_shown_well(page)
    person.enter("Your username", "ada")
    person.click(page.get_by_role("button", name="Delete my account"))
    expect(page.get_by_text("Your account was deleted.")).to_be_visible()
    page.goto("/challenges/c/leaderboard")
    expect(page.get_by_text(f"Withdrawn {one.team_id}").first).to_be_visible()
    assert not User.objects.filter(username="ada").exists()


@pytest.mark.parametrize(("options", "keyboard"), WAYS)
def test_each_kind_of_notice_reaches_the_inbox_and_the_mailbox(
    visit: Open, phase: Phase, team: Team, member: User, options: dict[str, Any], keyboard: bool
) -> None:
    choose_all(member)
    for kind in Kind:
        event = {"kind": kind, "key": "1", "challenge": phase.challenge, "text": f"Told: {kind}.", "path": "/accounts/"}
        made = Event.objects.create(**event, happened_at=team.created_at)
        Notice.objects.create(event=made, user=member, mail_at=team.created_at)
    deriving.count_unread(User.objects.filter(pk=member.pk))
    page = visit(member, **options).new_page()
    person = Person(page, keyboard=keyboard)
    page.goto("/")
    # The page header shows the whole username.
    assert page.locator(".who").evaluate("link => link.scrollWidth <= link.clientWidth")
    person.click(page.get_by_role("link", name=re.compile("Notices")))
    for kind in Kind:
        expect(page.get_by_role("link", name=f"Told: {kind}.")).to_be_visible()
    assert_shown_well(page)
    person.click(page.get_by_role("button", name="Mark all as read"))
    expect(page.get_by_role("button", name="Mark all as read")).to_have_count(0)
    assert mails.deliver_due() == len(Kind)
    assert len(mail.outbox) == len(Kind)
    link = re.search(r"Unsubscribe: (\S+)", mail.outbox[0].body)
    assert link is not None
    page.goto(link[1].removeprefix("http://localhost:8000"))
    person.click(page.get_by_role("button", name="Unsubscribe"))
    expect(page.get_by_role("heading", name="You are unsubscribed")).to_be_visible()
    assert_shown_well(page)
    assert member.mail_choices.count() == len(Kind) - 1
    page.goto("/accounts/notices")
    label = page.get_by_label("A team invited you")
    if keyboard:
        person.move_focus_to(label)
        page.keyboard.press("Space")
    else:
        label.uncheck()
    person.click(page.get_by_role("button", name="Save choices"))
    expect(page.get_by_text("Your email settings were saved.")).to_be_visible()
    assert member.mail_choices.count() == len(Kind) - 2
