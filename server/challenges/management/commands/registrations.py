"""`manage.py registrations SLUG`: list the requests to join a challenge, and approve or decline them."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from server.accounts.audited_command import AuditedCommand
from server.challenges import approval
from server.challenges.approval import Decide
from server.challenges.models import Challenge
from server.clock import utc_text


class Command(AuditedCommand):
    help = (
        "List the requests to join a challenge that requires approval, or approve or decline the requests of the "
        "given people. Each decision is saved independently. The exit status is 1 if a decision could not be "
        "made."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--approve", nargs="+", default=[], metavar="USERNAME")
        parser.add_argument("--decline", nargs="+", default=[], metavar="USERNAME")

    def handle(self, *, slug: str, approve: list[str], decline: list[str], **options: Any) -> None:
        challenge = Challenge.objects.filter(slug=slug).first()
        if challenge is None:
            raise CommandError(f"There is no challenge {slug}.")
        refused = [
            *self.decide(challenge, approve, approval.approve, "approved"),
            *self.decide(challenge, decline, approval.decline, "declined"),
        ]
        for request in challenge.join_requests.select_related("user"):
            name = f"  team {request.team_name}" if request.team_name else ""
            self.stdout.write(f"{request.user}  {request.status}  {utc_text(request.requested_at)}{name}")
        if refused:
            raise CommandError("\n".join(refused))

    def decide(self, challenge: Challenge, names: list[str], decision: Decide, done: str) -> list[str]:
        """Approve or decline the requests to join by the given users, and print each decision.

        Return a message for each decision that could not be made.
        """
        found = [(name, challenge.join_requests.filter(user__username__iexact=name).first()) for name in names]
        refused = [f"{name} has not requested to join {challenge.slug}." for name, request in found if request is None]
        requests = [request for _, request in found if request is not None]
        for request, refusal in approval.decide_each(decision, requests, by=self.person):
            if refusal is None:
                self.stdout.write(f"{request.user} was {done}.")
            else:
                refused.append(f"{request.user} was not {done}: {refusal.detail}")
        return refused
