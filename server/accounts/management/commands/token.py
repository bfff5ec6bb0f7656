"""`manage.py token USERNAME`: create an API token and print only its secret."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from server.accounts.audited_command import AuditedCommand
from server.accounts.models import ApiToken, User
from server.accounts.services import issue_token
from server.errors import Refused


class Command(AuditedCommand):
    help = "Create an API token for a user and print its secret. The secret cannot be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--name", default="command line", help="what the token is for")
        parser.add_argument("--scope", default=ApiToken.Scope.SUBMIT, choices=ApiToken.Scope.values)
        parser.add_argument(
            "--days", type=int, default=settings.API_TOKEN_DAYS, help="number of days until the token expires"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username__iexact=options["username"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active account named {options['username']}.")
        try:
            _, secret = issue_token(user=user, name=options["name"], scope=options["scope"], days=options["days"])
        except Refused as refusal:
            raise CommandError(refusal.detail) from None
        self.stdout.write(secret)
