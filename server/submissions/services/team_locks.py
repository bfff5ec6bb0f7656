"""Locks the team of a submission, even if a merge has changed the team since the submission was read."""

from django.db import connection

from server.challenges.locks import lock_phase, lock_teams
from server.sql import row_lock, select
from server.submissions.models import Submission

TEAM = """
SELECT team.id FROM "challenges_team" AS team
JOIN submissions_submission AS submission ON submission.team_id = team.id WHERE submission.id = %s
"""


def lock_team(submission: Submission) -> None:
    """Lock the phase and the team of a submission, and set its `team_id` to the current team.

    A team merge locks the phases of the challenge, so the team remains the same until the end of the transaction.
    """
    lock_phase(submission.phase_id)
    key = Submission._meta.pk.get_db_prep_value(submission.pk, connection)
    found = select(TEAM + row_lock(of="team"), [key])
    for (team,) in found:
        submission.team_id = team
    if not found:  # The submission was deleted.
        lock_teams([submission.team_id])
