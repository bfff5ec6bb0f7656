"""`manage.py registrations SLUG`: list requests to join a challenge, approve or decline them."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from server.accounts.audited_command import AuditedCommand
from server.challenges import approval
from server.challenges.models import Challenge, JoinRequest
from server.errors import Refused


class Command(AuditedCommand):
    help = "List requests to join a challenge whose organizers approve members; approve or decline some of them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--approve", nargs="+", default=[], metavar="USERNAME")
        parser.add_argument("--decline", nargs="+", default=[], metavar="USERNAME")

    def handle(self, *, slug: str, approve: list[str], decline: list[str], **options: Any) -> None:
        challenge = Challenge.objects.filter(slug=slug).first()
        if challenge is None:
            raise CommandError(f"There is no challenge {slug}.")
        try:
            for name in approve:
                approval.approve(request=self.request(challenge, name), by=self.person)
            for name in decline:
                approval.decline(request=self.request(challenge, name), by=self.person)
        except Refused as refusal:
            raise CommandError(refusal.detail) from None
        for request in challenge.join_requests.select_related("user"):
            name = f"  team {request.team_name}" if request.team_name else ""
            self.stdout.write(f"{request.user}  {request.status}  {request.requested_at:%Y-%m-%d %H:%M} UTC{name}")

    def request(self, challenge: Challenge, name: str) -> JoinRequest:
        found = challenge.join_requests.filter(user__username__iexact=name).first()
        if found is None:
            raise CommandError(f"{name} has not requested to join {challenge.slug}.")
        return found
