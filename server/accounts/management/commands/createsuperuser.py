"""`manage.py createsuperuser`: Django's, with a line in the audit log."""

from typing import Any

from django.contrib.auth.management.commands import createsuperuser

from server.accounts.acting import ActingCommand
from server.accounts.models import User
from server.accounts.services import vouch_for
from server.audit.services import record


class Command(ActingCommand, createsuperuser.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        """Log it afterwards: a transaction around the questions would keep everybody else from writing."""
        super().handle(*args, **options)
        user = User.objects.latest("pk")
        vouch_for(user)
        record(actor=None, action="account.created", subject=f"user {user.pk}", detail={"superuser": True})
