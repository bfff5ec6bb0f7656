"""What a team says about its submissions: a note, and which ones count for the private board."""

import unicodedata

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Membership, Team
from server.clock import database_now
from server.errors import Refused
from server.submissions.models import Status, Submission

NOTE_CHARACTERS = 500


def checked_note(note: str) -> str:
    """One line of text, fit to be shown; too long is refused rather than cut."""
    plain = " ".join(unicodedata.normalize("NFKC", note).split())
    visible = "".join(character for character in plain if unicodedata.category(character)[0] != "C")
    if len(visible) > NOTE_CHARACTERS:
        raise Refused("invalid", f"The note has {len(visible)} characters; {NOTE_CHARACTERS} are allowed. Shorten it.")
    return visible


def refuse_others(submission: Submission, by: User) -> None:
    if not Membership.objects.filter(team=submission.team_id, user=by).exists():
        raise Refused("not_a_member", "Only the team that sent it may change this submission.")


def lock_team(submission: Submission) -> None:
    """Wait for whatever else the team does; before anything is written into the log (see `audit.services.record`)."""
    Team.objects.select_for_update(no_key=True).get(pk=submission.team_id)


@transaction.atomic
def set_note(*, submission: Submission, by: User, note: str) -> Submission:
    """Change the note; at any time, since it changes no board."""
    refuse_others(submission, by)
    lock_team(submission)
    submission.note = checked_note(note)
    submission.save(update_fields=["note"])
    audit.record(actor=by, action="submission.note", subject=f"submission {submission.pk}")
    return submission


@transaction.atomic
def set_final(*, submission: Submission, by: User, final: bool) -> Submission:
    """Choose it for the private board, or not any more; until the phase closes, at most `phase.finals` of a team."""
    refuse_others(submission, by)
    lock_team(submission)
    submission.refresh_from_db()
    if submission.final == final:
        return submission
    phase = submission.phase
    if phase.has_closed(database_now()):
        raise Refused("phase_closed", "This phase is closed; what was chosen then counts.")
    if final and submission.status != Status.SCORED:
        raise Refused("invalid", f"It is {submission.status}. Only a scored submission can be chosen.")
    chosen = Submission.objects.filter(phase=phase, team=submission.team_id, final=True).count()
    if final and chosen >= phase.finals:
        raise Refused(
            "invalid", f"Your team has chosen {chosen} of {phase.finals} already. Take one back, then choose this one."
        )
    submission.final = final
    submission.save(update_fields=["final"])
    audit.record(actor=by, action="submission.final", subject=f"submission {submission.pk}", detail={"final": final})
    return submission
