"""`manage.py sweep`: clean up after crashes, once or every SWEEP_SECONDS."""

import logging
import signal
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, InterfaceError, close_old_connections
from redis import RedisError

from server import metrics
from server.accounts.audited_command import AuditedCommand
from server.runtime import health
from server.runtime.parts import own_sweeper
from server.runtime.shared_keys import refuse_other_audit_key
from server.submissions.services.sweeping import SweepResult, sweep, sweep_files

FILES_SECONDS = 600  # Folders are checked less often than the database, because they may contain very many files.

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "End the leases of dead workers, send lost messages again, and quarantine files without a database row."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--forever", action="store_true", help="sweep every SWEEP_SECONDS until stopped")

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_other_audit_key(AuditedCommand)  # A sweep can publish challenges, which writes audit entries.
        if options["forever"]:
            sweep_forever()
        else:
            self.stdout.write(in_words(sweep()))


def in_words(swept: SweepResult) -> str:
    return (
        f"{swept.requeued} queued again, {swept.failed} failed, {swept.resent} sent again, "
        f"{swept.quarantined} files without rows moved to quarantine, {swept.restored} restored, "
        f"{swept.removed} removed"
    )


def sweep_forever() -> NoReturn:
    """Clean up regularly until SIGTERM is received. If the database or the broker does not respond, try again later."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    files_after = 0.0
    try:
        while True:
            close_old_connections()
            sweep_rows()
            if time.monotonic() >= files_after:
                sweep_stored_files()
                files_after = time.monotonic() + FILES_SECONDS
            time.sleep(settings.SWEEP_SECONDS)
    finally:
        with suppress(RedisError, ValueError):
            health.forget(own_sweeper())


def sweep_rows() -> None:
    """Clean up the database, and send a heartbeat. If cleaning up fails, even because of a bug, it is tried again."""
    try:
        note(sweep(files=False))
    except (DatabaseError, InterfaceError, OSError) as error:
        log.warning("the sweep failed and will be tried again: %s", error)
        return
    except Exception:
        log.exception("the sweep failed and will be tried again")
        return
    try:
        health.note_sweep(own_sweeper())
    except (RedisError, ValueError) as error:
        log.warning("the broker does not respond: %s", error)


def sweep_stored_files() -> None:
    """Clean up the stored files. If this fails, as while a network file system is away, rows are still cleaned up."""
    try:
        note(sweep_files())
    except Exception as error:
        metrics.file_sweep_errors.inc()
        is_bug = not isinstance(error, (DatabaseError, InterfaceError, OSError))
        text = "alarm: the stored files could not be checked and will be checked again later: %s"
        log.error(text, error, exc_info=is_bug)


def note(swept: SweepResult) -> None:
    if swept != SweepResult():
        log.info(in_words(swept))
