"""`manage.py up`: run the whole service, or one part (web, worker or sweeper), until Ctrl-C."""

import logging
import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from server.runtime.home import NotStarted
from server.runtime.parts import PARTS, missing_servers
from server.runtime.supervisor import Service

log = logging.getLogger(__name__)

WRONG_USAGE = 64
SERVICES = ("DATABASE_URL", "REDIS_URL")


class Command(BaseCommand):
    help = (
        "Run the web server, the worker, the sweeper and, unless REDIS_URL is set, Redis. With --only, run one of "
        "them, on as many hosts as needed. Ctrl-C or SIGTERM stops all processes."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--services", action="store_true", help=f"refuse to start without {' and '.join(SERVICES)}")
        parser.add_argument(
            "--only",
            choices=tuple(PARTS),
            default="",
            help="run only this part; the sweeper also sends emails; needs PostgreSQL and Redis",
        )

        parser.add_argument(
            "--queues",
            choices=tuple(settings.BROKER_QUEUES),
            nargs="+",
            default=[],
            help="kinds of jobs that the worker takes, instead of the kinds in WORKER_QUEUES",
        )

    def handle(self, *, services: bool = False, only: str = "", queues: Sequence[str] = (), **options: Any) -> None:
        if queues:  # The worker process reads its queues from the environment.
            settings.WORKER_QUEUES = list(queues)
            os.environ["WORKER_QUEUES"] = ",".join(queues)
        if only and (reason := missing_servers()):
            raise CommandError(reason, returncode=WRONG_USAGE)
        missing = [name for name in SERVICES if not os.environ.get(name)]
        if services and missing:
            advice = (
                "set it in the environment or in .env (see .env.example), or use `make run`, which needs neither "
                "setting"
            )
            raise CommandError(f"{' and '.join(missing)} missing: {advice}.", returncode=WRONG_USAGE)
        try:
            # With `--only`, this process and the processes that it starts share one output, which is often collected as
            # JSON. This process then writes JSON, too, unless the output is a terminal.
            self.as_json = bool(only) and not sys.stdout.isatty()
            with Service(self.report, only=only) as service:
                service.wait_until_ready()
                if only:
                    self.report(only, "is ready. Press Ctrl-C to stop.")
                else:
                    self.stdout.write(f"\n  {settings.PODIUM_URL}\n\nPress Ctrl-C to stop.")
                    # If the output is a pipe, the text would otherwise stay in the buffer until more text follows.
                    self.stdout.flush()
                service.watch()
        except NotStarted as error:
            raise CommandError(str(error), returncode=error.returncode) from error

    def report(self, name: str, message: str) -> None:
        if self.as_json:
            log.info(message, extra={"part": name})
        else:
            self.stdout.write(f"  {name:<9} {message}")
            self.stdout.flush()
