"""Changes that a team can make to its submissions: editing the note, and selecting final submissions."""

import unicodedata

from django.db import transaction

from evaluator.texts import without_hidden
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.closing import has_closed_for
from server.challenges.models import Membership
from server.challenges.roles import refuse_archived
from server.clock import database_now
from server.errors import Refused
from server.submissions.models import Status, Submission
from server.submissions.services.team_locks import lock_team
from server.submissions.signals import announce

NOTE_CHARACTERS = 500


def checked_note(note: str) -> str:
    """Return a note as a single line without hidden characters. Raises Refused if it is too long."""
    plain = " ".join(unicodedata.normalize("NFKC", note).split())
    visible = without_hidden(plain)
    if len(visible) > NOTE_CHARACTERS:
        raise Refused(
            "invalid", f"The note has {len(visible)} characters; at most {NOTE_CHARACTERS} are allowed. Shorten it."
        )
    return visible


def refuse_non_member(submission: Submission, by: User) -> None:
    if not Membership.objects.filter(team=submission.team_id, user=by).exists():
        raise Refused("not_a_member", "Only the team that submitted this file can do this.")


@transaction.atomic
def set_note(*, submission: Submission, by: User, note: str) -> Submission:
    """Change the note of a submission.

    The note can be changed until the challenge is archived, because it affects no leaderboard.
    """
    lock_team(submission)
    refuse_non_member(submission, by)
    refuse_archived(submission.phase.challenge)
    note = checked_note(note)
    submission.refresh_from_db(fields=["note"])
    if submission.note == note:
        return submission
    submission.note = note
    submission.save(update_fields=["note"])
    audit.record(actor=by, action="submission.note", subject=f"submission {submission.pk}")
    return submission


@transaction.atomic
def set_final(*, submission: Submission, by: User, final: bool) -> Submission:
    """Select a submission as final, so that it counts on the private leaderboard, or undo this choice.

    Until the phase closes, a team can select up to `phase.finals` submissions.
    """
    lock_team(submission)
    refuse_non_member(submission, by)
    submission.refresh_from_db()
    if submission.final == final:
        return submission
    phase = submission.phase
    if has_closed_for(submission.team, phase, database_now()):
        raise Refused(
            "phase_closed", "This phase is closed. The final submissions that were chosen before it closed count."
        )
    if final and submission.status != Status.SCORED:
        raise Refused("invalid", f"This submission is {submission.status}. Only a scored submission can be chosen.")
    chosen = Submission.objects.filter(phase=phase, team=submission.team_id, final=True).count()
    if final and chosen >= phase.finals:
        raise Refused(
            "invalid",
            f"Your team has already chosen {chosen} of {phase.finals} final submissions. Deselect one first.",
        )
    submission.final = final
    submission.save(update_fields=["final"])
    announce(phase, [submission.team_id])
    audit.record(actor=by, action="submission.final", subject=f"submission {submission.pk}", detail={"final": final})
    return submission
