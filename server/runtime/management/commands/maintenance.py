"""`manage.py maintenance`: turn maintenance mode on or off. While it is on, requests that change data are refused."""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError

from server.accounts.audited_command import AuditedCommand
from server.challenges.models import Phase
from server.clock import database_now
from server.maintenance import services

ON, OFF = "on", "off"
MINUTES_MAX = 7 * 24 * 60
REASON_CHARACTERS = 200


def minutes_argument(argument: str) -> int:
    if not (argument.isascii() and argument.isdigit() and len(argument) < 9 and 1 <= int(argument) <= MINUTES_MAX):
        raise ArgumentTypeError(f"must be a whole number from 1 to {MINUTES_MAX}")
    return int(argument)


class Command(AuditedCommand):
    help = (
        "Turn maintenance mode on or off, or show its state. While it is on, uploads and all other changes are refused "
        "with status 503, the code `maintenance` and the expected end. Pages can be read, and submitted files are "
        "still scored."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "state",
            nargs="?",
            choices=(ON, OFF),
            help="whether to turn the mode on or off; if omitted, the command shows the state",
        )
        parser.add_argument(
            "--minutes", type=minutes_argument, help="expected duration; the mode stays on until you turn it off"
        )
        parser.add_argument("--reason", help="reason, which everyone can see")

    def handle(self, *, state: str | None, minutes: int | None, reason: str | None, **options: Any) -> None:
        if state != ON and (minutes or reason):
            raise CommandError("--minutes and --reason can only be used with `maintenance on`.")
        if state == ON:
            self.begin(minutes, reason or "")
        elif state == OFF:
            self.stdout.write("off" if services.end(by=self.person) else "was already off")
        else:
            found = services.current()
            self.stdout.write(f"on {services.sentence(found, database_now())}" if found else "off")

    def begin(self, minutes: int | None, reason: str) -> None:
        if minutes is None:
            raise CommandError("Give the expected duration, for example: --minutes 30")
        if len(reason) > REASON_CHARACTERS:
            raise CommandError(f"The reason can have at most {REASON_CHARACTERS} characters.")
        found = services.begin(minutes=minutes, reason=reason, by=self.person)
        self.stdout.write(f"on {services.sentence(found, database_now())}")
        for phase in phases_closing_before(found.until):
            self.stdout.write(f"{phase} closes before the maintenance ends. Give its teams more time afterwards.")


def phases_closing_before(until: datetime) -> list[Phase]:
    """Return the open phases that close at or before the given time."""
    now = database_now()
    phases = Phase.objects.select_related("challenge")
    return [one for one in phases if one.has_opened(now) and one.closing and now < one.closing <= until]
