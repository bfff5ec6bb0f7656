"""`manage.py verify_audit`: exit 0 where the audit log holds together, 1 with every fault listed."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from server.audit.models import Entry
from server.audit.services import contradictions, faults, heard


class Command(BaseCommand):
    help = (
        "Check that no entry of the audit log was changed, moved, removed or cut off: by its hashes, and by what the "
        "processes have logged since they wrote it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "logs", nargs="*", type=Path, metavar="LOG", help="log files to compare with; default: those of PODIUM_HOME"
        )

    def handle(self, *, logs: list[Path], **options: Any) -> None:
        logs = logs or sorted((settings.PODIUM_HOME / "logs").glob("*.log"))
        found = [*faults(), *contradictions(logs)]
        if found:
            raise CommandError("\n".join(found))
        told = len({number for _, number, _ in heard(logs)})
        self.stdout.write(f"{Entry.objects.count()} entries, all in place; {told} of them also in the logs")
