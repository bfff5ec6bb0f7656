"""`manage.py verify_board`: compare the kept entries of leaderboards with the submissions."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from server.accounts.audited_command import AuditedCommand
from server.audit import services as audit
from server.challenges.models import Phase
from server.leaderboards.services.entries import rebuild, recount
from server.leaderboards.services.verification import verify

SHOWN = 20


class Command(AuditedCommand):
    help = "Compare every entry of the leaderboards with the submissions. It exits with 1 if an entry is wrong."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("phase", nargs="?", metavar="CHALLENGE/PHASE", help="one phase; without it all phases")
        parser.add_argument("--rebuild", action="store_true", help="correct what is wrong; the history is kept")

    def handle(self, *, phase: str | None, **options: Any) -> None:
        phases = Phase.objects.select_related("challenge").order_by("pk")
        if phase is not None:
            challenge, _, slug = phase.partition("/")
            phases = phases.filter(challenge__slug=challenge, slug=slug)
            if not phases:
                raise CommandError(f"There is no phase {phase}.")
        if options["rebuild"]:
            for one in phases:
                rebuild(one)
                recount(one)
                audit.record(actor=None, action="board.rebuilt", subject=f"phase {one}")
        wrong = sum(self.report(one) for one in phases)
        if wrong:
            raise CommandError(f"{wrong} entries of {len(phases)} phases are wrong. To correct them, use --rebuild.")
        self.stdout.write(f"The leaderboards of {len(phases)} phases are what their submissions say.")

    def report(self, phase: Phase) -> int:
        """Print the first differences of a phase and return their number."""
        count = 0
        for sentence in verify(phase):
            count += 1
            if count <= SHOWN:
                self.stderr.write(sentence)
        if count > SHOWN:
            self.stderr.write(f"and {count - SHOWN} more in {phase}")
        return count
