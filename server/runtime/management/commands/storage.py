"""`manage.py storage`: report storage use, files without a row, rows without a file, and unreadable files."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from server.pages.formatting.units import size
from server.runtime.storage_report import report

MISSING = "are missing. Restore the files with `manage.py restore`, or copy them by name from a backup folder."
UNREADABLE = "cannot be opened by this user. Correct their owner and permissions."


class Command(BaseCommand):
    help = (
        "Report storage use by phase, files without a database row, database rows without a file, and files that "
        "cannot be opened. The exit status is 1 if files that the database refers to are missing or cannot be opened."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the report as one JSON object")

    def handle(self, **options: Any) -> None:
        try:
            found = report()
        except OSError as error:
            raise CommandError(f"The storage cannot be read: {error.strerror or error}.") from error
        if options["json"]:
            self.stdout.write(json.dumps(found, indent=1))
        else:
            self.show(found)
        faults = []
        for key, problem in (("missing_count", MISSING), ("unreadable_count", UNREADABLE)):
            if count := sum(use[key] for use in found["storages"].values()):
                faults.append(f"{count} files that the database refers to {problem}")
        if faults:
            raise CommandError("\n".join(faults))

    def show(self, found: dict[str, Any]) -> None:
        for name, use in found["storages"].items():
            self.stdout.write(f"{name} in {use['place']}")
            for key, title in (
                ("stored", "stored"),
                ("without_row", "without a row"),
                ("quarantined", "in quarantine"),
            ):
                self.line(title, use[key]["files"], use[key]["bytes"])
            for kind in ("missing", "unreadable"):
                for one in use[kind]:
                    self.stdout.write(f"  {kind}: {one}")
        for one in found["phases"]:
            self.stdout.write(f"submissions to {one['phase']}")
            self.line("stored", one["files"], one["bytes"])
            self.line("of them unscored", one["unscored_files"], one["unscored_bytes"])
        for name, amount in found["home"].items():
            self.stdout.write(f"{name + '/':<12} {size(amount):>10}")
        for folder, free in found["free_bytes"].items():
            self.stdout.write(f"{size(free)} free on the disk that contains {folder}")

    def line(self, title: str, files: int, amount: int) -> None:
        self.stdout.write(f"  {title:<17} {files:>9,} files  {size(amount):>10}")
