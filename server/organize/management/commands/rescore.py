"""`manage.py rescore SLUG PHASE`: score all submissions again, show the changes, and update the leaderboards."""

import re
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluator.bundle import InvalidBundle
from evaluator.problems import Problem
from evaluator.texts import counted
from server.accounts.audited_command import AuditedCommand, text_argument
from server.challenges.models import Phase, Truth
from server.challenges.services import reason_line
from server.errors import Refused
from server.organize.models import REASON_CHARACTERS, SIGNED_CHARACTERS, Rescoring
from server.organize.services import applying, change_log, previews, rescoring, truths
from server.submissions.feedback import SPLITS

POLL_SECONDS = 0.5
MAX_IDLE_SECONDS = 60  # The command stops waiting if there is no new score for this many seconds.


class Command(AuditedCommand):
    help = (
        "Score a phase's submissions against a version of its ground truth, list the ranks that change, and "
        "switch the leaderboards. You can return to any earlier version. Without --truth, the newest version is "
        "used if it was never active, and otherwise the active version."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="slug of the challenge")
        parser.add_argument("phase", help="slug of the phase")
        parser.add_argument(
            "--truth",
            metavar="VERSION|PATH",
            help="version number, such as 1, or a new ground truth as a folder or zip file",
        )
        parser.add_argument("--reveal", action="store_true", help="allow private images to become public")
        parser.add_argument(
            "--retry",
            action="store_true",
            help="retry submissions that have used up their attempts or have unreadable files",
        )
        way = parser.add_mutually_exclusive_group()
        way.add_argument("--preview", action="store_true", help="list the changes without switching the leaderboards")
        way.add_argument("--discard", action="store_true", help="discard the open rescoring")
        parser.add_argument("--reason", type=text_argument, help="the reason, for the public change log")
        parser.add_argument("--signed", type=text_argument, help="your name in the public change log")
        parser.add_argument(
            "--without-unscorable",
            action="store_true",
            help="remove from the leaderboards any submissions that cannot be scored against this ground truth",
        )
        parser.add_argument(
            "--without-gate",
            action="store_true",
            help="switch even if the gate is not green; the phase then accepts no submissions",
        )

    def handle(self, *, slug: str, phase: str, truth: str | None, preview: bool, **options: Any) -> None:
        found = Phase.objects.select_related("challenge").filter(challenge__slug=slug, slug=phase).first()
        if found is None:
            raise CommandError(f"There is no phase {phase} in challenge {slug}.")
        refuse_ignored(truth=truth, preview=preview, **options)
        try:
            if options["discard"]:
                rescoring.discard(phase=found, by=None)
            else:
                named = None if truth is None else self.truth_of(found, str(truth), reveal=options["reveal"])
                asked = {name: options[name] for name in ("reveal", "retry")}
                begun = rescoring.start(phase=found, by=None, truth=named, **asked)
                self.stdout.write(f"rescoring against ground truth {described(begun.truth)}")
                self.wait(begun)
                self.show(begun)
                if not preview:
                    self.explain(begun, reason=options["reason"], signed=options["signed"])
                    accepted = {name: options[name] for name in ("without_unscorable", "without_gate")}
                    # To make private images public, an owner must confirm the short name of the phase. The name is
                    # already an argument of this command, so `--reveal` is enough.
                    confirm = found.slug if options["reveal"] else ""
                    applying.apply(found=begun, by=None, confirm=confirm, **accepted)
            self.show_active(found)
            if not preview:
                self.stdout.write("discarded" if options["discard"] else "applied")
        except InvalidBundle as error:
            lines = [f"{one.file}:{one.line or ''}: {one.code} {one.message}" for one in error.problems]
            raise CommandError("\n".join([*lines, "This ground truth cannot be used; nothing was changed."])) from error
        except Refused as refusal:
            raise CommandError(refusal.detail) from refusal

    def explain(self, begun: Rescoring, *, reason: str | None, signed: str | None) -> None:
        if reason or signed:
            name = reason_line(signed, characters=SIGNED_CHARACTERS, field="signed") if signed else ""
            why = reason_line(reason, characters=REASON_CHARACTERS) if reason else ""
            change_log.explain(found=begun, by=None, reason=why, signed=name)

    def truth_of(self, phase: Phase, named: str, *, reveal: bool) -> Truth:
        """Return the version of the ground truth with the given number, or add the ground truth at the given path.

        A number is written as `1` or `v1`. However, if a file or folder named `v1` exists, `v1` is treated as a path.
        """
        if re.fullmatch("[0-9]{1,9}", named) or (re.fullmatch("v[0-9]{1,9}", named) and not Path(named).exists()):
            return rescoring.version_of(phase, int(named.removeprefix("v")))
        added = truths.add(phase=phase, path=Path(named), by=None, warn=self.warn, reveal=reveal)
        self.stdout.write(f"ground truth {described(added)}, {counted(added.images, 'image')}")
        return added

    def warn(self, warning: Problem) -> None:
        self.stderr.write(f"{warning.file}:{warning.line or ''}: warning: {warning.code} {warning.message}")

    def wait(self, begun: Rescoring) -> None:
        """Wait until every submission has a new score, or its scoring has failed and is not retried."""
        printed, until = -1, time.monotonic() + MAX_IDLE_SECONDS
        while left := rescoring.count_left(begun):
            if left != printed:
                self.stdout.write(f"{left} submissions left to score")
                printed, until = left, time.monotonic() + MAX_IDLE_SECONDS
            if time.monotonic() > until:
                raise CommandError(
                    f"Nothing was scored for {MAX_IDLE_SECONDS} s. Is the service running? "
                    "Rescoring will continue once it is running. To follow its progress, run the same command again."
                )
            time.sleep(POLL_SECONDS)
            rescoring.catch_up(begun)

    def show(self, begun: Rescoring) -> None:
        for lost in rescoring.unscorable(begun):
            when = "cannot be scored" if lost.is_given_up else "cannot be scored now; will be tried again"
            self.stdout.write(f"{when}: {lost.submission.team.name}, {lost.submission_id}: {lost.reason}")
        for split in SPLITS:
            found = previews.preview(begun, split=split)
            for change in found.rank_changes:
                ranks = f"{change.rank_before or '–'} to {change.rank_after or '–'}"
                scores = f"{change.score_before} to {change.score_after}"
                self.stdout.write(f"{split}: {change.team}: rank {ranks}, score {scores}")
            if found.score_changes:
                others = counted(found.score_changes, "more entry", "more entries")
                self.stdout.write(f"{split}: {others} with a different score but the same rank")

    def show_active(self, phase: Phase) -> None:
        """Print which ground truth the leaderboards currently use."""
        now = Phase.objects.get(pk=phase.pk)
        truth = described(now.truth) if now.truth else "none"
        self.stdout.write(f"the leaderboards of {phase} show ground truth {truth}: {now.signature}")
        if waiting := rescoring.open_rescoring(now):
            self.stdout.write(f"a rescoring against ground truth {described(waiting.truth)} has not been applied yet")


def refuse_ignored(
    *,
    truth: str | None,
    preview: bool,
    discard: bool,
    reveal: bool,
    retry: bool,
    without_unscorable: bool,
    without_gate: bool,
    reason: str | None,
    signed: str | None,
    **options: Any,
) -> None:
    """Raise CommandError if an option would be ignored because of another option."""
    if discard and any((truth is not None, reveal, retry, without_unscorable, without_gate, reason, signed)):
        raise CommandError("--discard cannot be combined with other options: it discards the open rescoring.")
    applying = {"without-unscorable": without_unscorable, "without-gate": without_gate}
    for option, given in {**applying, "reason": reason, "signed": signed}.items():
        if preview and given:
            raise CommandError(f"--preview changes nothing, so it cannot be combined with --{option}.")


def described(truth: Truth) -> str:
    return f"version {truth.version} (sha256 {truth.sha256[:12]})"
