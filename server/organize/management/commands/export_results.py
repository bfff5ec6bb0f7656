"""`manage.py export_results SLUG PHASE OUT`: write a phase's signed results, or its leaderboard entries as CSV."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.management.base import CommandError

from server.accounts.audited_command import AuditedCommand
from server.challenges.models import Phase
from server.clock import database_now
from server.errors import Refused
from server.organize.services import results
from server.submissions.feedback import score_access


class Command(AuditedCommand):
    help = (
        "Write the results of a phase, with exact scores, as signed JSON, or as CSV without a signature if OUT ends "
        "with .csv. Results are final if the private scores are shown, nothing is queued or running, and no rescoring "
        "is open."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="slug of the challenge")
        parser.add_argument("phase", help="slug of the phase")
        parser.add_argument("out", type=Path, help="the file to write, which must not exist yet")
        parser.add_argument(
            "--preliminary", action="store_true", help="write results that are not final, and mark them as preliminary"
        )

    def handle(self, *, slug: str, phase: str, out: Path, preliminary: bool, **options: Any) -> None:
        found = Phase.objects.select_related("challenge").filter(challenge__slug=slug, slug=phase).first()
        if found is None:
            raise CommandError(f"There is no phase {phase} in challenge {slug}.")
        now = database_now()
        access = score_access(found, viewer=AnonymousUser(), now=now, is_organizer=True)
        try:
            ready = results.export(found, access=access, now=now, preliminary=preliminary)
            with out.open("xb") as target:
                target.write(ready.content(is_csv=out.suffix == ".csv", by=self.person))
        except Refused as refusal:
            raise CommandError(refusal.detail) from refusal
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}.") from error
        self.stdout.write(f"{out}: {'final' if ready.is_final else 'preliminary'} results of phase {found}.")
