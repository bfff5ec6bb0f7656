"""`manage.py createsuperuser`: Django's command, extended to check the username and to write to the audit log."""

from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from server.accounts.adapter import AccountAdapter
from server.accounts.audited_command import AuditedCommand
from server.accounts.models import User
from server.accounts.services import confirm_own_address
from server.audit.services import record


class Command(AuditedCommand, createsuperuser.Command):
    def _validate_username(self, username: str, *more: Any) -> str | None:
        """Return an error message if the username violates the sign-up rules, and None otherwise."""
        fault: str | None = super()._validate_username(username, *more)  # type: ignore[misc]
        if fault is None:
            try:
                AccountAdapter().clean_username(username)
            except ValidationError as error:
                fault = " ".join(error.messages)
        return fault

    def handle(self, *args: Any, **options: Any) -> None:
        """Create the account, and then write an entry to the audit log.

        On SQLite, a transaction around both steps would block all other writers while the command prompts for input.
        """
        before = set(superusers())
        super().handle(*args, **options)
        user = User.objects.filter(pk__in=set(superusers()) - before).first()
        if user is None:
            # If there is no terminal, Django's command only prints a message and creates no account.
            return
        confirm_own_address(user)
        record(actor=None, action="account.created", subject=f"user {user.pk}", detail={"superuser": True})


def superusers() -> "QuerySet[User, int]":
    """Return the ids of all superusers."""
    return User.objects.filter(is_superuser=True).values_list("pk", flat=True)
