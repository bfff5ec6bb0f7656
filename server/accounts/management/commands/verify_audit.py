"""`manage.py verify_audit`: checks the audit log; its exit code says what was found, see server/audit/README.md."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from server.accounts.acting import ActingCommand
from server.audit.verifying import Comparison, acknowledge, faults, faults_of_database
from server.audit.witness import own_logs

TAMPERED, WENT_BACK, UNSURE = 1, 2, 3

NOTHING_WENT_BACK = (
    "--restored was given, but no known entry is gone: the backup is as new as the log, or it is not in effect. SQLite "
    "prefers a podium.sqlite3-wal that was left beside the restored file; deploy/README says how to restore."
)


class Command(ActingCommand):
    help = (
        "Check that no entry of the audit log was changed, moved, removed or cut off: by its hashes, and by what is "
        f"known of it outside the database. Exit {TAMPERED} where it was changed, {WENT_BACK} where it is sound but "
        f"older than what is known, as after a restored backup, {UNSURE} where not everything could be compared."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "logs", nargs="*", type=Path, metavar="LOG", help="log files to compare with; default: those of PODIUM_HOME"
        )
        parser.add_argument("--restored", action="store_true", help="record that a backup was restored")

    def handle(self, *, logs: list[Path], restored: bool, **options: Any) -> None:
        if damage := faults_of_database():
            raise CommandError("\n".join(damage), returncode=UNSURE)
        compared = Comparison(logs or own_logs())
        if found := [*faults(), *compared.forged]:
            raise CommandError("\n".join(found), returncode=TAMPERED)
        if compared.lost and not restored:
            raise CommandError(went_back(compared.lost), returncode=WENT_BACK)
        if compared.lost:
            entry = acknowledge(compared.lost)
            self.stdout.write(f"entry {entry.number} records that a backup was restored")
        self.report(compared)
        unsure = [*compared.unreadable, *([NOTHING_WENT_BACK] if restored and not compared.lost else [])]
        if unsure:
            raise CommandError("\n".join(unsure), returncode=UNSURE)

    def report(self, compared: Comparison) -> None:
        heard = compared.count - len(compared.unheard)
        self.stdout.write(f"{compared.count} entries, all in place; {heard} of them also in the logs")
        if compared.unheard and heard:
            self.stdout.write(
                f"{len(compared.unheard)} entries are in no log, {compared.unheard[0]} the first of them: these logs "
                "were rotated away, or are those of another machine. Name them to compare with them, too."
            )


def went_back(lost: list[int]) -> str:
    return (
        f"Every entry is sound, but the log went back: entries {lost[0]} to {lost[-1]} that were written are gone. A "
        "backup was restored, or the end of the log was deleted. If you restored a backup, record that: "
        "manage.py verify_audit --restored"
    )
