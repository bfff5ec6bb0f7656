"""`manage.py signing_key`: print the public keys that verify signed results, or switch to a new key."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from server.accounts.audited_command import AuditedCommand
from server.organize.services import signing_keys


class Command(AuditedCommand):
    help = (
        "Print the public key that verifies signed results, and any earlier keys. The exit status is 1 if the "
        "last results were signed with a key other than the current one. In that case, the server does not sign "
        "any results."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--replace",
            action="store_true",
            help="use the current key from now on; `podium verify` still accepts results signed with earlier keys",
        )

    def handle(self, *, replace: bool, **options: Any) -> None:
        if replace and signing_keys.replace(by=self.person):
            self.stdout.write("The key was replaced.")
        self.stdout.write(f"current key: {signing_keys.public_key()}")
        for key in signing_keys.earlier_keys():
            self.stdout.write(f"earlier key: {key}")
        if signing_keys.is_replaced():
            raise CommandError(signing_keys.REPLACED)
