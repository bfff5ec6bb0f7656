"""`manage.py storage`: report storage use, files without a database row, and database rows without a file."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from server.pages.formatting.units import size
from server.runtime.storage_report import report


class Command(BaseCommand):
    help = (
        "Report storage use by phase, files without a database row, and database rows without a file. The exit "
        "status is 1 if files that the database refers to are missing."
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
        if missing := sum(use["missing_count"] for use in found["storages"].values()):
            advice = "Restore the files with `manage.py restore`, or copy them by name from a backup folder."
            raise CommandError(f"{missing} files that the database refers to are missing. {advice}")

    def show(self, found: dict[str, Any]) -> None:
        for name, use in found["storages"].items():
            self.stdout.write(f"{name} in {use['place']}")
            for key, title in (
                ("stored", "stored"),
                ("without_row", "without a row"),
                ("quarantined", "in quarantine"),
            ):
                self.line(title, use[key]["files"], use[key]["bytes"])
            for one in use["missing"]:
                self.stdout.write(f"  missing: {one}")
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
