"""`manage.py quarantine`: list or restore quarantined files, which had no database row."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from server.accounts.audited_command import AuditedCommand
from server.submissions.services import object_quarantine, quarantine
from server.submissions.services.quarantine import QuarantinedFile


class Command(AuditedCommand):
    help = "List the files in quarantine. No database row refers to these files. With --restore, move files back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="name of a file, as listed")
        parser.add_argument("--restore", action="store_true", help="restore the named files")
        parser.add_argument("--all", action="store_true", help="restore all files")

    def handle(self, *, names: list[str], restore: bool, **options: Any) -> None:
        if (names or options["all"]) and not restore:
            raise CommandError(
                "Names and --all require --restore. Without --restore, the command lists everything in quarantine."
            )
        if names and options["all"]:
            raise CommandError("Either name the files to restore or use --all.")
        files = object_quarantine.quarantined() if settings.OBJECT_STORE else quarantine.quarantined()
        found = {one.title: one for one in files}
        if restore:
            self.restore([*found] if options["all"] else names, found)
            return
        for one in found.values():
            self.stdout.write(
                f"{one.title}  {one.bytes:,} bytes  since {one.since:%Y-%m-%d}, until {one.until:%Y-%m-%d}"
            )
        self.stdout.write(f"{len(found)} in quarantine")

    def restore(self, names: list[str], found: Mapping[str, QuarantinedFile]) -> None:
        if missing := [name for name in names if name not in found]:
            raise CommandError(f"Nothing was restored. These files are not in quarantine: {', '.join(missing)}.")
        if not names:
            raise CommandError("Name the files to restore, or use --all.")
        restored = [name for name in names if quarantine.restore_by(found[name], by=self.person)]
        self.stdout.write(
            f"{len(restored)} of {len(names)} restored; files to which no database row refers will be moved to "
            "quarantine again"
        )
