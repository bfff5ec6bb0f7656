"""Management commands whose deeds are logged with an actor."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from server.accounts.models import User
from server.audit.actors import acting, described, shell

TEXT_CHARACTERS = 10_000  # SQLite refuses to compare with much longer ones


def text(argument: str) -> str:
    """Return an argument that the database can store and compare."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise ArgumentTypeError(f"{argument!r} is not UTF-8") from None
    if "\0" in argument:
        raise ArgumentTypeError(f"{argument!r} contains a NUL character")
    if len(argument) > TEXT_CHARACTERS:
        raise ArgumentTypeError(f"has {len(argument)} characters; at most {TEXT_CHARACTERS} are allowed")
    return argument


def path(argument: str) -> Path:
    """Return an argument that names a file or folder; the name may be in any encoding."""
    if "\0" in argument:
        raise ArgumentTypeError(f"{argument!r} contains a NUL character")
    return Path(argument)


class ActingCommand(BaseCommand):
    """Acts for the person that `--as` names, else for the user of the machine who runs it.

    Every argument without a type is a `text`, and every Path a `path`.

    `person`: the account that `--as` names; None for the operator, who may do everything.
    """

    person: User | None = None

    def create_parser(self, *words: Any, **options: Any) -> Any:
        parser: ArgumentParser = super().create_parser(*words, **options)
        parser.register("type", None, text)
        parser.register("type", Path, path)
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
