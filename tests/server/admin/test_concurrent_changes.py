"""Saving an admin form does not overwrite changes that were made after the form was loaded."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.forms import ChallengeForm, PhaseForm
from server.challenges.models import Challenge, Phase, Team
from tests.conftest import Make
from tests.server.admin.test_every_model import address
from tests.server.admin.test_rubbish import form_of, sent
from tests.server.admin.test_terms import CHALLENGE, FUTURE, OPENED, PHASE, at, errors, staff

__all__ = ["staff"]  # pytest finds this imported fixture by name.
pytestmark = pytest.mark.phase(challenge={"slug": "animals", "opens_at": OPENED}, slug="main")


def meanwhile(monkeypatch: pytest.MonkeyPatch, form: type, write: Any) -> None:
    """Call `write` after a form is validated and before it is saved, to simulate a concurrent transaction."""
    clean = form.clean

    def late(self: Any) -> Any:
        values = clean(self)
        write()
        return values

    monkeypatch.setattr(form, "clean", late)


def refusal(staff: Client, url: str, page: Any, **changes: Any) -> set[str]:
    """Submit a form that was loaded earlier, with the given changes. Return the names of the fields with errors."""
    answer = staff.post(url, {**sent(page), **changes})
    if answer.status_code == 302:
        return set()
    found = answer.context["adminform"].form.errors.as_data()
    assert {one.code for each in found.values() for one in each} == {"changed_meanwhile"}
    return set(found)


def test_a_form_does_not_undo_changes_made_since_it_was_loaded(staff: Client, phase: Phase, make: Make) -> None:
    team, person = make.team(phase.challenge), make.user(username="ada")
    rows: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
        (phase, {"quota_per_day": 9}, {"title": "New"}),
        (phase.challenge, {"closes_at": FUTURE}, {"title": "New"}),
        (team, {"name": "Owls"}, {"name": "Cats"}),
        (person, {"is_active": False}, {"first_name": "Ada"}),
    ]
    for row, written, changes in rows:
        url = address(type(row), "change", row.pk)
        page, before = form_of(staff, url), type(row).objects.filter(pk=row.pk)
        before.update(**written)
        expected = before.values().get()
        assert refusal(staff, url, page, **changes) == set(written)
        assert before.values().get() == expected
        assert refusal(staff, url, form_of(staff, url), **changes) == set()


def test_a_form_that_is_submitted_twice_is_saved(staff: Client, phase: Phase) -> None:
    url = address(Phase, "change", phase.pk)
    page = form_of(staff, url)
    assert refusal(staff, url, page, title="New") == set()
    assert refusal(staff, url, page, title="New") == set()
    assert Entry.objects.latest("number").detail["fields"] == []


def test_a_login_after_the_page_was_opened_is_kept(staff: Client, make: Make) -> None:
    person = make.user(username="ada")
    url = address(User, "change", person.pk)
    page = form_of(staff, url)
    User.objects.filter(pk=person.pk).update(last_login=OPENED)
    dates = {**at("last_login", FUTURE), **at("date_joined", FUTURE)}
    assert refusal(staff, url, page, first_name="Ada", **dates) == set()
    after = User.objects.get(pk=person.pk)
    assert (after.first_name, after.last_login, after.date_joined) == ("Ada", OPENED, person.date_joined)


def test_saving_a_phase_keeps_a_rescoring_that_was_applied_meanwhile(
    staff: Client, phase: Phase, monkeypatch: Any
) -> None:
    meanwhile(monkeypatch, PhaseForm, lambda: Phase.objects.update(signature="rescored", sample_submission="new.csv"))
    assert not errors(staff, phase, **{**PHASE, "quota_per_day": 7})
    after = Phase.objects.get()
    assert (after.quota_per_day, after.signature, after.sample_submission) == (7, "rescored", "new.csv")
    assert Entry.objects.latest("number").detail["values"]["quota_per_day"] == ["5", "7"]


def test_a_form_without_changes_does_not_write_the_phase(staff: Client, phase: Phase, monkeypatch: Any) -> None:
    Phase.objects.update(title="x")
    meanwhile(monkeypatch, PhaseForm, lambda: Phase.objects.update(quota_per_day=9))
    assert not errors(staff, phase, **PHASE)
    assert Phase.objects.get().quota_per_day == 9


def test_saving_a_challenge_keeps_what_an_import_wrote_meanwhile(staff: Client, phase: Phase, monkeypatch: Any) -> None:
    meanwhile(monkeypatch, ChallengeForm, lambda: Challenge.objects.update(rules="new rules"))
    assert not errors(staff, phase.challenge, **CHALLENGE, **at("opens_at", OPENED))
    after = Challenge.objects.get()
    assert (after.title, after.rules) == ("T", "new rules")


def test_renaming_a_team_does_not_change_when_its_files_are_scored(
    staff: Client, phase: Phase, make: Any, monkeypatch: Any
) -> None:
    team = make.team(phase.challenge)
    monkeypatch.setattr(
        "server.challenges.forms.chosen_name", lambda name, _: Team.objects.update(served_at=OPENED) and name
    )
    assert not errors(staff, team, name="Owls")
    team.refresh_from_db()
    assert (team.name, team.served_at) == ("Owls", OPENED)


def test_a_new_password_does_not_reactivate_an_account(make: Any, staff: Client, monkeypatch: Any) -> None:
    user = make.user(username="ada")
    set_password = User.set_password

    def late(self: User, password: str) -> None:
        set_password(self, password)
        User.objects.filter(pk=user.pk).update(is_active=False)

    monkeypatch.setattr(User, "set_password", late)
    form = {"password1": "another battery staple", "password2": "another battery staple", "usable_password": "true"}
    assert staff.post(reverse("admin:auth_user_password_change", args=[user.pk]), form).status_code == 302
    user.refresh_from_db()
    assert user.check_password("another battery staple")
    assert not user.is_active


def test_a_password_change_by_the_owner_does_not_reactivate_an_account(make: Any, monkeypatch: Any) -> None:
    user = make.user(username="ada")
    client = Client()
    client.force_login(user)
    set_password = User.set_password

    def late(self: User, password: str) -> None:
        set_password(self, password)
        User.objects.filter(pk=user.pk).update(is_active=False)

    monkeypatch.setattr(User, "set_password", late)
    new = {"password1": "another battery staple", "password2": "another battery staple"}
    client.post(reverse("account_change_password"), {"oldpassword": make.password, **new})
    user.refresh_from_db()
    assert user.check_password("another battery staple")
    assert not user.is_active


def test_a_row_that_was_removed_meanwhile_is_not_an_error(staff: Client, phase: Phase, monkeypatch: Any) -> None:
    monkeypatch.setattr("server.challenges.admin.PhaseAdmin.locked", lambda self, row: None)
    answer = staff.post(reverse("admin:challenges_phase_change", args=[phase.pk]), PHASE)
    assert answer.status_code == 302
    assert answer["Location"] == reverse("admin:index")
