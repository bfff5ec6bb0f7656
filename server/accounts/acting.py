"""Management commands whose deeds are logged with an actor."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from server.accounts.models import User
from server.audit.actors import acting, described, shell


class ActingCommand(BaseCommand):
    """Acts for the person that `--as` names, else for the user of the machine who runs it.

    `person`: the account that `--as` names; None for the operator, who may do everything.
    """

    person: User | None = None

    def create_parser(self, *words: Any, **options: Any) -> Any:
        parser: ArgumentParser = super().create_parser(*words, **options)
        parser.add_argument(
            "--as", dest="acts_for", metavar="USERNAME", help="the user whom the audit log names as the actor"
        )
        return parser

    def execute(self, *words: Any, **options: Any) -> str | None:
        username = options.get("acts_for")
        self.person = User.objects.filter(username__iexact=username, is_active=True).first() if username else None
        if username and self.person is None:
            raise CommandError(f"There is no active account named {username}.")
        with acting(described(self.person) if self.person else shell()):
            return super().execute(*words, **options)
