"""No value in an admin form and no selection in an admin list causes a server error."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django import forms
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import transaction
from django.test import Client
from django.urls import reverse

from server.accounts.models import User
from server.challenges.models import JoinRequest, Phase
from tests.server.admin.test_every_model import address, rows, staff

__all__ = ["rows", "staff"]
MODELS = sorted(admin.site._registry, key=lambda model: model.__name__)
TEXTS = (
    "",
    " ",
    "a\0b",
    "\u202eevil",
    "\u200b",
    "a\r\nb",
    "x" * 10**5,
    "\ufdfa" * 150,
    "\U0001f600",
    "\u3164",
    "'\"<%s>",
)
NUMBERS = ("", "-1", "0", "32768", str(2**31), str(10**24), "1e400", "nan", "x", "\0", "\u0663")
CHOICES = ("", "bogus", "\0", "-1", str(10**24), "x" * 10**5)
DATES = ("", "0001-01-01", "0999-12-31", "9999-12-31", "10000-01-01", "2026-02-30", "\0", "x")
TIMES = ("", "00:00:00", "23:59:59", "24:00", "\0")
KEYS = ("", "abc", "\0", "-1", str(10**24), "1e3", "x" * 10**5, "00000000-0000-0000-0000-00000000000g")


def sent(form: Any) -> dict[str, Any]:
    """Return the data that a browser submits for a form in which the user has changed nothing."""
    values: dict[str, Any] = {}
    for one in form:
        if one.field.disabled or one.value() is None or one.value() is False:
            continue
        if isinstance(one.value(), datetime):
            values |= {f"{one.html_name}_0": f"{one.value():%Y-%m-%d}", f"{one.html_name}_1": f"{one.value():%H:%M:%S}"}
        elif isinstance(one.value(), list):
            values[one.html_name] = [getattr(row, "pk", row) for row in one.value()]
        else:
            values[one.html_name] = one.value()
    return values


def rubbish(name: str, field: forms.Field) -> Iterator[dict[str, Any]]:
    """Yield possible values of a form field, most of which are invalid."""
    if isinstance(field, forms.SplitDateTimeField):
        yield from ({f"{name}_0": date, f"{name}_1": "00:00:00"} for date in DATES)
        yield from ({f"{name}_0": "9999-12-31", f"{name}_1": time} for time in TIMES)
        return
    kinds: tuple[tuple[type, tuple[str, ...]], ...] = (
        (forms.ModelMultipleChoiceField, CHOICES),
        (forms.ChoiceField, CHOICES),
        (forms.IntegerField, NUMBERS),
        (forms.CharField, TEXTS),
    )
    values = next((values for kind, values in kinds if isinstance(field, kind)), TEXTS + NUMBERS)
    yield from ({name: value} for value in values)
    yield {name: [values[-1], values[1]]}


def last(model: Any) -> Any:
    """Return the newest row of a model."""
    return model._default_manager.order_by("pk").last()


def form_of(staff: Client, url: str) -> Any:
    """Return the form of a page, or None if the user may not open the page."""
    page = staff.get(url)
    if page.status_code == 403:
        return None
    return page.context["adminform"].form if page.context.get("adminform") else page.context["form"]


def check(staff: Client, url: str, values: dict[str, Any]) -> None:
    """Submit a form, check that no server error occurs, and roll back all changes.

    If an edited row was saved, its reloaded form must also be accepted without changes.
    """
    with transaction.atomic():
        answer = staff.post(url, values)
        assert answer.status_code in (200, 302, 403), values
        if answer.status_code == 302 and url.endswith("/change/"):
            again = staff.post(url, sent(form_of(staff, url)))
            assert again.status_code == 302, (values, again.context["adminform"].form.errors)
        transaction.set_rollback(True)


def pages(model: Any) -> Iterator[str]:
    yield address(model, "add")
    yield address(model, "change", last(model).pk)
    if model is User:
        yield reverse("admin:auth_user_password_change", args=[last(model).pk])


def filled(form: Any) -> dict[str, Any]:
    """Return data for a form: its initial values, and valid values for the required fields of a new user."""
    new = {"username": "somebody", "email": "some@example.org"}
    new |= {"password1": "another long 7", "password2": "another long 7"}
    return {**{name: value for name, value in new.items() if name in form.fields}, **sent(form)}


@pytest.mark.parametrize("model", MODELS)
def test_no_value_in_a_form_causes_a_server_error(staff: Client, rows: Phase, model: Any) -> None:
    person = last(User)
    EmailAddress.objects.create(user=person, email=person.email)
    for url in pages(model):
        check(staff, url, {})
        if form := form_of(staff, url):
            check(staff, url, filled(form))
            for name, field in form.fields.items():
                for values in rubbish(name, field):
                    check(staff, url, {**filled(form), **values})


@pytest.mark.parametrize("model", MODELS)
def test_no_key_in_an_action_causes_a_server_error(staff: Client, rows: Phase, model: Any) -> None:
    for key in KEYS:
        for more in ({}, {"select_across": "1"}, {"index": str(10**24)}):
            for action in (*admin.site._registry[model].actions, "delete_selected", "bogus"):
                data = {"action": action, ACTION_CHECKBOX_NAME: [key, "1"], "index": "0", **more}
                with transaction.atomic():
                    assert staff.post(address(model, "changelist"), data).status_code in (200, 302, 403), data
                    transaction.set_rollback(True)


def test_an_action_on_a_missing_key_is_reported_and_does_nothing(staff: Client, rows: Phase) -> None:
    request = JoinRequest.objects.get()
    data = {"action": "approve", ACTION_CHECKBOX_NAME: [request.pk, "abc"], "index": "0"}
    page = staff.post(address(JoinRequest, "changelist"), data, follow=True)
    assert [str(message) for message in page.context["messages"]] == [
        "Nothing was changed, because a selected row no longer exists. Reload the list and select rows again."
    ]
    assert JoinRequest.objects.exists()
