"""`manage.py requeue`: score again what failed, or compute the intervals that are missing."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError
from django.db.models import QuerySet

from server.accounts.acting import ActingCommand
from server.errors import Refused
from server.submissions.models import Fault, Status, Submission
from server.submissions.services import redoing

FAULTS = tuple(filter(None, Fault.values))


class Command(ActingCommand):
    help = "Queues failed submissions again; with --intervals, scores that have no interval."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("ids", nargs="*", type=UUID, metavar="ID", help="of submissions")
        parser.add_argument("--phase", metavar="CHALLENGE/PHASE", help="those of one phase")
        parser.add_argument("--fault", choices=FAULTS, help="those for which this side is at fault")
        parser.add_argument("--all", action="store_true", help="all of them")
        parser.add_argument("--intervals", action="store_true", help="scores without interval instead of failed ones")

    def handle(self, *, intervals: bool, **options: Any) -> None:
        kind = redoing.without_interval() if intervals else Submission.objects.filter(status=Status.FAILED)
        found = list(chosen(kind, options).select_related("phase__challenge").order_by("received_at"))
        deed = redoing.requeue_interval if intervals else redoing.requeue
        done = 0
        for submission in found:
            try:
                deed(submission=submission, by=self.person)
                done += 1
            except Refused as refusal:
                self.stderr.write(f"{submission.pk}: {refusal.detail}")
        self.stdout.write(f"{done} of {len(found)} queued again")


def chosen(kind: QuerySet[Submission], options: dict[str, Any]) -> QuerySet[Submission]:
    """Return those that every given filter lets through; without any filter --all must be said."""
    filters: dict[str, Any] = {}
    if options["ids"]:
        filters["pk__in"] = options["ids"]
    if options["phase"]:
        challenge, _, phase = options["phase"].partition("/")
        filters |= {"phase__challenge__slug": challenge, "phase__slug": phase}
    if options["fault"]:
        filters["fault"] = options["fault"]
    if not filters and not options["all"]:
        raise CommandError("Say which: ids, --phase CHALLENGE/PHASE, --fault, or --all.")
    return kind.filter(**filters)
