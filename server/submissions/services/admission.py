"""Rules for accepting a submission. If a rule is broken, Refused is raised, with a message that says what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from math import ceil

from django.conf import settings
from django.db.models import Q

from server.accounts.models import User
from server.challenges.closing import closing_for
from server.challenges.gate import may_open
from server.challenges.models import Membership, Phase, Team
from server.clock import is_over, utc_text
from server.errors import Refused
from server.maintenance.services import refuse_changes
from server.submissions import upload_slots
from server.submissions.models import Status, Submission
from server.submissions.services import quota, retention

DAY = timedelta(days=1)
RETRY_SECONDS = 30
# If an earlier submission of the same file is in one of these states, the file cannot be submitted again.
NO_DUPLICATE = (Status.QUEUED, Status.RUNNING, Status.SCORED)


def refuse_large(size_bytes: int) -> None:
    allowed = settings.UPLOAD_MAX_BYTES
    if size_bytes > allowed:
        raise Refused(
            "file_too_large",
            f"The file is {size_bytes:,} bytes long; at most {allowed:,} are allowed. Compress it with gzip, or leave "
            "out predictions with low confidence.",
            allowed_bytes=allowed,
        )


def refuse_non_member(*, user: User | None, team: Team, phase: Phase) -> None:
    if team.challenge_id != phase.challenge_id or not Membership.objects.filter(team=team, user=user).exists():
        raise Refused("not_a_member", "You are not in a team of this challenge. Join the challenge first, then submit.")


def refuse_privileged(*, team: Team, phase: Phase) -> None:
    """Raise Refused if a member of the team can read the private leaderboard, as an organizer or as staff."""
    privileged = Q(user__is_staff=True) | Q(user__organized_challenges=phase.challenge_id)
    member = Membership.objects.select_related("user").filter(privileged, team=team).first()
    if member is not None:
        raise Refused(
            "forbidden",
            f"{member.user} is in your team and can read the private leaderboard of this challenge as an organizer "
            "or staff, so your team cannot submit. Ask the staff to remove that role, or take part with another "
            "account.",
        )


def refuse_by_date(phase: Phase, now: datetime, team: Team | None = None) -> None:
    """Raise Refused unless the phase accepts files from this team now. The team may have an extension."""
    if not phase.has_opened(now):
        opening = utc_text(phase.opening)
        raise Refused(
            "phase_not_open", f"This phase opens at {opening}. You can submit from then on.", opens_at=phase.opening
        )
    closing = closing_for(team, phase)
    if closing is not None and is_over(closing, now):
        raise Refused(
            "phase_closed",
            f"This phase closed at {utc_text(closing)} and accepts no more submissions.",
            closed_at=closing,
        )
    if not may_open(phase):
        reason = "its setup checks have not passed" if phase.truth else "it has no ground truth"
        detail = f"This phase is not open yet, because {reason}. Ask the organizers when it will open."
        raise Refused("phase_not_open", detail)
    if phase.is_paused:
        raise Refused("phase_not_open", phase.pause_text)


def refuse_duplicates(submission: Submission) -> None:
    """Raise Refused if the team has already submitted the same file to the phase.

    A submission with the same idempotency key is no duplicate, because both belong to the same request.
    """
    same = Submission.objects.filter(
        phase=submission.phase_id, team=submission.team_id, sha256=submission.sha256, status__in=NO_DUPLICATE
    )
    if submission.idempotency_key:
        same = same.exclude(idempotency_key=submission.idempotency_key)
    earlier = same.order_by("received_at").first()
    if earlier is not None:
        raise Refused(
            "duplicate_file",
            f"Your team submitted the same file at {utc_text(earlier.received_at)} ({earlier.file_name}, "
            f"{earlier.status}). See that submission for the result; scoring the file again would give the same "
            "result.",
            submission=str(earlier.pk),
        )


def refuse_by_quota(*, team: Team, phase: Phase, now: datetime) -> None:
    state = quota.state(team=team, phase=phase, now=now)
    if not state.reason:
        return
    again = f" The next submission is possible at {utc_text(state.next_allowed_at)}." if state.next_allowed_at else ""
    raise Refused(
        "quota_exhausted",
        state.reason + again,
        next_allowed_at=state.next_allowed_at,
        resets_at=state.resets_at,
    )


def refuse_by_storage(team: Team, *, now: datetime, more_bytes: int = 1) -> None:
    use = retention.storage_use(team)
    if use.used + more_bytes <= use.allowed:
        return
    frees = f" The next file is removed at {utc_text(use.frees_at)}." if use.frees_at else ""
    raise Refused(
        "storage_exhausted",
        f"Your team's files use {use.used:,} of {use.allowed:,} bytes. There is no space for this file. Compress "
        f"the file with gzip. Files that were not scored are removed after {settings.UNSCORED_FILE_DAYS} "
        f"days.{frees} The organizers can ask the operator for a higher limit.",
        used_bytes=use.used,
        allowed_bytes=use.allowed,
        next_allowed_at=use.frees_at,
        retry_after=max(1, ceil(((use.frees_at or now + DAY) - now).total_seconds())),
    )


def take_upload_slots(*, user: User, team: Team, phase: Phase, now: datetime) -> None:
    """Take one upload slot of the team and one of the account. Slots limit the number of simultaneous uploads.

    A team can upload only as many files at the same time as it has submissions left.
    """
    left = quota.state(team=team, phase=phase, now=now).may_submit
    if upload_slots.take(f"team {team.pk} phase {phase.pk}", left):
        return take_account_slot(user)
    raise too_many_uploads(
        f"Your team has {left} submissions left in this phase and is already uploading that many files."
    )


def take_account_slot(user: User) -> None:
    """Take one of the account's upload slots, which limit how many files it can upload at the same time."""
    most = settings.ACCOUNT_MAX_UPLOADS
    if not upload_slots.take(f"user {user.pk}", most):
        raise too_many_uploads(f"Your account is uploading {most} files, which is the limit.")


@contextmanager
def only_copy(user: User) -> Iterator[None]:
    """Copy a stored file in the `with` block. Raises Refused if another request of the account does this now.

    Copying a large file occupies a thread and the disk for a long time, although nothing is uploaded.
    """
    slot = upload_slots.SLOTS.take(f"copy user {user.pk}", 1)
    if slot is None:
        raise too_many_uploads("Your account is already submitting a stored file again.")
    try:
        yield
    finally:
        upload_slots.SLOTS.release(slot)


def too_many_uploads(reason: str) -> Refused:
    return Refused(
        "rate_limited", f"{reason} Wait until an upload is complete, then try again.", retry_after=RETRY_SECONDS
    )


def refuse_early(*, team: Team, phase: Phase, now: datetime, more_bytes: int = 1) -> None:
    """Raise Refused if a rule that does not depend on the file's content forbids the submission.

    Call this function before the upload. `more_bytes` is the size of the file if it is already known.
    """
    refuse_changes()
    refuse_privileged(team=team, phase=phase)
    refuse_by_date(phase, now, team)
    refuse_by_quota(team=team, phase=phase, now=now)
    refuse_by_storage(team, now=now, more_bytes=more_bytes)
