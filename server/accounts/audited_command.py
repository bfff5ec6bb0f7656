"""The base class for management commands whose actions are recorded in the audit log."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.dispatch import Signal

from server.accounts.models import User
from server.audit.actors import acting, shell_actor, user_actor
from server.errors import full_disk

NO_SPACE = (
    "There is no space left on the disk that holds the files or the database. No partial changes were "
    "saved. Free some space and run the same command again."
)
# Sent before an audited command runs. A receiver raises CommandError to refuse the command.
starts = Signal()
# Command-line arguments are limited to 10,000 characters, because SQLite cannot compare strings that are much longer.
TEXT_CHARACTERS = 10_000


def text_argument(argument: str) -> str:
    """Return a command-line argument. Raises ArgumentTypeError if the argument is empty or cannot be stored.

    An empty argument usually comes from an unset shell variable. If it were ignored, the command could do more than
    intended.
    """
    if not argument:
        raise ArgumentTypeError("is empty")
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise ArgumentTypeError(f"{argument!r} is not UTF-8") from None
    if "\0" in argument:
        raise ArgumentTypeError(f"{argument!r} contains a NUL character")
    if len(argument) > TEXT_CHARACTERS:
        raise ArgumentTypeError(f"has {len(argument)} characters; at most {TEXT_CHARACTERS} are allowed")
    return argument


def path_argument(argument: str) -> Path:
    """Return a command-line argument as a path. The path does not have to be valid UTF-8.

    Raises ArgumentTypeError if the argument is empty or contains a NUL character.
    """
    if not argument:
        raise ArgumentTypeError("is empty")
    if "\0" in argument:
        raise ArgumentTypeError(f"{argument!r} contains a NUL character")
    return Path(argument)


class AuditedCommand(BaseCommand):
    """A management command that records its actions in the audit log.

    The recorded actor is the user account given by `--as` or, without this option, the operating system user. `person`
    is the account given by `--as`. If it is None, the command runs with all permissions.

    Arguments without a type are validated by `text_argument`, and paths by `path_argument`. If the disk is full, the
    command prints an error message and exits with status 1.

    On a host whose AUDIT_KEY is not that of the installation, only commands with `accepts_other_keys` run, because
    entries that are written there could never be verified.
    """

    accepts_other_keys = False
    person: User | None = None

    def create_parser(self, *words: Any, **options: Any) -> Any:
        parser: ArgumentParser = super().create_parser(*words, **options)
        parser.register("type", None, text_argument)
        parser.register("type", Path, path_argument)
        parser.add_argument(
            "--as",
            dest="acts_for",
            metavar="USERNAME",
            help="username to record in the audit log as the person who ran the command",
        )
        return parser

    def execute(self, *words: Any, **options: Any) -> str | None:
        starts.send(type(self))
        username = options.get("acts_for")
        self.person = User.objects.filter(username__iexact=username, is_active=True).first() if username else None
        if username is not None and self.person is None:
            raise CommandError(f"There is no active account named {username}.")
        with acting(user_actor(self.person) if self.person else shell_actor()):
            try:
                return super().execute(*words, **options)
            except (OSError, DatabaseError) as error:
                if full_disk(error) is None:
                    raise
                raise CommandError(NO_SPACE) from error
