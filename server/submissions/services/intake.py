"""Taking a file in: policy first, then one transaction of row, ledger and log, then a message."""

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from functools import partial
from hashlib import file_digest
from pathlib import PurePath
from sqlite3 import SQLITE_FULL

from django.core.files import File
from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Phase, Team
from server.clock import database_now
from server.errors import Refused
from server.submissions import queue
from server.submissions.models import Submission
from server.submissions.services import admission, quota
from server.submissions.services.choices import checked_note

NAME_CHARACTERS = 255
DISK_FULL = "53100"  # PostgreSQL's name for it


def submit(
    *, user: User | None, team: Team, phase: Phase, file: "File[bytes]", note: str = "", charge: bool = True
) -> Submission:
    """Take a file for a team. Refused, with nothing left behind, by what the rules of the phase say.

    `charge=False` is for baselines: no membership, no dates, no quota; `user` may be None.
    """
    admission.refuse_large(file)
    file.seek(0)
    submission = Submission(
        phase=phase,
        team=team,
        user=user,
        file_name=tidy_name(file.name or ""),
        size_bytes=file.size,
        sha256=file_digest(file, "sha256").hexdigest(),
        note=checked_note(note),
    )
    with stored(submission, file):
        admit(submission, charge=charge)
    return submission


def tidy_name(name: str) -> str:
    """The participant's own name for it, fit to be shown: no folders, nothing invisible, nothing that turns text."""
    plain = unicodedata.normalize("NFKC", PurePath(name).name)
    visible = "".join(character for character in plain if unicodedata.category(character)[0] != "C")
    return visible[-NAME_CHARACTERS:] or "unnamed"


@contextmanager
def stored(submission: Submission, file: "File[bytes]") -> Iterator[None]:
    """Keep the file if the block succeeds; leave none behind if it does not."""
    try:
        submission.file.save(submission.file_name, file, save=False)
        yield
    except BaseException as error:
        if submission.file:
            submission.file.delete(save=False)
        if is_full_disk(error):
            raise Refused(
                "no_space",
                "The server has no room for the file. Nothing was taken from your quota; try again in an hour.",
            ) from error
        raise


def is_full_disk(error: BaseException) -> bool:
    """Tell whether the folder of the files, or the disk under the database, has no room."""
    if isinstance(error, OSError):
        return error.errno in (ENOSPC, EDQUOT)
    cause = error.__cause__
    return getattr(cause, "sqlite_errorcode", None) == SQLITE_FULL or getattr(cause, "sqlstate", None) == DISK_FULL


@transaction.atomic
def admit(submission: Submission, *, charge: bool) -> None:
    """Decide and write in one transaction. Uploads of one team wait for each other at the team's row, and the clock
    is read after that wait: two of them cannot take one last slot, nor one count for a day that is over."""
    team = Team.objects.select_for_update().get(pk=submission.team_id)
    phase = Phase.objects.select_related("challenge").get(pk=submission.phase_id)  # as it is after a long upload
    now = database_now()
    if charge:
        admission.refuse_strangers(user=submission.user, team=team, phase=phase)
        admission.refuse_by_date(phase, now)
    admission.refuse_duplicates(submission)
    if charge:
        admission.refuse_by_quota(team=team, phase=phase, now=now)
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
    transaction.on_commit(partial(queue.enqueue, submission.pk))
