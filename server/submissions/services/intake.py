"""Accepts a submitted file: checks the rules, writes its row, ledger and audit entries, and sends a message."""

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
from server.submissions.models import Submission
from server.submissions.services import admission, quota
from server.submissions.services.choices import checked_note
from server.submissions.small_files import is_small
from server.submissions.upload_handler import HashedFile
from server.texts import without_hidden

NAME_CHARACTERS = 255


def submit(
    *, user: User | None, team: Team, phase: Phase, file: "File[bytes]", note: str = "", charge: bool = True
) -> Submission:
    """Accept a file for a team. Raises Refused, with nothing stored, if a rule of the phase forbids it.

    `charge=False` is for baselines: membership, dates and quota are not checked, and `user` may be None.
    """
    admission.refuse_large(file)
    submission = Submission(
        phase=phase,
        team=team,
        user=user,
        file_name=visible_name(file.name or ""),
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
    """Return the sha256 of a file's content. An upload was hashed when it was received."""
    if isinstance(file, HashedFile):
        return file.sha256
    file.seek(0)
    return file_digest(file, "sha256").hexdigest()


def visible_name(name: str) -> str:
    """Return the participant's file name without folders and without invisible or direction-changing characters."""
    plain = unicodedata.normalize("NFKC", PurePath(name).name)
    return without_hidden(plain)[-NAME_CHARACTERS:] or "unnamed"


def keep(submission: Submission, file: "File[bytes]", *, charge: bool) -> None:
    """Store the file and its row. The file is deleted again only if the transaction failed before its commit.

    If the connection breaks during the commit, its outcome is unknown. The file then remains, because a row must never
    lose its file; the sweeper handles files without a row.
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
    """Check the rules and write the row, in the caller's transaction.

    The team's row is locked and the clock is read afterwards. So two uploads cannot both use the last submission of a
    quota, and no upload counts for a day that is over. The phase's row is locked too, so that an upload waits for a
    running import: after the first submission, an import may not change anything that affects scores.
    """
    phases = Phase.objects.select_for_update(no_key=True, of=("self",)).select_related("challenge")
    phase = phases.get(pk=submission.phase_id)  # read again, because the upload may have taken a long time
    team = Team.objects.select_for_update(no_key=True).get(pk=submission.team_id)
    now = database_now()
    if charge:
        admission.refuse_non_member(user=submission.user, team=team, phase=phase)
        admission.refuse_privileged(team=team, phase=phase)
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
    queue.enqueue_on_commit(Submission, submission.pk)
