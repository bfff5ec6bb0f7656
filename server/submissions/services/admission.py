"""Who may submit what, now: each rule refuses with its code and says what to do."""

from datetime import datetime, timedelta
from math import ceil

from django.conf import settings
from django.core.files import File
from django.db.models import Q

from server.accounts.models import User
from server.challenges.models import Membership, Phase, Team
from server.errors import Refused
from server.submissions import upload_slots
from server.submissions.models import Status, Submission
from server.submissions.services import keeping, quota

DAY = timedelta(days=1)
# A rejected, failed or cancelled file may come again as it is; one that waits, runs or has its scores may not.
RETRY_SECONDS = 30
STANDING = (Status.QUEUED, Status.RUNNING, Status.SCORED)


def moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def refuse_large(file: "File[bytes]") -> None:
    allowed = settings.UPLOAD_MAX_BYTES
    if file.size > allowed:
        raise Refused(
            "file_too_large",
            f"The file has {file.size:,} bytes; {allowed:,} are allowed. Compress it with gzip, or drop predictions "
            "of low confidence.",
            allowed_bytes=allowed,
        )


def refuse_strangers(*, user: User | None, team: Team, phase: Phase) -> None:
    if team.challenge_id != phase.challenge_id or not Membership.objects.filter(team=team, user=user).exists():
        raise Refused("not_a_member", "You are not in a team of this challenge. Join it first, then submit.")


def refuse_organizers(*, team: Team, phase: Phase) -> None:
    """Refuse a team with a member who can read the private board: an organizer of the challenge, or staff."""
    privileged = Q(user__is_staff=True) | Q(user__organized_challenges=phase.challenge_id)
    member = Membership.objects.select_related("user").filter(privileged, team=team).first()
    if member is not None:
        raise Refused(
            "forbidden",
            f"{member.user} is in your team and can read the private board of this challenge, as organizer or staff. "
            "Your team cannot submit; ask the staff to end that role, or take part with another account.",
        )


def refuse_by_date(phase: Phase, now: datetime) -> None:
    if not phase.has_opened(now):
        opening = moment(phase.opening)
        raise Refused("phase_not_open", f"This phase opens at {opening}. Submit then.", opens_at=phase.opening)
    if phase.has_closed(now) and phase.closing is not None:
        closing = moment(phase.closing)
        raise Refused("phase_closed", f"This phase closed at {closing} and takes no files.", closed_at=phase.closing)
    if phase.truth is None:
        raise Refused("phase_not_open", "This phase has no truth to score against yet. Ask its organizers when it has.")


def refuse_duplicates(submission: Submission) -> None:
    same = Submission.objects.filter(
        phase=submission.phase_id, team=submission.team_id, sha256=submission.sha256, status__in=STANDING
    )
    earlier = same.order_by("received_at").first()
    if earlier is not None:
        raise Refused(
            "duplicate_file",
            f"Your team sent this very file at {moment(earlier.received_at)} ({earlier.file_name}, {earlier.status}). "
            "Look there for its result; scoring it again would give the same.",
            submission=str(earlier.pk),
        )


def refuse_by_quota(*, team: Team, phase: Phase, now: datetime) -> None:
    state = quota.state(team=team, phase=phase, now=now)
    if not state.reason:
        return
    again = f" The next is possible at {moment(state.next_allowed_at)}." if state.next_allowed_at else ""
    raise Refused(
        "quota_exhausted",
        state.reason + again,
        next_allowed_at=state.next_allowed_at,
        resets_at=state.resets_at,
    )


def refuse_by_storage(team: Team, *, now: datetime, more_bytes: int = 1) -> None:
    share = keeping.share_of(team)
    if share.used + more_bytes <= share.allowed:
        return
    frees = f" The next one goes at {moment(share.frees_at)}." if share.frees_at else ""
    raise Refused(
        "storage_exhausted",
        f"Your team's files take {share.used:,} of {share.allowed:,} bytes; there is no room for another. Compress the "
        f"file with gzip. A file that was not scored is removed after {settings.UNSCORED_FILE_DAYS} days.{frees} "
        "The organizers can have the limit raised.",
        used_bytes=share.used,
        allowed_bytes=share.allowed,
        next_allowed_at=share.frees_at,
        retry_after=max(1, ceil(((share.frees_at or now + DAY) - now).total_seconds())),
    )


def take_upload_slots(*, user: User, team: Team, phase: Phase, now: datetime) -> None:
    """Take the slots of a file that is still to come: no more are on their way than the quota has left."""
    left = quota.state(team=team, phase=phase, now=now).may_submit
    if upload_slots.take(f"team {team.pk} phase {phase.pk}", left):
        return take_account_slot(user)
    raise too_many_uploads(f"Your team is uploading as many files as it has submissions left in this phase ({left}).")


def take_account_slot(user: User) -> None:
    """Take the slot of a file that is still to come, whatever it is for."""
    most = settings.ACCOUNT_MAX_UPLOADS
    if not upload_slots.take(f"user {user.pk}", most):
        raise too_many_uploads(f"Your account is uploading {most} files, which is the limit.")


def too_many_uploads(what: str) -> Refused:
    return Refused("rate_limited", f"{what} Wait until one has arrived, then try again.", retry_after=RETRY_SECONDS)


def refuse_unread(*, team: Team, phase: Phase, now: datetime) -> None:
    """Refuse, before the first byte of a body is read, what would be refused after the last."""
    refuse_organizers(team=team, phase=phase)
    refuse_by_date(phase, now)
    refuse_by_quota(team=team, phase=phase, now=now)
    refuse_by_storage(team, now=now)
