"""`manage.py import_challenge PATH`: create or change a challenge from a bundle, which is a folder or zip file."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.urls import reverse

from evaluator.bundle import InvalidBundle
from evaluator.problems import Problem
from server.accounts.audited_command import AuditedCommand
from server.accounts.models import User
from server.challenges.models import Challenge
from server.errors import Refused
from server.organize.services.consent import Consent
from server.organize.services.importing import import_bundle
from server.organize.services.opaque_ids import write_opaque_ids

BUNDLE_AT_FAULT, TRUTH_AT_FAULT, BASELINE_REFUSED = 1, 3, 4


class Command(AuditedCommand):
    help = (
        "Import a challenge from a bundle. If there are errors, they are listed as file:line: code message, and "
        f"nothing is imported. Exit status: {BUNDLE_AT_FAULT} for errors in the bundle, {TRUTH_AT_FAULT} if only its "
        f"ground truth is faulty, {BASELINE_REFUSED} if the challenge was imported but a baseline could not be "
        "submitted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="folder or zip file with challenge.yaml")
        parser.add_argument("--strict", action="store_true", help="treat every warning as an error")
        parser.add_argument(
            "--reveal",
            action="store_true",
            help="allow the import to end or remove a phase, and to show more of its scores",
        )
        parser.add_argument("--force", action="store_true", help="allow the import to undo edits made on the server")
        parser.add_argument(
            "--opaque-ids",
            action="store_true",
            help="before the import, give new ids to the captions of retrieval phases, and write the ids and "
            "their mapping to the bundle",
        )
        parser.add_argument(
            "--organizer", metavar="USERNAME", help="username of the person who becomes an organizer of the challenge"
        )

    def handle(self, *, path: Path, organizer: str | None, **options: Any) -> None:
        by = User.objects.filter(username__iexact=organizer).first() if organizer else None
        if organizer and by is None:
            raise CommandError(f"There is no user {organizer}. Sign up first, or omit --organizer.")
        try:
            challenge = self.imported(path, by, **options)
        except InvalidBundle as error:
            for warning in error.warnings:
                self.warn(warning)
            for problem in error.problems:
                self.stderr.write(line(problem))
            code = TRUTH_AT_FAULT if error.is_truth_fault else BUNDLE_AT_FAULT
            raise CommandError(f"{error}; nothing was imported.", returncode=code) from error
        except Refused as error:
            raise CommandError(error.detail, returncode=BASELINE_REFUSED) from error
        address = settings.RUNNING.get("url", settings.PODIUM_URL)
        self.stdout.write(f"{address}{reverse('challenge', args=[challenge.slug])}")

    def imported(
        self, path: Path, by: User | None, *, strict: bool, reveal: bool, force: bool, opaque_ids: bool, **options: Any
    ) -> Challenge:
        """Import a bundle. With `opaque_ids`, first replace the ids of captions in its files with new random ids."""
        if opaque_ids:
            # Path.is_file would raise an exception for a path that is too long. os.path.isfile returns False, and the
            # import then reports the error.
            if os.path.isfile(path):
                raise CommandError(
                    "--opaque-ids changes files of the bundle. Unpack the zip file and import the folder."
                )
            for sentence in write_opaque_ids(path):
                self.stdout.write(sentence)
        consent = Consent(reveal=reveal, force=force)
        return import_bundle(
            path=path,
            by=by,
            report=self.stdout.write,
            warn=self.warn,
            strict=strict,
            consent=consent,
            progress=self.stdout.write if self.stdout.isatty() else None,
        )

    def warn(self, warning: Problem) -> None:
        self.stderr.write(line(warning, "warning: "))


def line(problem: Problem, kind: str = "") -> str:
    """Return an error or warning as one line, formatted like a compiler message."""
    place = ":".join(str(part) for part in (problem.file, problem.line) if part is not None)
    column = f"{problem.column}: " if problem.column else ""
    return f"{place}: {kind}{problem.code} {column}{problem.message}"
