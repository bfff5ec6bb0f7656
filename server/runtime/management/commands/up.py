"""`manage.py up`: run the whole service until Ctrl-C."""

import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from server.runtime.home import NotStarted
from server.runtime.supervisor import Service

WRONG_USAGE = 64
SERVICES = ("DATABASE_URL", "REDIS_URL")


class Command(BaseCommand):
    help = "Run the web server, the worker, the sweeper and, unless REDIS_URL is set, Redis. Ctrl-C stops all of them."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--services", action="store_true", help=f"refuse to start without {' and '.join(SERVICES)}")

    def handle(self, *, services: bool = False, **options: Any) -> None:
        missing = [name for name in SERVICES if not os.environ.get(name)]
        if services and missing:
            advice = (
                "set it in the environment or in .env (see .env.example), or use `make run`, which needs neither "
                "setting"
            )
            raise CommandError(f"{' and '.join(missing)} missing: {advice}.", returncode=WRONG_USAGE)
        try:
            with Service(self.report) as service:
                service.wait_until_ready()
                self.stdout.write(f"\n  {settings.PODIUM_URL}\n\nPress Ctrl-C to stop.")
                service.watch()
        except NotStarted as error:
            raise CommandError(str(error), returncode=WRONG_USAGE) from error

    def report(self, name: str, message: str) -> None:
        self.stdout.write(f"  {name:<9} {message}")
        self.stdout.flush()
