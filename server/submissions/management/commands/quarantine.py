"""`manage.py quarantine`: list the files that no row knows, and put them back."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from server.accounts.acting import ActingCommand
from server.submissions.services import quarantine
from server.submissions.services.quarantine import Kept


class Command(ActingCommand):
    help = "Lists the files that no row knows and that were moved aside; with --restore, puts them back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="as listed")
        parser.add_argument("--restore", action="store_true", help="put back the named ones")
        parser.add_argument("--all", action="store_true", help="all instead of named ones")

    def handle(self, *, names: list[str], restore: bool, **options: Any) -> None:
        kept = {one.title: one for one in quarantine.kept()}
        if restore:
            self.restore([*kept] if options["all"] else names, kept)
            return
        for one in kept.values():
            self.stdout.write(
                f"{one.title}  {one.bytes:,} bytes  since {one.since:%Y-%m-%d}, until {one.until:%Y-%m-%d}"
            )
        self.stdout.write(f"{len(kept)} in quarantine")

    def restore(self, names: list[str], kept: dict[str, Kept]) -> None:
        if missing := [name for name in names if name not in kept]:
            raise CommandError(f"{', '.join(missing)} is not in quarantine; nothing was put back.")
        if not names:
            raise CommandError("Name what to put back, or say --all.")
        back = [name for name in names if quarantine.put_back(kept[name], by=self.person)]
        self.stdout.write(f"{len(back)} of {len(names)} put back; what no row knows goes aside again after a while")
