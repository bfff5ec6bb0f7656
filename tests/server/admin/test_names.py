"""The admin checks names, titles, email domains and dates according to the same rules as pages and bundles."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from server.accounts.models import User
from server.challenges.models import Challenge, Phase, Team
from tests.conftest import Make
from tests.server.admin.test_every_model import staff
from tests.server.admin.test_terms import CHALLENGE, OPENED, PHASE, at, errors

__all__ = ["staff"]
HIDDEN = ("\u202eevil", "\u200b", "Basalt\u200b", "Basalt\ufe0f", "\u3164")


pytestmark = [
    pytest.mark.phase(challenge={"slug": "animals", "opens_at": OPENED}, slug="main"),
    pytest.mark.team(name="Granite"),
]


@pytest.fixture
def rival(phase: Phase, make: Make) -> Team:
    return make.team(phase.challenge, name="Basalt")


@pytest.mark.usefixtures("rival")
@pytest.mark.parametrize("name", ["Basalt", "basalt", "BASALT", " Basalt ", "B\u0430s\u0430lt", "\uff22asalt", *HIDDEN])
def test_a_team_cannot_get_a_name_that_joining_refuses(staff: Client, team: Team, name: str) -> None:
    assert set(errors(staff, team, name=name)) == {"name"}
    assert Team.objects.get(pk=team.pk).name == "Granite"


def test_a_new_name_of_a_team_is_stored_in_nfkc(staff: Client, team: Team) -> None:
    assert not errors(staff, team, name="\uff27neiss  2")
    assert Team.objects.get(pk=team.pk).name == "Gneiss 2"


def test_the_letter_case_of_a_team_name_can_be_changed(staff: Client, team: Team) -> None:
    assert not errors(staff, team, name="GRANITE")


def test_a_team_may_keep_a_name_that_looks_like_another(staff: Client, phase: Phase, make: Make) -> None:
    make.team(phase.challenge, name="Basalt")
    assert not errors(staff, make.team(phase.challenge, name="B\u0430s\u0430lt"), name="B\u0430s\u0430lt")


def person_errors(staff: Client, person: User | None, name: str) -> dict[str, Any]:
    """Create or rename a user in the admin, and return the errors of the form."""
    form = {"username": name, "email": "some@example.org", "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    if person is None:
        form |= {"password1": "another long 7", "password2": "another long 7", "usable_password": "true"}
    page, args = ("change", [person.pk]) if person else ("add", [])
    answer = staff.post(reverse(f"admin:accounts_user_{page}", args=args), form)
    return {} if answer.status_code == 302 else dict(answer.context["adminform"].form.errors)


@pytest.mark.parametrize("name", ["ada", "ADA", "\uff21da", "\u0430da", "a\u3164da", "ada\u200b", "\ufdfa" * 150, "@"])
@pytest.mark.parametrize("known", [True, False])
def test_a_person_cannot_get_a_name_that_sign_up_refuses(staff: Client, make: Make, name: str, known: bool) -> None:
    make.user(username="ada")
    assert set(person_errors(staff, make.user(username="bob") if known else None, name)) == {"username"}


def test_the_letter_case_of_a_username_can_be_changed(staff: Client, make: Make) -> None:
    assert not person_errors(staff, make.user(username="ada"), "Ada")


def test_a_name_that_is_taken_before_saving_is_an_error_of_the_form(
    staff: Client, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.accounts.adapter.refuse_look_alike", lambda *_: None)
    monkeypatch.setattr(User, "validate_constraints", lambda *_, **__: None)
    monkeypatch.setattr(User, "validate_unique", lambda *_, **__: None)
    make.user(username="ada")
    form = {"password1": "another long 7", "password2": "another long 7", "usable_password": "true"}
    answer = staff.post(reverse("admin:accounts_user_add"), {"username": "Ada", "email": "some@example.org", **form})
    assert answer.status_code == 422
    assert User.objects.filter(username__iexact="ada").count() == 1


@pytest.mark.parametrize("name", ["ADA", "\u0430da", "a\u3164da"])
def test_the_command_for_superusers_refuses_names_that_sign_up_refuses(
    make: Make, db: None, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "another long 7")
    make.user(username="ada")
    with pytest.raises(CommandError, match="name"):
        call_command("createsuperuser", "--noinput", username=name, email="root@example.org")


@pytest.mark.parametrize("title", HIDDEN)
@pytest.mark.parametrize("field", ["title", "summary"])
def test_a_title_that_a_bundle_may_not_have_is_refused(staff: Client, phase: Phase, field: str, title: str) -> None:
    form = {**CHALLENGE, **at("opens_at", OPENED), field: title}
    assert set(errors(staff, phase.challenge, **form)) == {field}
    if field == "title":
        assert set(errors(staff, phase, **{**PHASE, field: title})) == {field}


def test_a_title_of_two_lines_becomes_one_line_as_in_a_bundle(staff: Client, phase: Phase) -> None:
    assert not errors(staff, phase, **{**PHASE, "title": "a\n b"})
    assert Phase.objects.get().title == "a b"


@pytest.mark.parametrize("domains", ["not a domain!! ;;", "localhost", "example.org,uni.example", "ex\u0430mple.org"])
def test_a_mail_domain_that_a_bundle_may_not_have_is_refused(staff: Client, phase: Phase, domains: str) -> None:
    form = {**CHALLENGE, **at("opens_at", OPENED), "allowed_domains": domains}
    assert set(errors(staff, phase.challenge, **form)) == {"allowed_domains"}


def test_mail_domains_are_stored_as_an_import_stores_them(staff: Client, phase: Phase) -> None:
    form = {**CHALLENGE, **at("opens_at", OPENED), "allowed_domains": "Example.org  uni.example example.ORG"}
    assert not errors(staff, phase.challenge, **form)
    assert Challenge.objects.get().allowed_domains == "example.org uni.example"


@pytest.mark.parametrize("date", ["0001-01-01", "0999-12-31", "1899-12-31"])
@pytest.mark.parametrize("field", ["opens_at", "join_until", "merge_until"])
def test_a_date_that_the_form_could_not_display_again_is_refused(
    staff: Client, phase: Phase, date: str, field: str
) -> None:
    form = {**CHALLENGE, **at("opens_at", OPENED), f"{field}_0": date, f"{field}_1": "00:00:00"}
    assert "before the year 1900" in str(errors(staff, phase.challenge, **form)[field])


def test_a_person_may_keep_a_name_that_looks_like_another(staff: Client, make: Make) -> None:
    make.user(username="ada")
    assert not person_errors(staff, make.user(username="\u0430da"), "\u0430da")
