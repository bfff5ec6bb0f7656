"""`manage.py up`: the whole service, until Ctrl-C."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from server.runtime.home import NotStarted
from server.runtime.supervisor import Service

WRONG_USAGE = 64


class Command(BaseCommand):
    help = "Runs web, worker, sweeper and, where none is told, a Redis of its own. Ctrl-C stops all of it."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with Service(self.say) as service:
                service.wait_until_ready()
                self.stdout.write(f"\n  {settings.PODIUM_URL}\n\nCtrl-C stops it.")
                service.watch()
        except NotStarted as error:
            raise CommandError(str(error), returncode=WRONG_USAGE) from error

    def say(self, part: str, what: str) -> None:
        self.stdout.write(f"  {part:<9} {what}")
        self.stdout.flush()
