"""`manage.py verify_audit`: verify that the audit log is intact. server/audit/README.md explains the exit codes."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from server.accounts.audited_command import AuditedCommand
from server.audit.external_records import own_logs
from server.audit.verification import Comparison, acknowledge, faults, faults_of_database

TAMPERED, ENTRIES_MISSING, UNSURE = 1, 2, 3

NOTHING_MISSING = (
    "--restored was given, but no known entry is missing: the backup is as recent as the log, or the service is not "
    "using the restored database. If an old file podium.sqlite3-wal is next to the restored database, SQLite uses it; "
    "deploy/README explains how to restore a backup."
)


class Command(AuditedCommand):
    help = (
        "Check that no entry in the audit log was changed, moved or removed, using the hashes in the log and "
        f"records outside the database. Exit status: {TAMPERED} if the log was changed, {ENTRIES_MISSING} if the "
        "log is intact but "
        f"later entries are missing, as after a backup was restored, {UNSURE} if not everything could be compared."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "logs",
            nargs="*",
            type=Path,
            metavar="LOG",
            help="log files to compare with; default: the log files in PODIUM_HOME",
        )
        parser.add_argument("--restored", action="store_true", help="record that a backup was restored")

    def handle(self, *, logs: list[Path], restored: bool, **options: Any) -> None:
        if damage := faults_of_database():
            raise CommandError("\n".join(damage), returncode=UNSURE)
        compared = Comparison(logs or own_logs())
        if found := [*faults(), *compared.forged]:
            raise CommandError("\n".join(found), returncode=TAMPERED)
        if compared.lost and not restored:
            raise CommandError(missing_text(compared), returncode=ENTRIES_MISSING)
        if compared.lost:
            entry = acknowledge(compared.lost)
            self.stdout.write(f"entry {entry.number} records that a backup was restored")
        self.report(compared)
        unsure = [*compared.unreadable, *([NOTHING_MISSING] if restored and not compared.lost else [])]
        if unsure:
            raise CommandError("\n".join(unsure), returncode=UNSURE)

    def report(self, compared: Comparison) -> None:
        logged = compared.count - len(compared.unlogged)
        self.stdout.write(f"{compared.count} entries, none of them missing; {logged} are also in the log files")
        if compared.unlogged and logged:
            self.stdout.write(
                f"{len(compared.unlogged)} entries, starting with entry {compared.unlogged[0]}, are not in any "
                "log file. Their log files were deleted by log rotation or are on another machine. To compare "
                "these entries as well, pass those log files as arguments."
            )


def missing_text(compared: Comparison) -> str:
    lost = compared.lost
    text = f"Every entry is intact, but entries {lost[0][0]} to {lost[-1][0]} are missing. "
    records = [compared.record_naming(one) for one in lost]
    if None not in records:
        return text + (
            f"Entry {records[0]} records that a backup was restored. It was written by an earlier version of Podium, "
            "which did not record the hashes of the entries that were lost. No log file contains the missing entries, "
            "so it is unknown whether they were lost in that restore. If you have the log files from that time, pass "
            "them as arguments. Otherwise, record the hashes once with: manage.py verify_audit --restored"
        )
    return text + (
        "A backup was restored, or the end of the log was deleted. If you restored a backup, record that with: "
        "manage.py verify_audit --restored"
    )
