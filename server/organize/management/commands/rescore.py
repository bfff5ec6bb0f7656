"""`manage.py rescore SLUG PHASE`: score everything once more, show what changes, and switch the boards."""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from server.accounts.acting import ActingCommand
from server.challenges.models import Phase
from server.errors import Refused
from server.organize.models import Rescoring
from server.organize.services import rescoring, truths
from server.organize.services.bundles import InvalidBundle
from server.submissions.feedback import SPLITS

LOOK_SECONDS = 0.5
PATIENCE_SECONDS = 60  # without a single score


class Command(ActingCommand):
    help = "Score a phase's submissions against its newest truth, say which ranks change, and switch its boards."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="of the challenge")
        parser.add_argument("phase", help="its slug")
        parser.add_argument("--truth", type=Path, metavar="PATH", help="a truth folder, or a zip of one, to be used")
        parser.add_argument("--preview", action="store_true", help="change nothing yet")
        parser.add_argument(
            "--without-unscorable", action="store_true", help="take off the boards what cannot be scored this way"
        )

    def handle(self, *, slug: str, phase: str, truth: Path | None, preview: bool, **options: Any) -> None:
        found = Phase.objects.select_related("challenge").filter(challenge__slug=slug, slug=phase).first()
        if found is None:
            raise CommandError(f"There is no phase {phase} of a challenge {slug}.")
        try:
            if truth is not None:
                added = truths.add(phase=found, path=truth, by=None)
                self.stdout.write(f"truth version {added.version}, {added.images:,} images, sha256 {added.sha256[:12]}")
            begun = rescoring.start(phase=found, by=None)
            self.wait(begun)
            self.show(begun)
            if not preview:
                rescoring.apply(rescoring=begun, by=None, without_unscorable=options["without_unscorable"])
                self.stdout.write("applied")
        except InvalidBundle as error:
            lines = [f"{one.file}:{one.line or ''}: {one.code} {one.message}" for one in error.problems]
            raise CommandError("\n".join([*lines, "This truth cannot be used; nothing was changed."])) from error
        except Refused as refusal:
            raise CommandError(refusal.detail) from refusal

    def wait(self, begun: Rescoring) -> None:
        """Return when everything has its score, or was given up."""
        told, until = -1, time.monotonic() + PATIENCE_SECONDS
        while left := rescoring.left(begun):
            if left != told:
                self.stdout.write(f"{left} still to be scored")
                told, until = left, time.monotonic() + PATIENCE_SECONDS
            if time.monotonic() > until:
                raise CommandError(
                    f"Nothing was scored for {PATIENCE_SECONDS} s. Is the service running? "
                    "The rescoring goes on with it; the same command again follows it."
                )
            time.sleep(LOOK_SECONDS)
            rescoring.catch_up(begun)

    def show(self, begun: Rescoring) -> None:
        for lost in rescoring.unscorable(begun):
            self.stdout.write(f"cannot be scored: {lost.submission.team.name}, {lost.submission_id}: {lost.failure}")
        for split in SPLITS:
            for change in rescoring.changes(begun, split=split):
                ranks = f"{change.rank_before or '–'} to {change.rank_after or '–'}"
                scores = f"{change.score_before} to {change.score_after}"
                self.stdout.write(f"{split}: {change.team}: rank {ranks}, score {scores}")
