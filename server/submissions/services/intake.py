"""Taking a file in: policy first, then one transaction of row, ledger and log, then a message."""

import unicodedata
from hashlib import file_digest
from pathlib import PurePath

from django.core.files import File
from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Phase, Team
from server.clock import database_now
from server.errors import full_disk
from server.submissions import queue
from server.submissions.arriving import ArrivedFile
from server.submissions.models import Submission
from server.submissions.services import admission, quota
from server.submissions.services.choices import checked_note
from server.submissions.unpacked import is_small

NAME_CHARACTERS = 255


def submit(
    *, user: User | None, team: Team, phase: Phase, file: "File[bytes]", note: str = "", charge: bool = True
) -> Submission:
    """Take a file for a team. Refused, with nothing left behind, by what the rules of the phase say.

    `charge=False` is for baselines: no membership, no dates, no quota; `user` may be None.
    """
    admission.refuse_large(file)
    submission = Submission(
        phase=phase,
        team=team,
        user=user,
        file_name=tidy_name(file.name or ""),
        size_bytes=file.size,
        small=is_small(file),
        sha256=digest_of(file),
        note=checked_note(note),
    )
    try:
        keep(submission, file, charge=charge)
    except Exception as error:
        if refusal := full_disk(error):
            raise refusal from error
        raise
    return submission


def digest_of(file: "File[bytes]") -> str:
    """The sha256 of its content; what came in by a form was hashed on its way."""
    if isinstance(file, ArrivedFile):
        return file.sha256
    file.seek(0)
    return file_digest(file, "sha256").hexdigest()


def tidy_name(name: str) -> str:
    """The participant's own name for it, fit to be shown: no folders, nothing invisible, nothing that turns text."""
    plain = unicodedata.normalize("NFKC", PurePath(name).name)
    visible = "".join(character for character in plain if unicodedata.category(character)[0] != "C")
    return visible[-NAME_CHARACTERS:] or "unnamed"


def keep(submission: Submission, file: "File[bytes]", *, charge: bool) -> None:
    """Store the file and its row. A row never loses its file: only what ended before the commit takes it away again.

    After that nobody here knows how it went (the answer to a COMMIT may be lost); a file without a row is swept up.
    """
    submission.file.save(submission.file_name, file, save=False)
    decided = False
    try:
        with transaction.atomic():
            admit(submission, charge=charge)
            decided = True
    except BaseException:
        if not decided:
            submission.file.delete(save=False)
        raise


def admit(submission: Submission, *, charge: bool) -> None:
    """Decide and write, in the caller's transaction. Uploads of one team wait for each other at the team's row, and the
    clock is read after that wait: two of them cannot take one last slot, nor one count for a day that is over.

    At the phase's row they wait for an import, which may not change what decides scores once there is a submission.
    """
    phases = Phase.objects.select_for_update(no_key=True, of=("self",)).select_related("challenge")
    phase = phases.get(pk=submission.phase_id)  # as it is after a long upload
    team = Team.objects.select_for_update(no_key=True).get(pk=submission.team_id)
    now = database_now()
    if charge:
        admission.refuse_strangers(user=submission.user, team=team, phase=phase)
        admission.refuse_organizers(team=team, phase=phase)
        admission.refuse_by_date(phase, now)
    admission.refuse_duplicates(submission)
    if charge:
        admission.refuse_by_quota(team=team, phase=phase, now=now)
        admission.refuse_by_storage(team, now=now, more_bytes=submission.size_bytes)
    submission.received_at = submission.enqueued_at = now
    submission.save(force_insert=True)
    if charge:
        quota.charge(submission, now=now)
    audit.record(
        actor=submission.user,
        action="submission.received",
        subject=f"submission {submission.pk}",
        detail={"phase": str(phase), "team": team.name, "sha256": submission.sha256},
    )
    queue.enqueue_on_commit(submission.pk)
