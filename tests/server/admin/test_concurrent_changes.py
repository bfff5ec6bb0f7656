"""Saving a form of the admin does not overwrite what a service has written since the form was loaded."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.forms import ChallengeForm, PhaseForm
from server.challenges.models import Challenge, Phase, Team
from tests.server.admin.test_terms import CHALLENGE, OPENED, PHASE, at, errors, staff

__all__ = ["staff"]  # a fixture
pytestmark = pytest.mark.phase(challenge={"slug": "animals", "opens_at": OPENED}, slug="main")


def meanwhile(monkeypatch: pytest.MonkeyPatch, form: type, write: Any) -> None:
    """Call `write` after a form has been validated and before it is saved, like a simultaneous transaction."""
    clean = form.clean

    def late(self: Any) -> Any:
        values = clean(self)
        write()
        return values

    monkeypatch.setattr(form, "clean", late)


def test_a_phase_that_is_saved_keeps_a_rescoring_that_was_applied_meanwhile(
    staff: Client, phase: Phase, monkeypatch: Any
) -> None:
    meanwhile(monkeypatch, PhaseForm, lambda: Phase.objects.update(signature="rescored", sample_submission="new.csv"))
    assert not errors(staff, phase, **{**PHASE, "quota_per_day": 7})
    after = Phase.objects.get()
    assert (after.quota_per_day, after.signature, after.sample_submission) == (7, "rescored", "new.csv")
    assert Entry.objects.latest("number").detail["values"]["quota_per_day"] == ["5", "7"]


def test_a_phase_whose_form_changes_nothing_writes_nothing(staff: Client, phase: Phase, monkeypatch: Any) -> None:
    Phase.objects.update(title="x")
    meanwhile(monkeypatch, PhaseForm, lambda: Phase.objects.update(quota_per_day=9))
    assert not errors(staff, phase, **PHASE)
    assert Phase.objects.get().quota_per_day == 9


def test_a_challenge_that_is_saved_keeps_what_an_import_wrote_meanwhile(
    staff: Client, phase: Phase, monkeypatch: Any
) -> None:
    meanwhile(monkeypatch, ChallengeForm, lambda: Challenge.objects.update(rules="new rules"))
    assert not errors(staff, phase.challenge, **CHALLENGE, **at("opens_at", OPENED))
    after = Challenge.objects.get()
    assert (after.title, after.rules) == ("T", "new rules")


def test_a_team_that_is_renamed_keeps_its_turn(staff: Client, phase: Phase, make: Any, monkeypatch: Any) -> None:
    team = make.team(phase.challenge)
    monkeypatch.setattr(
        "server.challenges.forms.chosen_name", lambda name, _: Team.objects.update(served_at=OPENED) and name
    )
    assert not errors(staff, team, name="Owls")
    team.refresh_from_db()
    assert (team.name, team.served_at) == ("Owls", OPENED)


def test_a_new_password_keeps_an_account_deactivated(make: Any, staff: Client, monkeypatch: Any) -> None:
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


def test_a_password_that_its_owner_changes_keeps_an_account_deactivated(make: Any, monkeypatch: Any) -> None:
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
