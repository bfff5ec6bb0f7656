"""Accepts a submitted file: checks the rules, writes the submission, ledger and audit rows, and wakes a worker."""

import logging
import unicodedata
from datetime import datetime
from functools import partial
from hashlib import file_digest
from pathlib import PurePath

from django.core.files import File
from django.db import transaction

from evaluator.texts import without_hidden
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Phase, Team
from server.clock import database_now
from server.errors import Refused, full_disk
from server.submissions import queue
from server.submissions.models import Submission
from server.submissions.services import admission, quota
from server.submissions.services.choices import checked_note
from server.submissions.small_files import is_small
from server.submissions.upload_handler import HashedFile

log = logging.getLogger(__name__)

NAME_CHARACTERS = 255


class AlreadySubmitted(Exception):
    """Raised if an earlier request has submitted a file with the same idempotency key."""

    def __init__(self, submission: Submission) -> None:
        self.submission = submission


def submit(
    *,
    user: User | None,
    team: Team,
    phase: Phase,
    file: "File[bytes]",
    note: str = "",
    force: bool = False,
    key: str = "",
    charge: bool = True,
) -> Submission:
    """Accept a file for a team. Raises Refused, and stores nothing, if a rule of the phase forbids the submission.

    A file in which no prediction could be correct is rejected during scoring, unless `force` is true. If the team has
    already submitted the same file with the same idempotency `key`, the earlier submission is returned. If `charge` is
    false, as it is for baselines, membership, dates and quota are not checked, and `user` may be None.
    """
    admission.refuse_large(file.size)
    submission = Submission(
        phase=phase,
        team=team,
        user=user,
        file_name=visible_name(file.name or ""),
        size_bytes=file.size,
        small=is_small(file),
        sha256=digest_of(file),
        note=checked_note(note),
        forced=force,
        idempotency_key=key,
    )
    try:
        keep(submission, file, charge=charge)
    except AlreadySubmitted as error:
        return error.submission
    except Exception as error:
        if refusal := full_disk(error):
            raise refusal from error
        raise
    return submission


def submit_anyway(*, submission: Submission, by: User) -> Submission:
    """Resubmit the stored file of a submission that was rejected because no prediction in it could be correct.

    The new submission is scored and counts against the quota. Raises Refused in the same cases as `submit`, and if the
    submission was not rejected for this reason.
    """
    if not (submission.has_nothing_to_score and submission.file):
        raise Refused(
            "invalid",
            "This is possible only for a file that was rejected because no prediction in it can earn a "
            "score, while the file is still stored.",
        )
    team, phase = submission.team, submission.phase
    # Check the rules before the stored file is copied, which can take a long time. `submit` checks them again.
    admission.refuse_non_member(user=by, team=team, phase=phase)
    admission.refuse_early(team=team, phase=phase, now=database_now(), more_bytes=submission.size_bytes)
    admission.refuse_duplicates(submission)
    with admission.only_copy(by), submission.file.open("rb") as stored:
        return submit(
            user=by,
            team=team,
            phase=phase,
            file=File(stored, submission.file_name),
            note=submission.note,
            force=True,
        )


def digest_of(file: "File[bytes]") -> str:
    """Return the sha256 of a file's content. The sha256 of an upload was already computed while it was received."""
    if isinstance(file, HashedFile):
        return file.sha256
    file.seek(0)
    return file_digest(file, "sha256").hexdigest()


def visible_name(name: str) -> str:
    """Return the participant's file name without folders, hidden characters and text direction controls."""
    plain = without_hidden(unicodedata.normalize("NFKC", name))
    return PurePath(plain).name.lstrip(".")[-NAME_CHARACTERS:] or "unnamed"


def keep(submission: Submission, file: "File[bytes]", *, charge: bool) -> None:
    """Store the file and its row. The file is deleted only if the transaction fails before its commit.

    If the connection breaks during the commit, the outcome of the commit is unknown. In this case the file is kept,
    because a row must never refer to a missing file. The sweeper (a periodic task) moves files without a row to
    quarantine.
    """
    refuse_before_storing(submission, charge=charge)
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


def refuse_before_storing(submission: Submission, *, charge: bool) -> None:
    """Refuse a duplicate before it is stored: it uses no quota, so it must not cost a flush to disk and a lock.

    `admit` checks the rules again with locks. It alone decides about repeated requests and about teams that were merged
    in the meantime.
    """
    phase = Phase.objects.select_related("challenge").get(pk=submission.phase_id)
    team = Team.objects.filter(pk=submission.team_id, merged_into=None).first()
    if team is None or submitted_before(team=team, phase=phase, key=submission.idempotency_key):
        return
    refuse_by_rules(submission, team=team, phase=phase, now=database_now(), charge=charge)


def refuse_by_rules(submission: Submission, *, team: Team, phase: Phase, now: datetime, charge: bool) -> None:
    """Raise Refused if a rule other than the quota forbids the submission."""
    if charge:
        admission.refuse_non_member(user=submission.user, team=team, phase=phase)
        admission.refuse_privileged(team=team, phase=phase)
        admission.refuse_by_date(phase, now, team)
    admission.refuse_duplicates(submission)


def admit(submission: Submission, *, charge: bool) -> None:
    """Check the rules and write the row, in the caller's transaction.

    The team's row is locked before the clock is read. Therefore two uploads cannot both use the last submission of a
    quota, and no upload counts for a day that is over. The phase's row is locked as well, so that an upload waits for a
    running import. After the first submission, an import may not change anything that affects scores.
    """
    phases = Phase.objects.select_for_update(no_key=True, of=("self",)).select_related("challenge")
    # The phase and the team are read again, because the upload may have taken a long time.
    phase = phases.get(pk=submission.phase_id)
    team = lock_present_team(submission.team_id)
    if team is None:  # The team was deleted, because its only member joined another team before this one had submitted.
        raise Refused("not_a_member", "Your team no longer exists. Submit again for your current team.")
    submission.team = team
    now = database_now()
    if earlier := submitted_before(team=team, phase=phase, key=submission.idempotency_key):
        refuse_other_file(earlier, submission.sha256, force=submission.forced)
        raise AlreadySubmitted(earlier)
    refuse_by_rules(submission, team=team, phase=phase, now=now, charge=charge)
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
        detail={"phase": str(phase), "team": team.pk, "sha256": submission.sha256},
    )
    fields = {"submission": str(submission.pk), "phase": phase.pk, "team": team.pk, "bytes": submission.size_bytes}
    transaction.on_commit(partial(log.info, "submission received", extra=fields))
    queue.enqueue_on_commit(Submission, submission.pk)


def lock_present_team(key: int) -> Team | None:
    """Lock a team and return it, or the team into which it was merged. Return None if the team was deleted.

    A merge locks the phase, and the caller has already locked it. So no team is merged in the meantime, and only one
    team has to be locked.
    """
    found: int | None = key
    while found is not None:
        team = Team.objects.select_for_update(no_key=True).filter(pk=found, merged_into=None).first()
        if team is not None:
            return team
        found = Team.objects.filter(pk=found).values_list("merged_into", flat=True).first()
    return None


def submitted_before(*, team: Team, phase: Phase, key: str) -> Submission | None:
    """Return the team's submission with this idempotency key. Raises Refused if it belongs to another phase."""
    earlier = Submission.objects.filter(team=team, idempotency_key=key).first() if key else None
    if earlier is not None and earlier.phase_id != phase.pk:
        raise key_used()
    return earlier


def refuse_other_file(earlier: Submission, sha256: str, *, force: bool) -> None:
    """Raise Refused if a request repeats an idempotency key with another file or another value of `force`."""
    if (earlier.sha256, earlier.forced) != (sha256, force):
        raise key_used()


def key_used() -> Refused:
    return Refused(
        "key_reused",
        "Your team has used this Idempotency-Key for a request with another file, phase or value of force. Use a new "
        "key for each submission.",
    )
