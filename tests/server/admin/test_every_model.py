"""Tests the admin: lists open, ledgers and logs are read-only, ground truths are hidden, and changes are logged."""

from io import StringIO
from typing import Any

import pytest
from django.contrib import admin
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from server.accounts.models import User
from server.accounts.services import issue_token
from server.audit.models import Entry
from server.audit.services import record
from server.challenges.models import Challenge, JoinRequest, Phase
from server.submissions.services import quota
from tests.conftest import Make
from tests.server.conftest import Scored

OURS = sorted(
    (model for model in admin.site._registry if model.__module__.startswith("server.")),
    key=lambda model: model.__name__,
)
READ_ONLY = {
    "entry",
    "apitoken",
    "truth",
    "membership",
    "joinrequest",
    "submission",
    "evaluation",
    "score",
    "quotaentry",
}


@pytest.fixture
def staff(make: Make) -> Client:
    browser = Client()
    browser.force_login(make.user(username="root", is_staff=True, is_superuser=True))
    return browser


@pytest.fixture
def rows(make: Make, scored: Scored) -> Phase:
    """Create at least one row in every table that the admin shows."""
    phase = make.phase()
    submission = scored(phase, 0.5)
    quota.charge(submission, now=submission.received_at)
    JoinRequest.objects.create(challenge=phase.challenge, user=make.user(), rules_accepted_at=submission.received_at)
    issue_token(user=submission.user, name="laptop", scope="read", days=1)
    record(actor=submission.user, action="test.done", subject="thing")
    return phase


def row_of(model: Any) -> Any:
    """Return the first row of the model's table. Fail if there is none, because the test would then check nothing."""
    row = model._default_manager.first()
    assert row is not None
    return row


def address(model: Any, page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


@pytest.mark.parametrize("model", OURS)
def test_a_list_opens_and_can_be_searched(staff: Client, rows: Phase, model: Any) -> None:
    assert staff.get(address(model, "changelist")).status_code == 200
    if admin.site._registry[model].search_fields:
        assert staff.get(address(model, "changelist"), {"q": "a"}).status_code == 200


@pytest.mark.parametrize("model", OURS)
def test_the_page_of_a_row_opens(staff: Client, rows: Phase, model: Any) -> None:
    assert staff.get(address(model, "change", row_of(model).pk)).status_code == 200


@pytest.mark.parametrize("model", OURS)
def test_no_row_can_be_deleted_in_the_admin(staff: Client, rows: Phase, model: Any) -> None:
    row = row_of(model)
    assert staff.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    assert model._default_manager.filter(pk=row.pk).exists()


def test_every_read_only_table_is_in_the_admin() -> None:
    # Scores do not have their own admin page; they are shown on the page of their evaluation.
    assert {model._meta.model_name for model in OURS} >= READ_ONLY - {"score"}


@pytest.mark.parametrize("model", [model for model in OURS if model._meta.model_name in READ_ONLY])
def test_ledgers_and_logs_are_read_only(staff: Client, rows: Phase, model: Any) -> None:
    assert staff.get(address(model, "add")).status_code == 403
    assert staff.post(address(model, "change", row_of(model).pk), {}).status_code == 403


@pytest.mark.parametrize("model", [model for model in OURS if model._meta.model_name not in READ_ONLY])
def test_a_page_that_can_be_saved_contains_a_hash_of_every_value(staff: Client, rows: Phase, model: Any) -> None:
    page = staff.get(address(model, "change", row_of(model).pk))
    form = page.context["adminform"].form
    assert f'name="shown" value="{form["shown"].value()}"' in page.content.decode()
    editable = {one.name for one in form if one.name != "shown" and not one.field.disabled}
    assert editable == {one.partition("=")[0] for one in form["shown"].value().split()}
    assert editable


def test_the_page_of_a_truth_contains_no_file_name(staff: Client, rows: Phase) -> None:
    truth = rows.truths.get()
    html = staff.get(address(type(truth), "change", truth.pk)).content.decode()
    assert truth.prepared.name not in html
    assert truth.source.name not in html


def test_the_page_of_a_submission_contains_no_file_name(staff: Client, rows: Phase) -> None:
    submission = rows.submissions.get()
    html = staff.get(address(type(submission), "change", submission.pk)).content.decode()
    assert submission.file_name in html
    assert submission.file.name not in html


def test_the_page_of_a_token_shows_no_hash(staff: Client, rows: Phase) -> None:
    token = rows.challenge.teams.first().memberships.get().user.api_tokens.get()
    assert token.sha256 not in staff.get(address(type(token), "change", token.pk)).content.decode()


def test_a_token_can_be_revoked_from_the_list(staff: Client, rows: Phase) -> None:
    token = rows.challenge.teams.first().memberships.get().user.api_tokens.get()
    staff.post(address(type(token), "changelist"), {"action": "revoke", "_selected_action": [token.pk]})
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_a_change_is_logged_with_its_fields(staff: Client, rows: Phase) -> None:
    challenge: Challenge = rows.challenge
    form = {
        **{"title": "New title", "visibility": "public", "opens_at_0": "2026-01-01", "opens_at_1": "00:00:00"},
        **{"registration": "open", "team_max_size": 5, "summary": "", "description": "", "rules": "", "data": ""},
    }
    answer = staff.post(address(Challenge, "change", challenge.pk), form)
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    entry = Entry.objects.get(action="challenge.changed")
    assert entry.actor == "root"
    assert "title" in entry.detail["fields"]
    assert entry.detail["values"]["title"] == [challenge.title, "New title"]


def test_a_change_of_role_is_logged_without_personal_data(staff: Client, make: Make) -> None:
    person = make.user(username="ada", email="ada@example.org")
    form = {
        **{"username": "ada", "email": "new@example.org", "is_active": "on", "is_staff": "on"},
        **{"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"},
    }
    answer = staff.post(address(User, "change", person.pk), form)
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    detail = Entry.objects.get(action="user.changed").detail
    assert detail["values"] == {"is_staff": ["False", "True"]}
    assert "email" in detail["fields"]
    assert "example.org" not in str(detail)


def test_the_creation_of_a_superuser_by_a_command_is_logged(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "another long 7")
    call_command("createsuperuser", "--noinput", username="root", email="root@example.org", stdout=StringIO())
    entry = Entry.objects.get(action="account.created")
    assert (entry.subject, entry.detail) == (f"user {User.objects.get().pk}", {"superuser": True})


def test_a_failed_creation_of_a_superuser_by_a_command_changes_no_account(make: Make) -> None:
    person = make.user()
    call_command("createsuperuser", stdout=StringIO(), stderr=StringIO(), stdin=StringIO())
    assert not person.emailaddress_set.exists()
    assert not Entry.objects.filter(action="account.created").exists()


def test_a_new_password_is_logged(staff: Client, rows: Phase, make: Make) -> None:
    person = make.user()
    new = {"password1": "another long 7", "password2": "another long 7", "usable_password": "true"}
    staff.post(reverse("admin:auth_user_password_change", args=[person.pk]), {**new, "set-password": "1"})
    assert person.password != User.objects.get(pk=person.pk).password
    entry = Entry.objects.get(action="user.password_changed")
    assert (entry.actor, entry.subject) == ("root", f"user {person.pk}")
    assert entry.detail == {"user": person.pk, "usable": True}


def test_a_password_that_is_refused_is_not_logged(staff: Client, rows: Phase, make: Make) -> None:
    new = {"password1": "another long 7", "password2": "not the same 8", "usable_password": "true"}
    staff.post(reverse("admin:auth_user_password_change", args=[make.user().pk]), {**new, "set-password": "1"})
    assert not Entry.objects.filter(action="user.password_changed").exists()


def test_staff_change_their_password_on_the_same_page_as_everybody_else(staff: Client) -> None:
    assert staff.get(reverse("admin:password_change")).url == reverse("account_change_password")


def test_fields_that_scores_depend_on_cannot_be_edited(staff: Client, rows: Phase) -> None:
    phase: Phase = rows
    form = {"title": "x", "position": 0, "quota_per_day": 1, "attempts_per_day": 1, "finals": 1, "feedback": "exact"}
    answer = staff.post(address(Phase, "change", phase.pk), {**form, "track": "other", "signature": "forged"})
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    changed = Phase.objects.get(pk=phase.pk)
    assert (changed.quota_per_day, changed.track, changed.signature) == (1, phase.track, phase.signature)


def test_ladder_feedback_cannot_be_combined_with_results_per_class(staff: Client, rows: Phase) -> None:
    form = {"title": "x", "position": 0, "quota_per_day": 1, "attempts_per_day": 1, "finals": 1, "feedback": "ladder"}
    answer = staff.post(address(Phase, "change", rows.pk), {**form, "feedback_classes": "on"})
    assert "Turn off ladder feedback" in str(answer.context["adminform"].form.errors)
    assert staff.post(address(Phase, "change", rows.pk), form).status_code == 302


def test_dates_in_the_wrong_order_are_reported(staff: Client, rows: Phase) -> None:
    form = {
        **{"title": "T", "visibility": "public", "opens_at_0": "2026-02-01", "opens_at_1": "00:00:00"},
        **{"closes_at_0": "2026-01-01", "closes_at_1": "00:00:00", "registration": "open", "team_max_size": 5},
    }
    answer = staff.post(address(Challenge, "change", rows.challenge.pk), form)
    assert answer.status_code == 200
    assert answer.context["adminform"].form.errors


def test_a_person_without_the_staff_role_cannot_open_the_admin(client: Client, make: Make) -> None:
    client.force_login(make.user())
    assert client.get(reverse("admin:index")).status_code == 302
