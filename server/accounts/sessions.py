"""Loads the session and the user of a request with one query, which is compiled to SQL only once.

Every request from a logged-in user needs the session and the user. Django's own two queries would take as much time as
the rest of a 304 Not Modified response.
"""

from datetime import datetime
from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject

from server.accounts.models import User
from server.compiled_queries import compiled_query


class SessionStore(db.SessionStore):
    """Django's database-backed sessions, extended to load the user's account in the same query as the session data.

    `account` is None if the session belongs to no account, or if django-allauth has no record of the login.
    """

    account: User | None = None

    def load(self) -> dict[str, Any]:
        key, now = self.session_key or "", timezone.now()
        for account in accounts_of_session(key=key, now=now):
            if account.session_data is not None:
                self.account = account
                return self.decode(account.session_data)
        for (data,) in contents(key=key, now=now):
            return self.decode(data)
        self._session_key = None
        return {}


class AccountBackend(AuthenticationBackend):
    """django-allauth's authentication backend, extended to load an account with a compiled query."""

    def get_user(self, user_id: Any) -> User | None:
        found = next(iter(accounts(pk=user_id)), None)
        return found if found is not None and self.user_can_authenticate(found) else None


class AccountMiddleware(AuthenticationMiddleware):
    """Django's authentication middleware, extended to use the account that was loaded with the session."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: user_of(request))  # type: ignore[assignment]


def user_of(request: HttpRequest) -> User | AnonymousUser:
    """Return the user of a request. As in Django, the user is determined once and then kept in the request object."""
    if not hasattr(request, "_cached_user"):
        request._cached_user = logged_in(request.session) or get_user(request)  # type: ignore[attr-defined]
    found: User | AnonymousUser = request._cached_user  # type: ignore[attr-defined]
    return found


def logged_in(session: Any) -> User | None:
    """Return the account that was loaded with a session, or None if the session fails a check.

    The checks are the same as in :func:`django.contrib.auth.get_user`. If a check fails, for example because the
    secret key was changed, the caller falls back to `get_user`.
    """
    # Reading a value of the session loads the session and, with the same query, the user's account.
    user_id = session.get(SESSION_KEY)
    account: User | None = session.account
    if account is None or user_id != str(account.pk) or session.get(BACKEND_SESSION_KEY) != BACKEND:
        return None
    is_proved = constant_time_compare(session.get(HASH_SESSION_KEY, ""), account.get_session_auth_hash())
    return account if is_proved and AccountBackend().user_can_authenticate(account) else None


BACKEND = f"{AccountBackend.__module__}.{AccountBackend.__qualname__}"


@compiled_query
def accounts_of_session(*, key: str, now: datetime) -> QuerySet[Any]:
    """Return the account that logged in with the given session, annotated with `organizes` and `session_data`.

    `organizes` is true if the user organizes a challenge. `session_data` is None if the session has expired or was
    deleted.
    """
    data = Session.objects.filter(session_key=key, expire_date__gt=now).values("session_data")
    return with_role(User.objects.filter(usersession__session_key=key)).annotate(session_data=Subquery(data))


@compiled_query
def contents(*, key: str, now: datetime) -> QuerySet[Session, tuple[str]]:
    """Return the data of the session with the given key, unless the session has expired."""
    return Session.objects.filter(session_key=key, expire_date__gt=now).values_list("session_data")


@compiled_query
def accounts(*, pk: int) -> QuerySet[Any]:
    """Return the account with the given primary key, annotated with `organizes`; see `with_role`."""
    return with_role(User.objects.filter(pk=pk))


def with_role(users: QuerySet[User]) -> QuerySet[Any]:
    """Annotate users with `organizes`: whether they organize a challenge. The header of every page depends on it."""
    organized = User.objects.filter(pk=OuterRef("pk"), organized_challenges__isnull=False)
    return users.annotate(organizes=Exists(organized))
