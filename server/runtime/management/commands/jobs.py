"""`manage.py jobs`: list waiting, running and failed jobs, with the host, the reason for the state, and the age."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand

from server.clock import database_now
from server.pages.formatting.units import time_span
from server.runtime.jobs import Job, every_job

LIMIT_MAX = 100_000  # maximum number of jobs that are listed for each state


def limit_argument(argument: str) -> int:
    """Return the number of jobs to list. Raises ArgumentTypeError unless it is a whole number from 0 to `LIMIT_MAX`."""
    if (
        not argument.isascii()
        or not argument.isdigit()
        or len(argument) > len(str(LIMIT_MAX))
        or int(argument) > LIMIT_MAX
    ):
        raise ArgumentTypeError(f"must be a whole number from 0 to {LIMIT_MAX}")
    return int(argument)


class Command(BaseCommand):
    help = "List the waiting, running and failed jobs. `manage.py requeue` repeats failed submissions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--limit", type=limit_argument, default=20, metavar="N", help="show at most N jobs in each state"
        )
        parser.add_argument("--json", action="store_true", help="print the jobs as one JSON object")

    def handle(self, *, limit: int, **options: Any) -> None:
        found, now = list(every_job(limit=limit)), database_now()
        if options["json"]:
            states = {state: {"count": count, "jobs": [job.as_dict() for job in jobs]} for state, count, jobs in found}
            self.stdout.write(json.dumps(states, indent=1))
            return
        for state, count, jobs in found:
            self.stdout.write(f"{count} {state}")
            for job in jobs:
                self.stdout.write(f"  {line_of(job, now)}")
            if count > len(jobs):
                self.stdout.write(f"  … and {count - len(jobs)} more (--limit)")


def line_of(job: Job, now: datetime) -> str:
    since = f"for {time_span(now - job.since)}" if job.since else ""
    host = f"on {job.host}" if job.host else ""
    return "  ".join(filter(None, (f"{job.kind:<11}", job.id, job.phase, since, host, job.reason)))
