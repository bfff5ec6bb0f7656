"""Commands that act for a person: `--as USERNAME`, who then stands in the audit log."""

from argparse import ArgumentParser

from django.core.management.base import CommandError

from server.accounts.models import User


def add_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--as", dest="acting", metavar="USERNAME", help="who does this; recorded in the audit log")


def person(username: str | None) -> User | None:
    """Return the active account of this name; None, the service itself, where no name is given."""
    if not username:
        return None
    user = User.objects.filter(username__iexact=username, is_active=True).first()
    if user is None:
        raise CommandError(f"There is no active account named {username}.")
    return user
