"""`manage.py gate SLUG PHASE`: run the gate of a phase (checks of its ground truth), and print the results."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from server.accounts.audited_command import AuditedCommand
from server.challenges.gate import GREEN, gate_of
from server.challenges.models import Phase
from server.errors import Refused
from server.organize.services import gates, rescoring, truths


class Command(AuditedCommand):
    help = (
        "Run a phase's gate, which tests its ground truth and sample submission. A phase accepts submissions "
        "only if the gate of its active version is green. The exit status is 1 if the gate is not green."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="slug of the challenge")
        parser.add_argument("phase", help="slug of the phase")
        parser.add_argument("--truth", type=int, metavar="VERSION", help="version number (default: the active version)")

    def handle(self, *, slug: str, phase: str, truth: int | None, **options: Any) -> None:
        found = Phase.objects.select_related("challenge").filter(challenge__slug=slug, slug=phase).first()
        if found is None:
            raise CommandError(f"There is no phase {phase} in challenge {slug}.")
        try:
            version = found.truth if truth is None else rescoring.version_of(found, truth)
            if version is None:
                raise CommandError("This phase has no ground truth yet.")
            truths.bring_up_to_date(version)
            gates.run_again(version, by=self.person)
        except Refused as refusal:
            raise CommandError(refusal.detail) from refusal
        gate = gate_of(version, found)
        for check in gate.checks:
            self.stdout.write(f"{check.name}: {'green' if check.passed else 'red'}: {check.got}")
            if not check.passed:
                self.stdout.write(f"  expected: {check.expected}\n  {check.advice}")
        if not gate.is_needed:
            self.stdout.write(
                "This phase was created before gates existed, so it accepts submissions without a gate until its "
                "ground truth is replaced."
            )
        if gate.state != GREEN:
            reason = f": {gate.unfinished}" if gate.unfinished else ""
            raise CommandError(f"The gate of version {version.version} is not green ({gate.state}{reason}).")
        self.stdout.write(f"The gate of version {version.version} is green.")
