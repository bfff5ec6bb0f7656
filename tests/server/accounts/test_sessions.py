"""A session and its user are loaded with SQL that is compiled only once, instead of with Django's own queries.

The service must reject the same sessions as Django does. Each test runs twice: with and without the record of the login
that django-allauth stores. With this record, one query loads both the session and the user.
"""

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from server.accounts.models import User
from tests.recorded_login import log_in

pytestmark = pytest.mark.django_db


@pytest.fixture(params=[True, False], ids=["recorded login", "no recorded login"])
def person(client: Client, request: pytest.FixtureRequest) -> User:
    user = User.objects.create_user("ada", "ada@example.org")
    if request.param:
        log_in(client, "ada")
    else:
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


def test_a_session_that_belongs_to_another_account_than_its_record_is_read_by_django(
    client: Client, person: User
) -> None:
    other = User.objects.create_user("bob", "bob@example.org")
    UserSession.objects.update(user=other)
    assert client.get("/").wsgi_request.user == person


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (SESSION_KEY, "0"),
        (BACKEND_SESSION_KEY, ""),
        (BACKEND_SESSION_KEY, "django.contrib.auth.backends.ModelBackend"),  # The settings do not list ModelBackend.
        (HASH_SESSION_KEY, ""),
        (HASH_SESSION_KEY, "unknown"),
    ],
)
def test_a_changed_value_of_a_session_is_not_accepted(client: Client, person: User, name: str, value: str) -> None:
    session = client.session
    session[name] = value
    session.save()
    assert not is_logged_in(client)


def test_a_session_without_a_backend_is_not_accepted(client: Client, person: User) -> None:
    session = client.session
    del session[BACKEND_SESSION_KEY]
    session.save()
    assert not is_logged_in(client)


def test_the_session_and_the_user_of_a_recorded_login_are_loaded_with_one_query(client: Client) -> None:
    user = User.objects.create_user("ada", "ada@example.org", "a long password")
    client.post("/accounts/login", {"login": "ada", "password": "a long password"})
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/").wsgi_request.user == user
    read = [query["sql"] for query in queries if "session_data" in query["sql"] or '"password"' in query["sql"]]
    assert read == [queries[0]["sql"]]
