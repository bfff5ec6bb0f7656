"""`manage.py give_back ID …`: give back the quota of failed submissions."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from server.accounts.audited_command import AuditedCommand
from server.errors import Refused
from server.submissions.models import Submission
from server.submissions.services import recovery


class Command(AuditedCommand):
    help = (
        "Give back the quota that failed submissions used, for example because scoring them took too much time "
        "or memory."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("ids", nargs="+", type=UUID, metavar="ID", help="id of a submission")

    def handle(self, *, ids: list[UUID], **options: Any) -> None:
        for identifier in ids:
            found = Submission.objects.select_related("phase__challenge").filter(pk=identifier).first()
            if found is None:
                raise CommandError(f"There is no submission {identifier}.")
            try:
                recovery.give_back(submission=found, by=self.person)
            except Refused as refusal:
                raise CommandError(refusal.detail) from None
            self.stdout.write(f"{identifier}: given back")
