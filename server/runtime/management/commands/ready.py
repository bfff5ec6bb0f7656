"""`manage.py ready`: exit with 1 unless the service, or a part such as the worker, works on this host."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from server.runtime import health
from server.runtime.parts import PARTS, readiness


class Command(BaseCommand):
    help = (
        "Exit with status 0 if the service, or the part given with --only, is ready on this host, and with "
        "status 1 otherwise. Meant for health checks."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--only", choices=tuple(PARTS), default="", help="check only this part")

    def handle(self, *, only: str, **options: Any) -> None:
        found = readiness([only] if only else PARTS)
        shown = ", ".join(f"{name}: {state}" for name, state in found.items())
        if set(found.values()) != {health.OK}:
            raise CommandError(shown)
        self.stdout.write(shown)
