"""Tests the HTML of every page: no inline code, no files from other sites, and accessible headings and form fields."""

from collections import Counter

import pytest
from django.test import Client

from server.teams.services import invitations, merging
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.page import Page

CLASSES = [{"label": "/m/01yrx", "name": "Cat", "ap": 0.5, "truths": 3.0, "scored": 4, "true_positives": 2.0}]
DEFECTS = {
    "errors": [{"code": "not_finite", "message": "'NaN'", "line": 3, "column": "Score", "image": "a", "token": 2}],
    "counts": {"not_finite": 1},
    "total": 1,
    "notices": [{"code": "inverted_boxes", "message": "boxes without area", "count": 3}],
}
ACCOUNT = (
    *("/", "/accounts/", "/accounts/password", "/accounts/notices", "/accounts/profile", "/accounts/security"),
    *("/accounts/again", "/accounts/data"),
)


@pytest.fixture
def addresses(make: Make, scored: Scored, client: Client) -> list[str]:
    """Create data for all parts of the pages, and return the URLs of all pages that a member can see."""
    member = make.user()
    phase = make.phase(feedback_classes=True)
    challenge = phase.challenge
    make.phase(challenge)
    team = make.team(challenge, member)
    report = {"splits": {"public": {"classes": CLASSES}}, "notices": DEFECTS["notices"]}
    one = scored(phase, 0.4, team=team, interval=(0.38, 0.42), private=0.3, report=report)
    scored(phase, 0.5, team=team)
    scored(phase, 0.3, team=make.team(challenge, is_baseline=True))
    done = {"finished_at": one.finished_at}
    others = [
        make.submission(phase, team),
        make.submission(phase, team, status="rejected", fault="participant", problems=DEFECTS, **done),
        make.submission(phase, team, status="failed", fault="platform", failure="It broke.", **done),
        make.submission(phase, team, status="cancelled", **done),
    ]
    client.force_login(member)
    invitations.ask(user=make.user(), team=team, accept_rules=True)
    merging.propose(team=make.team(challenge, captain := make.user()), other=team, by=captain)
    teams = ("team", "team/leave", f"team/merge?team={captain.memberships.get().team.name}", f"teams/{team.pk}")
    names = (
        "",
        "announcements",
        "data",
        "rules",
        *teams,
        "submit",
        "submissions",
        "leaderboard",
        "leaderboard/history",
    )
    pages = [f"/challenges/{challenge.slug}/{name}{'&' if '?' in name else '?'}phase={phase.slug}" for name in names]
    return [*ACCOUNT, *pages, *(f"/submissions/{sub.pk}/" for sub in (one, *others))]


@pytest.fixture
def pages(addresses: list[str], client: Client, db: None) -> list[tuple[str, Page]]:
    seen = [(address, Page(client.get(address))) for address in addresses]
    stranger = Client()
    public = (
        "/accounts/signup",
        "/accounts/login",
        "/accounts/password/forgotten",
        "/accounts/confirm",
        "/nothing",
        addresses[len(ACCOUNT)],
    )
    return [*seen, *((address, Page(stranger.get(address))) for address in public)]


def test_every_page_of_the_list_exists(pages: list[tuple[str, Page]]) -> None:
    assert {address: page.status for address, page in pages if page.status != 200} == {"/nothing": 404}


def test_no_page_has_inline_code_or_styles(pages: list[tuple[str, Page]]) -> None:
    for address, page in pages:
        assert not page.inline, address
        handlers = [name for _, found in page.elements for name in found if name == "style" or name.startswith("on")]
        assert not handlers, address


def test_every_script_and_style_is_our_own(pages: list[tuple[str, Page]]) -> None:
    for address, page in pages:
        loaded = [found.get("src") or found.get("href") for tag, found in page.elements if tag in ("script", "link")]
        loaded += [found["src"] for tag, found in page.elements if tag not in ("script", "link") and "src" in found]
        assert all(address_of_file.startswith("/static/") for address_of_file in loaded), (address, loaded)


def test_a_page_has_one_h1_and_unique_ids(pages: list[tuple[str, Page]]) -> None:
    for address, page in pages:
        assert len(page.all("h1")) == 1, address
        ids = Counter(found["id"] for _, found in page.elements if "id" in found)
        assert [name for name, number in ids.items() if number > 1] == [], address


def test_headings_skip_no_level(pages: list[tuple[str, Page]]) -> None:
    for address, page in pages:
        levels = [int(tag[1]) for tag, _ in page.elements if tag in ("h1", "h2", "h3", "h4")]
        deepest = 0
        for level in levels:
            assert level <= deepest + 1, (address, levels)
            deepest = level


def test_every_field_has_a_label(pages: list[tuple[str, Page]]) -> None:
    for address, page in pages:
        labelled = {found["for"] for found in page.all("label")}
        for tag in ("input", "select", "textarea"):
            for field in page.all(tag):
                named = field.get("type") == "hidden" or "aria-label" in field or field.get("id") in labelled
                assert named, (address, field)


def test_labels_and_aria_attributes_name_existing_ids(pages: list[tuple[str, Page]]) -> None:
    for address, page in pages:
        ids = {found["id"] for _, found in page.elements if "id" in found}
        pointed = {found["for"] for found in page.all("label")}
        pointed |= {found["aria-labelledby"] for _, found in page.elements if "aria-labelledby" in found}
        pointed |= {found["aria-describedby"] for _, found in page.elements if "aria-describedby" in found}
        assert pointed <= ids, (address, pointed - ids)


def test_every_post_form_has_a_csrf_token(pages: list[tuple[str, Page]]) -> None:
    for address, page in pages:
        posts = len(page.all("form", method="post"))
        assert len(page.all("input", name="csrfmiddlewaretoken")) == posts, address


def test_the_current_tab_is_marked(pages: list[tuple[str, Page]]) -> None:
    for address, page in pages:
        if "/challenges/" in address and page.status == 200:
            assert any("aria-current" in found for found in page.all("a")), address


def test_every_page_has_a_content_security_policy(addresses: list[str], client: Client) -> None:
    for address in ("/", "/nothing", addresses[-1]):
        policy = client.get(address)["Content-Security-Policy"]
        assert "unsafe" not in policy, address
        assert "script-src 'self'" in policy, address
