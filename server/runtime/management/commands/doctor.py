"""`manage.py doctor`: check this installation, and print what to do about each problem."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluator.texts import counted
from server.runtime.doctor import ADVICE, ERROR, examine

MARKS = {ERROR: "ERROR", ADVICE: "advice", "ok": "ok"}


class Command(BaseCommand):
    help = (
        "Check the settings, packages, folders, database, storage, Redis, clock and email. The exit status is 1 "
        "if there is an error."
    )
    requires_system_checks = ()

    def handle(self, **options: Any) -> None:
        findings = []
        for one in examine():
            findings.append(one)
            self.stdout.write(f"{MARKS[one.level]:<7} {one.subject:<12} {one.sentence}")
            self.stdout.flush()
        errors, advice = (sum(one.level == level for one in findings) for level in (ERROR, ADVICE))
        summary = f"{counted(errors, 'error')}, {counted(advice, 'recommendation')}"
        if errors:
            raise CommandError(summary)
        self.stdout.write(summary)
