"""Loads the session and the user of a request with queries that are compiled only once.

Both are loaded for every request from a logged-in user. Django's own queries would take as much time as the rest of a
304 Not Modified response.
"""

from datetime import datetime
from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from server.accounts.models import User
from server.compiled_queries import compiled_query


class SessionStore(db.SessionStore):
    """Django's database-backed sessions, read with a query that is compiled to SQL only once."""

    def load(self) -> dict[str, Any]:
        for (data,) in contents(key=self.session_key or "", now=timezone.now()):
            return self.decode(data)
        self._session_key = None
        return {}


class AccountBackend(AuthenticationBackend):
    """django-allauth's authentication backend, extended to load the user of a session with a compiled query."""

    def get_user(self, user_id: Any) -> User | None:
        found = next(iter(accounts(pk=user_id)), None)
        return found if found is not None and self.user_can_authenticate(found) else None


@compiled_query
def contents(*, key: str, now: datetime) -> QuerySet[Session, tuple[str]]:
    """Return the data of the session with the given key, unless the session has expired."""
    return Session.objects.filter(session_key=key, expire_date__gt=now).values_list("session_data")


@compiled_query
def accounts(*, pk: int) -> QuerySet[Any]:
    """Return the account with the given primary key, annotated with `organizes`.

    `organizes` is true if the user organizes a challenge. The header of every page depends on it.
    """
    organized = User.objects.filter(pk=OuterRef("pk"), organized_challenges__isnull=False)
    return User.objects.filter(pk=pk).annotate(organizes=Exists(organized))
