"""`manage.py demo`: run the service with two demo challenges and submit the files of their teams."""

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
from server.organize.demo import people, uploads
from server.organize.demo.story import PEOPLE
from server.runtime.home import NotStarted
from server.runtime.supervisor import Service

WRONG_USAGE = 64
POLL_SECONDS = 0.2
SCORING_MAX_SECONDS = 300
SHOWN_ROWS = 5


class Command(BaseCommand):
    help = "Run the service with two challenges whose teams submit while you watch. Running it again adds nothing."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="stop when everything is scored")

    def handle(self, *, once: bool, **options: Any) -> None:
        os.environ.setdefault(
            "CONFIRM_EMAIL", "false"
        )  # inherited by the processes of the service, so that anyone can sign up in the demo
        try:
            with Service(self.report) as service:
                challenges = uploads.open_challenges(partial(self.report, "challenge"))
                service.wait_until_ready()
                self.say(f"\n{settings.PODIUM_URL} is ready. The teams submit their files now.")
                uploads.submit_all()
                self.wait_for_scores(service)
                for challenge in challenges:
                    self.show_board(challenge)
                self.say(f"\n  {settings.PODIUM_URL}\n  accounts  {', '.join(PEOPLE)}\n  password  {people.password()}")
                if not once:
                    self.say("\nPress Ctrl-C to stop.")
                    service.watch()
        except NotStarted as error:
            raise CommandError(str(error), returncode=WRONG_USAGE) from error

    def wait_for_scores(self, service: Service) -> None:
        """Wait until every submission has its score and interval. Print the progress whenever it changes."""
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
        phase = challenge.phases.get()
        self.say(f"\n{challenge.title} ({phase.declared_track.headline}, public)")
        for row in board(phase, split="public", viewer=AnonymousUser()).page(0, SHOWN_ROWS):
            interval = "  (95%: {:.3f} to {:.3f})".format(*outward(row.interval, 3)) if row.interval else ""
            self.say(f"  {row.rank or '–':>2}  {row.team:<20} {row.score:.4f}{interval}")

    def report(self, name: str, message: str) -> None:
        self.say(f"  {name:<9} {message}")

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
