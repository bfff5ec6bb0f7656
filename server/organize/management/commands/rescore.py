"""`manage.py rescore SLUG PHASE`: score everything once more, show what changes, and switch the boards."""

import re
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluator.problems import Problem
from server.accounts.acting import ActingCommand
from server.challenges.models import Phase, Truth
from server.errors import Refused
from server.organize.models import Rescoring
from server.organize.services import rescoring, truths
from server.organize.services.bundles import InvalidBundle
from server.submissions.feedback import SPLITS

LOOK_SECONDS = 0.5
PATIENCE_SECONDS = 60  # without a single score


class Command(ActingCommand):
    help = (
        "Score a phase's submissions against a version of its truth, list the ranks that change, and switch its "
        "boards. Any version can be put into effect again; without --truth it is the newest that was never in use, or "
        "else the one in use."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="of the challenge")
        parser.add_argument("phase", help="its slug")
        parser.add_argument(
            "--truth", metavar="VERSION|PATH", help="number of a version, such as 1; or a new truth, as folder or zip"
        )
        parser.add_argument("--reveal", action="store_true", help="allow images that are private now to become public")
        way = parser.add_mutually_exclusive_group()
        way.add_argument("--preview", action="store_true", help="change nothing yet")
        way.add_argument("--discard", action="store_true", help="give up the rescoring that was begun")
        parser.add_argument(
            "--without-unscorable", action="store_true", help="take off the boards what cannot be scored this way"
        )

    def handle(self, *, slug: str, phase: str, truth: str | None, preview: bool, **options: Any) -> None:
        found = Phase.objects.select_related("challenge").filter(challenge__slug=slug, slug=phase).first()
        if found is None:
            raise CommandError(f"There is no phase {phase} of a challenge {slug}.")
        try:
            if options["discard"]:
                rescoring.discard(phase=found, by=None)
            else:
                named = None if truth is None else self.truth_of(found, str(truth), reveal=options["reveal"])
                begun = rescoring.start(phase=found, by=None, truth=named, reveal=options["reveal"])
                self.stdout.write(f"rescoring against truth {in_words(begun.truth)}")
                self.wait(begun)
                self.show(begun)
                if not preview:
                    agreed = {name: options[name] for name in ("without_unscorable", "reveal")}
                    rescoring.apply(rescoring=begun, by=None, **agreed)
            self.show_active(found)
            if not preview:
                self.stdout.write("discarded" if options["discard"] else "applied")
        except InvalidBundle as error:
            lines = [f"{one.file}:{one.line or ''}: {one.code} {one.message}" for one in error.problems]
            raise CommandError("\n".join([*lines, "This truth cannot be used; nothing was changed."])) from error
        except Refused as refusal:
            raise CommandError(refusal.detail) from refusal

    def truth_of(self, phase: Phase, named: str, *, reveal: bool) -> Truth:
        """Return the version of a number (`1`, or `v1` where no such path exists), or add the truth of a path."""
        if not named:  # as a path it would be the current folder
            raise CommandError("--truth is empty. Name a version or a path.")
        if re.fullmatch("[0-9]{1,9}", named) or (re.fullmatch("v[0-9]{1,9}", named) and not Path(named).exists()):
            return rescoring.version_of(phase, int(named.removeprefix("v")))
        added = truths.add(phase=phase, path=Path(named), by=None, warn=self.warn, reveal=reveal)
        self.stdout.write(f"truth {in_words(added)}, {added.images:,} images")
        return added

    def warn(self, warning: Problem) -> None:
        self.stderr.write(f"{warning.file}:{warning.line or ''}: warning: {warning.code} {warning.message}")

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

    def show_active(self, phase: Phase) -> None:
        """Print which truth the boards show, as the database has it now."""
        now = Phase.objects.get(pk=phase.pk)
        truth = in_words(now.truth) if now.truth else "none"
        self.stdout.write(f"boards of {phase} show truth {truth}: {now.signature}")
        if waiting := rescoring.begun_of(now):
            self.stdout.write(f"a rescoring to truth {in_words(waiting.truth)} waits to be applied or discarded")


def in_words(truth: Truth) -> str:
    return f"version {truth.version} (sha256 {truth.sha256[:12]})"
