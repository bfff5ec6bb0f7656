"""Locks the team of a submission, even if a merge has changed the team since the submission was read."""

from uuid import UUID

from django.db.models import QuerySet

from server.challenges.locks import lock_phase, lock_teams
from server.compiled_queries import compiled_query
from server.submissions.models import Submission


def lock_team(submission: Submission) -> None:
    """Lock the phase and the team of a submission, and set its `team_id` to the current team.

    A team merge locks the phases of the challenge, so the team remains the same until the end of the transaction.
    """
    lock_phase(submission.phase_id)
    for (team,) in present_team(submission=submission.pk):
        submission.team_id = team
    lock_teams([submission.team_id])


@compiled_query
def present_team(*, submission: UUID) -> QuerySet[Submission, tuple[int]]:
    return Submission.objects.filter(pk=submission).order_by().values_list("team")
