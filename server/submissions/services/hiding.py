"""Hides individual submissions from leaderboards, for organizers. Scores are kept, and hiding can be undone."""

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.roles import Right, refuse_without
from server.clock import database_now
from server.errors import Refused
from server.submissions.models import Status, Submission
from server.submissions.services import ladder
from server.submissions.services.team_locks import lock_team
from server.submissions.signals import announce


@transaction.atomic
def hide(*, submission: Submission, by: User | None) -> Submission:
    """Hide a scored submission from all leaderboards. The next best submission of its team counts instead."""
    lock(submission, by)
    if submission.status != Status.SCORED:
        raise Refused("invalid", f"This submission is {submission.status}. Only scored submissions can be hidden.")
    if submission.hidden_at is not None:
        raise Refused("invalid", "This submission is already hidden.")
    submission.hidden_at = database_now()
    return save(submission, by, action="submission.hidden")


@transaction.atomic
def unhide(*, submission: Submission, by: User | None) -> Submission:
    """Undo the hiding of a submission, so that it counts on leaderboards again. Raises Refused if it is not hidden."""
    lock(submission, by)
    if submission.hidden_at is None:
        raise Refused("invalid", "This submission is not hidden.")
    submission.hidden_at = None
    return save(submission, by, action="submission.unhidden")


def lock(submission: Submission, by: User | None) -> None:
    """Lock the team of a submission, and reload the submission. Raises Refused if the user `by` may not edit it."""
    refuse_without(Right.EDIT, by=by, challenge=submission.phase.challenge)
    lock_team(submission)
    submission.refresh_from_db(fields=["status", "hidden_at", "team"])


def save(submission: Submission, by: User | None, *, action: str) -> Submission:
    """Store whether a submission is hidden, update the leaderboards of its phase, and write an audit entry."""
    submission.save(update_fields=["hidden_at"])
    if submission.hidden_at is not None:
        ladder.decide_again(submission)
    announce(submission.phase, [submission.team_id])
    audit.record(actor=by, action=action, subject=f"submission {submission.pk}")
    return submission
