"""`manage.py export_challenge SLUG OUT.zip`: write a challenge as a bundle."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from server.accounts.audited_command import AuditedCommand
from server.challenges.models import Challenge
from server.errors import Refused
from server.organize.services.exporting import SECRETS, export_challenge


class Command(AuditedCommand):
    help = f"Write a challenge as a bundle that import_challenge can read. {SECRETS}"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="short name of the challenge")
        parser.add_argument("out", type=Path, help="the zip file to write, which must not exist yet")

    def handle(self, *, slug: str, out: Path, **options: Any) -> None:
        challenge = Challenge.objects.filter(slug=slug).first()
        if challenge is None:
            raise CommandError(f"There is no challenge {slug}.")
        try:
            with out.open("xb") as target:
                out.chmod(0o600)
                export_challenge(challenge=challenge, by=None, target=target)
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}.") from error
        except Refused as error:
            out.unlink()
            raise CommandError(error.detail) from error
        self.stdout.write(f"{out}: challenge {slug}. {SECRETS}")
