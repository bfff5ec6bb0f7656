"""`manage.py sweep`: once, or for as long as the service runs."""

import logging
import signal
import sys
import time
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, InterfaceError, close_old_connections

from server.submissions.services.sweeping import Swept, sweep

FILES_SECONDS = 600  # folders may hold very many files: they are looked through less often than the rows

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Gives back what dead workers held, sends lost messages again, puts files without rows into quarantine."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--forever", action="store_true", help="every SWEEP_SECONDS, until it is stopped")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["forever"]:
            sweep_forever()
        else:
            self.stdout.write(described(sweep()))


def described(swept: Swept) -> str:
    return (
        f"{swept.requeued} queued again, {swept.failed} failed, {swept.resent} sent again, "
        f"{swept.quarantined} files without rows put into quarantine, {swept.restored} put back, "
        f"{swept.removed} removed"
    )


def sweep_forever() -> NoReturn:
    """Sweep until SIGTERM; a database or broker that is away for a while is waited for."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    files_after = 0.0
    while True:
        time.sleep(settings.SWEEP_SECONDS)
        close_old_connections()
        files = time.monotonic() >= files_after
        try:
            swept = sweep(files=files)
        except (DatabaseError, InterfaceError, OSError) as error:
            log.warning("not swept, will try again: %s", error)
            continue
        if files:
            files_after = time.monotonic() + FILES_SECONDS
        if swept != Swept():
            log.info(described(swept))
