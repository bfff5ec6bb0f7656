"""`manage.py requeue`: score failed submissions again, or compute missing intervals."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError
from django.db.models import QuerySet

from server.accounts.audited_command import AuditedCommand
from server.errors import Refused
from server.submissions.models import Fault, Status, Submission
from server.submissions.services import recovery

FAULTS = tuple(filter(None, Fault.values))


class Command(AuditedCommand):
    help = "Queue failed submissions again; with --intervals, scores that lack an interval."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("ids", nargs="*", type=UUID, metavar="ID", help="id of a submission")
        parser.add_argument("--phase", metavar="CHALLENGE/PHASE", help="submissions of one phase")
        parser.add_argument("--fault", choices=FAULTS, help="submissions that failed through the fault of this side")
        parser.add_argument("--all", action="store_true", help="all failed submissions")
        parser.add_argument(
            "--intervals", action="store_true", help="scores without an interval instead of failed submissions"
        )

    def handle(self, *, intervals: bool, **options: Any) -> None:
        candidates = recovery.without_interval() if intervals else Submission.objects.filter(status=Status.FAILED)
        found = list(selected(candidates, options).select_related("phase__challenge").order_by("received_at"))
        requeue = recovery.requeue_interval if intervals else recovery.requeue
        done = 0
        for submission in found:
            try:
                requeue(submission=submission, by=self.person)
                done += 1
            except Refused as refusal:
                self.stderr.write(f"{submission.pk}: {refusal.detail}")
        self.stdout.write(f"{done} of {len(found)} queued again")


def selected(candidates: QuerySet[Submission], options: dict[str, Any]) -> QuerySet[Submission]:
    """Return the submissions that match every given filter. Without a filter, --all is required."""
    filters: dict[str, Any] = {}
    if options["ids"]:
        filters["pk__in"] = options["ids"]
    if options["phase"]:
        challenge, _, phase = options["phase"].partition("/")
        filters |= {"phase__challenge__slug": challenge, "phase__slug": phase}
    if options["fault"]:
        filters["fault"] = options["fault"]
    if not filters and not options["all"]:
        raise CommandError("Choose submissions by id, --phase CHALLENGE/PHASE or --fault, or use --all.")
    return candidates.filter(**filters)
