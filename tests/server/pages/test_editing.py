"""Organizers edit texts, dates, quotas and feedback on the site, according to the same rules as in bundles."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Challenge, Phase
from server.clock import database_now
from tests.conftest import Make
from tests.server.page import Page
from tests.server.pages.edits import address, save, submitted

pytestmark = pytest.mark.phase(challenge={"slug": "c", "title": "Cats"}, slug="main", title="Main")


@pytest.fixture
def owner(make: Make, phase: Phase, client: Client) -> User:
    user = make.user(username="olga")
    phase.challenge.organizers.add(user)
    client.force_login(user)
    return user


def problems(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 422
    return {name: list(errors) for name, errors in response.context["form"].errors.items()}


def test_an_edit_is_saved_with_old_and_new_values_in_the_audit_log(owner: User, phase: Phase, client: Client) -> None:
    answer = save(client, phase.challenge, title="Dogs", description="# Dogs", closes_at="2099-01-01T12:00")
    assert answer.status_code == 302
    challenge = Challenge.objects.get()
    assert (challenge.title, challenge.description, challenge.closes_at.isoformat()) == (
        *("Dogs", "# Dogs"),
        "2099-01-01T12:00:00+00:00",
    )
    entry = Entry.objects.get(action="challenge.changed")
    assert (entry.actor, entry.subject) == ("olga", f"challenge {challenge.pk}")
    assert entry.detail["fields"] == ["closes_at", "description", "title"]
    assert entry.detail["values"]["title"] == ["Cats", "Dogs"]


def test_a_form_that_is_submitted_unchanged_changes_nothing(owner: User, phase: Phase, client: Client) -> None:
    Challenge.objects.update(rules="one\r\ntwo\n", data="\nthree", closes_at="2099-01-01T00:00:00.123Z")
    for row in (Challenge.objects.get(), Phase.objects.get()):
        before = type(row).objects.values().get()
        lines = {"rules": "one\r\ntwo\r\n"} if isinstance(row, Challenge) else {}
        assert save(client, row, **lines).status_code == 302
        assert type(row).objects.values().get() == before
    assert not Entry.objects.filter(action__endswith=".changed").exists()


@pytest.mark.parametrize("hours", [2, 48])
def test_dates_with_fractions_of_a_second_do_not_prevent_other_edits(
    owner: User, phase: Phase, client: Client, hours: int
) -> None:
    closes_at = (database_now() + timedelta(hours=hours)).replace(microsecond=999_000)
    Challenge.objects.update(closes_at=closes_at)
    Phase.objects.update(closes_at=closes_at)
    for row in (Challenge.objects.get(), Phase.objects.get()):
        assert save(client, row, title="Dogs").status_code == 302
        row.refresh_from_db()
        assert (row.title, row.closes_at) == ("Dogs", closes_at)


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("title", "", "Title: this field is required."),
        ("title", "x" * 121, "Title: expected one line of 1 to 120 visible characters"),
        ("contact", "x" * 201, "Contact:"),
        ("opens_at", "yesterday", "Opens: 'yesterday' is not a time"),
        ("opens_at", "0001-01-01T00:00", "Opens:"),
        ("closes_at", "1999-01-01T00:00", "Closes: is not later than the opening time"),
        ("visibility", "secret", "Visibility: 'secret' is not one of public, unlisted, private"),
        ("registration", "", "Registration: this field is required."),
        ("allowed_domains", "example", "Email domains: 'example' is not an email domain"),
        ("allowed_people", "bob@", "Allowed people: 'bob@' is neither an email address nor a username"),
        ("team_max_size", "0", "Maximum team size: '0' is not a whole number from 1 to 1000"),
        ("rules", "\0", ""),
    ],
)
def test_values_that_a_bundle_may_not_have_are_refused_by_the_name_of_the_field(
    owner: User, phase: Phase, client: Client, field: str, value: str, error: str
) -> None:
    assert problems(save(client, phase.challenge, **{field: value}))[field][0].startswith(error)
    assert not Entry.objects.filter(action="challenge.changed").exists()


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"finals": "two"}, "finals"),
        ({"finals": "101"}, "finals"),
        ({"quota_total": "0"}, "quota_total"),
        ({"quota_per_day": "1.5"}, "quota_per_day"),
        ({"attempts_per_day": ""}, "attempts_per_day"),
        ({"feedback": "rounded"}, "feedback"),
        ({"feedback_decimals": "3"}, "feedback_decimals"),
        ({"ladder_standard_errors": "99"}, "ladder_standard_errors"),
        ({"closes_at": "2001-01-01T00:00"}, "closes_at"),
    ],
)
def test_settings_of_a_phase_that_a_bundle_may_not_have_are_refused(
    owner: User, phase: Phase, client: Client, values: dict[str, str], field: str
) -> None:
    assert field in problems(save(client, phase, **values))


def test_a_published_challenge_keeps_a_contact_address(owner: User, phase: Phase, client: Client) -> None:
    # A published challenge without a contact address, as an import can create, can still be edited.
    assert save(client, phase.challenge, title="Dogs").status_code == 302
    Challenge.objects.update(contact="a@example.org")
    refused = save(client, Challenge.objects.get(), contact="")
    assert problems(refused)["contact"][0].startswith(
        "Contact: a published challenge needs an address for participants' questions"
    )
    assert save(client, Challenge.objects.get(), contact="b@example.org").status_code == 302
    Challenge.objects.update(visibility="draft")
    assert save(client, Challenge.objects.get(), contact="").status_code == 302


def test_email_domains_are_separated_by_spaces_or_commas(owner: User, phase: Phase, client: Client) -> None:
    save(client, phase.challenge, allowed_domains="Example.org, example.com")
    assert Challenge.objects.get().allowed_domains == "example.org example.com"


def test_the_audit_log_contains_the_number_of_allowed_people_but_no_names(
    owner: User, phase: Phase, client: Client
) -> None:
    save(client, phase.challenge, allowed_people="Ada@example.org, Bob")
    assert Challenge.objects.get().allowed_people == "ada@example.org bob"
    detail = Entry.objects.get(action="challenge.changed").detail
    assert detail == {"fields": ["allowed_people"], "values": {"allowed_people": ["0 people", "2 people"]}}


def test_an_edit_does_not_overwrite_a_change_by_another_organizer(owner: User, phase: Phase, client: Client) -> None:
    opened = submitted(phase.challenge)
    save(client, phase.challenge, title="Dogs")
    answer = client.post(address(phase.challenge), {**opened, "title": "Owls"})
    assert list(problems(answer)) == ["title"]
    assert client.post(address(phase.challenge), {**opened, "summary": "Only the summary"}).status_code == 422
    assert Challenge.objects.get().title == "Dogs"


def test_the_preview_button_shows_texts_and_saves_nothing(owner: User, phase: Phase, client: Client) -> None:
    content = submitted(phase.challenge, rules="# Be *fair*", title="Dogs") | {"preview": "yes"}
    page = Page(client.post(address(phase.challenge), content))
    assert "Be fair" in page.words
    assert Challenge.objects.get().rules == ""
    del content["preview"]
    assert client.post(address(phase.challenge), content).status_code == 302
    assert Challenge.objects.get().rules == "# Be *fair*"


def test_the_live_preview_is_sanitized_html(owner: User, phase: Phase, client: Client) -> None:
    answer = client.post("/organize/preview?field=rules", {"rules": "**a** <script>"})
    assert answer.content == b"<p><strong>a</strong> &lt;script&gt;</p>\n"


def test_the_form_lists_what_each_kind_of_feedback_reveals(owner: User, phase: Phase, client: Client) -> None:
    words = Page(client.get(address(phase))).words
    for part in (
        "Bits per day",
        "Scores are shown exactly",
        "rounded to 3 decimals",
        "Results per class reveal how many",
    ):
        assert part in words


@pytest.mark.parametrize("page", ["", "/edit", *(f"/phases/main{one}" for one in ("", "/live", "/submissions"))])
@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_only_viewers_are_told_that_they_cannot_change_anything(
    make: Make, phase: Phase, client: Client, page: str, role: str
) -> None:
    user = make.user()
    phase.challenge.organizers.add(user, through_defaults={"role": role})
    client.force_login(user)
    content = client.get(f"/organize/challenges/c{page}").content
    assert (b"You are a viewer" in content) == (role == "viewer")


def test_viewers_read_the_forms_without_buttons(make: Make, phase: Phase, client: Client) -> None:
    viewer = make.user()
    phase.challenge.organizers.add(viewer, through_defaults={"role": "viewer"})
    client.force_login(viewer)
    for row in (phase, phase.challenge):
        page = client.get(address(row))
        assert (page.status_code, b"You are a viewer" in page.content, b">Save<" in page.content) == (200, True, False)
        assert save(client, row, title="New").status_code == 403


def test_an_editor_who_may_not_end_a_phase_keeps_what_they_typed(make: Make, phase: Phase, client: Client) -> None:
    editor = make.user()
    phase.challenge.organizers.add(editor, through_defaults={"role": "editor"})
    client.force_login(editor)
    closing = datetime.now(UTC) - timedelta(hours=1)
    typed = {"title": "Second round", "closes_at": f"{closing:%Y-%m-%dT%H:%M:%S}", "quota_per_day": 7}
    page = Page(save(client, phase, **typed, confirm=phase.slug))
    assert page.status == 403
    assert {name: page.all("input", name=name)[0]["value"] for name in typed} == {
        name: str(value) for name, value in typed.items()
    }
