"""`manage.py requeue`: requeue failed submissions, or submissions whose confidence intervals are missing."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError
from django.db.models import QuerySet

from server.accounts.audited_command import AuditedCommand
from server.challenges.models import Phase
from server.errors import Refused
from server.submissions.models import Fault, Status, Submission
from server.submissions.services import recovery

FAULTS = tuple(filter(None, Fault.values))


class Command(AuditedCommand):
    help = "Queue failed submissions again. With --intervals, compute missing confidence intervals instead."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("ids", nargs="*", type=UUID, metavar="ID", help="id of a submission")
        parser.add_argument("--phase", metavar="CHALLENGE/PHASE", help="select only submissions to this phase")
        parser.add_argument("--fault", choices=FAULTS, help="select only submissions whose failure had this cause")
        parser.add_argument("--all", action="store_true", help="all failed submissions")
        parser.add_argument(
            "--intervals",
            action="store_true",
            help="instead of failed submissions, select scored submissions without an interval",
        )

    def handle(self, *, intervals: bool, **options: Any) -> None:
        candidates = recovery.without_interval() if intervals else Submission.objects.filter(status=Status.FAILED)
        found = list(selected(candidates, options).select_related("phase__challenge").order_by("received_at"))
        refuse_unmatched(options["ids"], found)
        requeue = recovery.requeue_interval if intervals else recovery.requeue
        refused = []
        for submission in found:
            try:
                requeue(submission=submission, by=self.person)
            except Refused as refusal:
                refused.append(f"{submission.pk}: {refusal.detail}")
        self.stdout.write(f"{len(found) - len(refused)} of {len(found)} queued again")
        if refused and options["ids"]:
            raise CommandError("\n".join(refused))
        for line in refused:  # A submission that cannot be queued again is an error only if its id was specified.
            self.stderr.write(line)


def refuse_unmatched(ids: list[UUID], found: list[Submission]) -> None:
    """Raise CommandError if a submission does not exist or does not match the filters.

    Call this before any submission is queued.
    """
    if unmatched := {*ids} - {one.pk for one in found}:
        listed = ", ".join(sorted(map(str, unmatched)))
        raise CommandError(f"Nothing was queued. These submissions do not exist or do not match the filters: {listed}.")


def phase_of(named: str) -> Phase:
    challenge, _, slug = named.partition("/")
    found = Phase.objects.filter(challenge__slug=challenge, slug=slug).first()
    if found is None:
        raise CommandError(f"There is no phase {named}. The format is CHALLENGE/PHASE.")
    return found


def selected(candidates: QuerySet[Submission], options: dict[str, Any]) -> QuerySet[Submission]:
    """Return the submissions that match every given filter. Without a filter, --all is required."""
    filters: dict[str, Any] = {}
    if options["ids"]:
        filters["pk__in"] = options["ids"]
    if options["phase"] is not None:
        filters["phase"] = phase_of(options["phase"])
    if options["fault"]:
        filters["fault"] = options["fault"]
    if not filters and not options["all"]:
        raise CommandError("Choose submissions by id, --phase CHALLENGE/PHASE or --fault, or use --all.")
    return candidates.filter(**filters)
