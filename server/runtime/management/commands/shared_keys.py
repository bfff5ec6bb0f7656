"""`manage.py shared_keys`: compare the secret keys of this host with those of the installation, or accept them."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from server.accounts.audited_command import AuditedCommand
from server.audit import services as audit
from server.organize.services import signing_keys
from server.runtime import shared_keys


class Command(AuditedCommand):
    accepts_other_keys = True
    help = (
        "Compare SECRET_KEY, AUDIT_KEY and SIGNING_KEY of this host with the fingerprints of the installation's "
        "keys in the database. The exit status is 1 if a key differs. In that case, no part of the service "
        "starts on this host."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--accept",
            action="store_true",
            help="use the keys of this host from now on. With another SECRET_KEY, everyone has to log in again and "
            "set up two-factor authentication again; with another AUDIT_KEY, earlier entries of the audit log can no "
            "longer be verified; with another SIGNING_KEY, results are signed with it",
        )

    def handle(self, *, accept: bool, **options: Any) -> None:
        names = shared_keys.differing(shared_keys.of_installation())
        if accept and names:
            self.accept(names)
            self.stdout.write(f"accepted: {', '.join(names)}")
        elif names:
            raise CommandError(shared_keys.explanation(names))
        else:
            self.stdout.write("the keys match those of the installation")

    @transaction.atomic
    def accept(self, names: list[str]) -> None:
        shared_keys.note(names)
        audit.record(actor=self.person, action="shared_keys.accepted", subject=", ".join(names))
        if "SIGNING_KEY" in names:
            signing_keys.replace(by=self.person)
