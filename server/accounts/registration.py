"""Signing up: a new account, once, in one transaction."""

from django.db import transaction

from server.accounts.models import User
from server.audit.services import record


@transaction.atomic
def sign_up(*, username: str, email: str, password: str) -> User:
    """Create an account from values that `SignUpForm` has checked; the database refuses doubles in any letter case."""
    user = User.objects.create_user(username=username, email=email, password=password)
    record(actor=user, action="account.created", subject=f"user {user.pk}")
    return user
