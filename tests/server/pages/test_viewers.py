"""On organizer pages, users with the viewer role see no form, button or link that they have no permission to use."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client

from server.challenges.models import Challenge, Phase, RoleOffer, Team
from server.challenges.roles import Role
from server.submissions.models import Submission
from tests.browser.every_page import organizer
from tests.conftest import Make

PAST, LATER = (datetime.now(UTC) + timedelta(hours=hours) for hours in (-1, 1))
LOGOUT = "/accounts/logout"
Attributes = dict[str, str]


def nothing() -> None:
    """Do nothing, because the fixture `pages` creates a challenge that is already in the state "open"."""


STATES: dict[str, Callable[[], Any]] = {
    "open": nothing,
    "paused": lambda: Phase.objects.update(paused_at=PAST, pause_reason="x"),
    "draft": lambda: Challenge.objects.update(visibility="draft"),
    "closed, not revealed": lambda: Phase.objects.update(closes_at=PAST, reveal="manual"),
    "about to be revealed": lambda: Phase.objects.update(closes_at=PAST, reveals_at=LATER),
    "archived": lambda: Challenge.objects.update(archived_at=PAST),
    "removed teams": lambda: Team.objects.update(disqualified_at=PAST, disqualification_reason="x"),
    "two-factor authentication not required": lambda: Challenge.objects.update(organizers_need_two_factor=False),
}


class Controls(HTMLParser):
    """Collects the controls that a user can activate on a page: links, and forms with their fields and buttons."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[tuple[Attributes, dict[str, str]]] = []
        self.buttons: list[tuple[int | str, Attributes]] = []
        self.inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append((found, {}))
            self.inside = True
        elif tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "button" and found.get("type") == "submit":
            self.buttons.append((found.get("form") or len(self.forms) - 1, found))
        elif tag == "input" and self.inside and found.get("name"):
            self.forms[-1][1][found["name"]] = found.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "form"

    def posts(self, page: str) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the URL and the fields of every POST request that this page can send."""
        ids = {attributes.get("id"): number for number, (attributes, _) in enumerate(self.forms)}
        pressed: list[tuple[int, Attributes]] = [(number, {}) for number in range(len(self.forms))]
        pressed += [(ids[form] if isinstance(form, str) else form, button) for form, button in self.buttons]
        for number, button in pressed:
            attributes, fields = self.forms[number]
            if attributes.get("method", "").lower() == "post":
                named = {button["name"]: button.get("value", "")} if button.get("name") else {}
                yield urljoin(page, button.get("formaction") or attributes.get("action") or page), fields | named


@pytest.fixture
def pages(make: Make) -> tuple[Client, list[str]]:
    """Return the test client of a user with the viewer role, and the URLs of a challenge's organizer pages."""
    addresses = [one for one in organizer(make).addresses if "/own" in one or one == "/organize/"]
    challenge, client, viewer = Challenge.objects.get(slug="own"), Client(), make.user()
    challenge.organizers.add(viewer, through_defaults={"role": Role.VIEWER})
    RoleOffer.objects.create(
        challenge=challenge, user=make.team(challenge).memberships.get().user, role=Role.EDITOR, offered_at=PAST
    )
    client.force_login(viewer)
    submissions = [f"/submissions/{one.pk}/" for one in Submission.objects.filter(phase__challenge=challenge)]
    return client, [*addresses, "/challenges/own/changes", *submissions]


def read(client: Client, address: str) -> Controls | None:
    """Return the controls of a page, or None if viewers cannot open it."""
    response = client.get(address)
    if response.status_code == 403:
        return None
    assert response.status_code == 200
    return Controls(response.content.decode())


@pytest.mark.parametrize("state", STATES)
@pytest.mark.usefixtures("inline_queue")
def test_no_form_or_button_refuses_a_viewer(state: str, pages: tuple[Client, list[str]]) -> None:
    client, addresses = pages
    STATES[state]()
    refused, opened = set(), 0
    for page in addresses:
        controls = read(client, page)
        opened += controls is not None
        for address, fields in controls.posts(page) if controls else ():
            if address == LOGOUT:
                continue
            with transaction.atomic():
                files = {"file": SimpleUploadedFile("a.csv", b"a")}
                if client.post(address, {**fields, **files}).status_code in (403, 409):
                    refused.add((page, address))
                transaction.set_rollback(True)
    assert refused == set()
    assert opened > 15


def test_no_link_on_an_organizer_page_refuses_a_viewer(pages: tuple[Client, list[str]]) -> None:
    client, addresses = pages
    linked: dict[str, str] = {}
    for page in addresses:
        controls = read(client, page)
        linked |= {urlsplit(urljoin(page, link)).path: page for link in (controls.links if controls else ())}
    own = [path for path in linked if "/own" in path]
    assert "/challenges/own/submit" not in own
    assert len(own) > 15
    assert [(linked[path], path) for path in own if client.get(path).status_code == 403] == []


def test_the_check_finds_the_forms_and_buttons_of_an_owner(make: Make) -> None:
    found = organizer(make)
    count = 0
    for page in found.addresses:
        controls = read(found.client, page)
        count += len(list(controls.posts(page))) if controls else 0
    assert count > 60
