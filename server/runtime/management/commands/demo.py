"""`manage.py demo`: run the service with two demo challenges and submit the files of their teams."""

import logging
import os
import time
from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.management.base import BaseCommand, CommandError

from evaluator.digits import outward
from server.challenges.models import Challenge
from server.leaderboards.queries import board
from server.organize.demo import folders, people, uploads
from server.organize.demo.story import ROLES, STORIES
from server.runtime.home import NotStarted
from server.runtime.supervisor import Service

POLL_SECONDS = 0.2
SCORING_MAX_SECONDS = 300
SHOWN_ROWS = 5
READY = """
  Podium runs at {url}

{roles}
  password  {password}
  a file    {file}
  logs      {logs} (audit.log has the audit entries)

Press Ctrl-C to stop. The data is kept; `make demo` continues with it.
"""


class Command(BaseCommand):
    help = (
        "Run the service with two demo challenges, and submit files for their teams. If the demo was run before, "
        "it continues with the same data."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="stop as soon as everything has been scored")

    def handle(self, *, once: bool, **options: Any) -> None:
        # The processes of the service inherit this setting, so that anyone can sign up in the demo without confirming
        # an email address.
        os.environ.setdefault("CONFIRM_EMAIL", "false")
        # Audit entries are not printed to the terminal, because they are also written to logs/audit.log.
        logging.getLogger("server.audit.services").propagate = False
        try:
            with Service(self.report) as service:
                challenges = uploads.open_challenges(partial(self.report, "challenge"))
                self.report("start", "waiting for the service to be ready")
                service.wait_until_ready()
                self.report("submit", "submitting files for the teams")
                uploads.submit_all()
                self.wait_for_scores(service)
                if once:
                    for challenge in challenges:
                        self.show_board(challenge)
                    return
                self.say(READY.format(**self.hints()))
                service.watch()
        except NotStarted as error:
            raise CommandError(str(error), returncode=error.returncode) from error

    def hints(self) -> dict[str, str]:
        """Return instructions for trying out the demo: URL, accounts, password, a submission file, and the logs."""
        story = STORIES[0]
        return {
            "url": settings.PODIUM_URL,
            "roles": "\n".join(f"  {name:<12} {text}  {settings.PODIUM_URL}{path}" for name, text, path in ROLES),
            "password": people.password(),
            "file": str(folders.submission_file(story, story.qualities[0])),
            "logs": str(settings.PODIUM_HOME / "logs"),
        }

    def wait_for_scores(self, service: Service) -> None:
        """Wait until every submission has its score and confidence interval. Print the progress whenever it changes."""
        until, printed = time.monotonic() + SCORING_MAX_SECONDS, ""
        while True:
            rows = uploads.submissions()
            finished, settled, total = rows.finished().count(), rows.settled().count(), rows.count()
            steps = f"  scoring   {finished} of {total}", f"  intervals {settled} of {total}"
            progress = steps[finished == total]
            if progress != printed:
                self.stdout.write(progress, ending="\r" if self.stdout.isatty() and settled < total else "\n")
                self.stdout.flush()
                printed = progress
            if settled == total:
                return
            if time.monotonic() > until:
                raise CommandError(
                    f"Only {settled} of {total} were scored in {SCORING_MAX_SECONDS} s. See the worker's log."
                )
            service.keep_running()
            time.sleep(POLL_SECONDS)

    def show_board(self, challenge: Challenge) -> None:
        phase = challenge.phases.get(slug="main")
        self.say(f"\n{challenge.title} ({phase.declared_track.headline}, public)")
        for row in board(phase, split="public", viewer=AnonymousUser()).page(0, SHOWN_ROWS):
            interval = "  (95%: {:.3f} to {:.3f})".format(*outward(row.interval, 3)) if row.interval else ""
            self.say(f"  {row.rank or '–':>2}  {row.team:<20} {row.score:.4f}{interval}")

    def report(self, name: str, message: str) -> None:
        self.say(f"  {name:<9} {message}")

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
