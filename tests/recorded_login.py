"""Logs a test client in, and records this in the same way as a login with a password."""

from django.test import Client


def log_in(client: Client, username: str) -> None:
    """Log a user in. The session and its user can then be loaded with one query.

    Django's `force_login` does not create django-allauth's record of the login. Without this record, two more
    queries are needed.
    """
    from allauth.usersessions.models import UserSession

    from server.accounts.models import User

    user = User.objects.get(username=username)
    client.force_login(user)
    key = client.session.session_key
    UserSession.objects.create(user=user, session_key=key, ip="127.0.0.1", user_agent="Firefox")
