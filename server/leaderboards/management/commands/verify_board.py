"""`manage.py verify_board`: compare the stored entries of leaderboards with the submissions."""

from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import chain
from typing import Any

from django.core.management.base import CommandError
from django.utils.module_loading import import_string

from evaluator.texts import counted
from server.accounts.audited_command import AuditedCommand
from server.audit import services as audit
from server.challenges.models import Phase
from server.leaderboards.models import Comparison
from server.leaderboards.services.comparisons import forget
from server.leaderboards.services.entries import rebuild, recount
from server.leaderboards.services.verification import verify

SHOWN = 20
# The function `wrong_comparisons` is part of the worker, because it needs numpy. This command imports it only when it
# runs, so that web processes never load numpy.
WRONG_COMPARISONS = "worker.comparisons.verification.wrong_comparisons"


class Command(AuditedCommand):
    help = (
        "Check every leaderboard entry against the submissions, and its ties and rank interval against the replicates. "
        "The exit status is 1 if an entry is wrong."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("phase", nargs="?", metavar="CHALLENGE/PHASE", help="phase to check (default: all phases)")
        parser.add_argument("--rebuild", action="store_true", help="correct wrong entries and keep their history")

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
                forget(one)
                audit.record(actor=None, action="board.rebuilt", subject=f"phase {one}")
        wrong = sum(self.report(one) for one in phases)
        checked = counted(len(phases), "phase")
        if wrong:
            raise CommandError(
                f"Found {counted(wrong, 'wrong entry', 'wrong entries')} in {checked}. Use --rebuild to correct them."
            )
        self.stdout.write(f"The leaderboards of {checked} match the submissions.")

    def report(self, phase: Phase) -> int:
        """Print the first few wrong entries and comparisons on a phase's leaderboards. Return their total number."""
        count = 0
        for sentence in chain(verify(phase), wrong_comparisons(phase)):
            count += 1
            if count <= SHOWN:
                self.stderr.write(sentence)
        if count > SHOWN:
            self.stderr.write(f"and {count - SHOWN} more in {phase}")
        return count


def wrong_comparisons(phase: Phase) -> Iterator[str]:
    """Yield a sentence for each wrong stored comparison of leaderboard entries.

    Leaderboards that have changed since their comparison are left out.
    """
    if Comparison.objects.current().filter(board__phase=phase).exists():
        yield from import_string(WRONG_COMPARISONS)(phase)
