"""A session and its user are loaded with compiled queries, which reject the same sessions as Django's own queries."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from server.accounts.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(client: Client) -> User:
    user = User.objects.create_user("ada", "ada@example.org")
    client.force_login(user)
    return user


def is_logged_in(client: Client) -> bool:
    return client.get("/accounts/profile").status_code == 200


def test_a_session_that_has_not_expired_is_valid(client: Client, person: User) -> None:
    assert is_logged_in(client)
    assert client.get("/").wsgi_request.user == person


def test_an_expired_session_is_invalid(client: Client, person: User) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert not is_logged_in(client)


def test_a_deleted_session_is_invalid(client: Client, person: User) -> None:
    Session.objects.all().delete()
    assert not is_logged_in(client)


def test_an_unknown_session_key_is_invalid(client: Client, person: User) -> None:
    client.cookies["sessionid"] = "unknown"
    assert not is_logged_in(client)


def test_the_session_of_an_inactive_account_is_invalid(client: Client, person: User) -> None:
    User.objects.update(is_active=False)
    assert not is_logged_in(client)


def test_a_changed_password_ends_a_session(client: Client, person: User) -> None:
    person.set_password("a new password")
    person.save()
    assert not is_logged_in(client)


def test_a_changed_account_is_read_again(client: Client, person: User) -> None:
    client.get("/")
    User.objects.update(is_staff=True)
    assert client.get("/").wsgi_request.user.is_staff
