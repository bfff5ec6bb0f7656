"""Finds the events about which users are notified, with one function for each kind of event.

These functions write nothing to the database.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.db.models.functions import Coalesce
from django.urls import reverse

from server.challenges.models import Extension, Membership, Organizer, Phase, RoleOffer, Team
from server.challenges.roles import Role
from server.clock import utc_text
from server.notices.models import Announcement, Kind
from server.organize.models import Publication, Rescoring
from server.submissions.models import QuotaGrant, Status, Submission
from server.teams.models import Invitation, MergeProposal

# If a submission is scored within 2 minutes of its arrival, the user probably still has the submission's page open and
# needs no notice.
SLOW = timedelta(minutes=2)
WARNING = timedelta(hours=24)
FILE_NAME_CHARACTERS = 80
ENDINGS = {
    Status.SCORED: (Kind.SCORED, "{file} was scored."),
    Status.REJECTED: (Kind.REJECTED, "{file} was rejected, because it has defects. Fix them and submit again."),
    Status.FAILED: (Kind.FAILED, "{file} could not be scored. The submission page explains why and what you can do."),
}


@dataclass(frozen=True, slots=True)
class Found:
    """An event that users should be notified of. `recipients` is a query that selects these users.

    If `with_mail` is true, recipients who want emails about this kind of event get an email.
    """

    kind: Kind
    key: str
    challenge: int
    text: str
    path: str
    recipients: Q
    with_mail: bool = True


def found_between(since: datetime, now: datetime) -> Iterator[Found]:
    """Yield all events from the time `since` until now, including events that are already stored."""
    yield from ended(since)
    yield from announced(since)
    yield from of_phases(since, now)
    yield from team_extended(since)
    yield from granted(since)
    yield from taken_back(since)
    yield from rescored(since)
    yield from invited(since, now)
    yield from merges(since, now)
    yield from given_roles(since)
    yield from offered_roles(since)
    yield from unpublished(since)


def ended(since: datetime) -> Iterator[Found]:
    """Yield an event for each submission that was rejected, failed, or took a long time to score."""
    rows = Submission.objects.filter(finished_at__gt=since, status__in=ENDINGS, team__is_baseline=False)
    names = ("pk", "status", "file_name", "received_at", "finished_at", "team", "phase__challenge")
    for pk, status, name, received, finished, team, challenge in rows.values_list(*names):
        if status == Status.SCORED and finished - received <= SLOW:
            continue
        kind, text = ENDINGS[status]
        yield Found(
            kind=kind,
            key=f"{pk} {finished:%Y%m%d%H%M%S%f}",
            challenge=challenge,
            text=text.format(file=shortened(name)),
            path=reverse("submission", args=[pk]),
            recipients=Q(memberships__team=team),
        )


def announced(since: datetime) -> Iterator[Found]:
    for one in Announcement.objects.filter(announced_at__gt=since).select_related("challenge"):
        yield Found(
            kind=Kind.ANNOUNCED,
            key=str(one.pk),
            challenge=one.challenge_id,
            text=f"{one.challenge.title}: {one.title}",
            path=reverse("announcements", args=[one.challenge.slug]) + f"#a{one.pk}",
            recipients=Q(memberships__challenge=one.challenge_id),
            with_mail=one.with_mail,
        )


def of_phases(since: datetime, now: datetime) -> Iterator[Found]:
    """Yield events about phases: closing soon, submissions paused or resumed, and a later closing time."""
    phases = Phase.objects.alias(end=Coalesce("closes_at", "challenge__closes_at"))
    closes_soon = Q(end__gt=now, end__lte=now + WARNING)
    was_changed = Q(paused_at__gt=since) | Q(resumed_at__gt=since) | Q(extended_at__gt=since)
    for phase in phases.filter(closes_soon | was_changed).select_related("challenge"):
        yield from closing(phase, now)
        yield from paused(phase, since)
        yield from extended(phase, since)


def closing(phase: Phase, now: datetime) -> Iterator[Found]:
    """Yield an event if a phase is open and closes within `WARNING`.

    A new closing time results in a new event, so that users are notified again.
    """
    end = phase.closing
    if end is None or not phase.has_opened(now) or not now < end <= now + WARNING:
        return
    yield Found(
        kind=Kind.DEADLINE,
        key=f"{phase.pk} {end:%Y%m%d%H%M%S}",
        challenge=phase.challenge_id,
        text=f"{name_of(phase)} closes at {utc_text(end)}. You can submit and choose final submissions until then.",
        path=page_of(phase, "submissions"),
        recipients=Q(
            memberships__in=Membership.objects.filter(
                challenge=phase.challenge_id, team__disqualified_at=None
            ).order_by()
        ),
    )


def paused(phase: Phase, since: datetime) -> Iterator[Found]:
    """Yield an event if organizers have paused or resumed submissions to a phase."""
    at = phase.resumed_at or phase.paused_at
    if at is not None and at > since:
        verb = "is accepting submissions again" if phase.resumed_at else "is not accepting submissions for now"
        yield changed(phase, f"pause {at}", f"{name_of(phase)} {verb}.", everybody(phase))


def extended(phase: Phase, since: datetime) -> Iterator[Found]:
    """Yield an event if, since the given time, organizers have extended a phase for all teams."""
    end = phase.closing
    if end is not None and phase.extended_at is not None and phase.extended_at > since:
        text = f"{name_of(phase)} now closes at {utc_text(end)}."
        yield changed(phase, f"end {end}", text, everybody(phase))


def everybody(phase: Phase) -> Q:
    return Q(memberships__challenge=phase.challenge_id)


def team_extended(since: datetime) -> Iterator[Found]:
    """Yield an event for each extension of a phase for a single team."""
    for one in Extension.objects.filter(granted_at__gt=since).select_related("phase__challenge"):
        text = f"{name_of(one.phase)} now closes at {utc_text(one.until)} for your team."
        yield changed(one.phase, f"extension {one.pk} {one.until}", text, Q(memberships__team=one.team_id))


def granted(since: datetime) -> Iterator[Found]:
    """Yield an event for each grant of additional submissions to a team since the given time."""
    for one in QuotaGrant.objects.filter(granted_at__gt=since, amount__gt=0).select_related("phase__challenge"):
        when = f"on {one.day} (UTC)" if one.day else "until the phase ends"
        text = f"Your team may make {one.amount} more submissions to {name_of(one.phase).rstrip(',')} {when}."
        yield changed(one.phase, f"grant {one.pk}", text, Q(memberships__team=one.team_id))


def taken_back(since: datetime) -> Iterator[Found]:
    """Yield an event for each grant of additional submissions that organizers have taken back."""
    for one in QuotaGrant.objects.filter(taken_back_at__gt=since).select_related("phase__challenge"):
        text = f"The organizers took back {one.taken_back} of the submissions that they granted to your team"
        text = f"{text} for {name_of(one.phase).rstrip(',')}. Your team page shows the reason."
        yield changed(one.phase, f"grant {one.pk} {one.taken_back_at}", text, Q(memberships__team=one.team_id))


def changed(phase: Phase, key: str, text: str, recipients: Q) -> Found:
    """Return an event about changed conditions for submitting to a phase, such as its closing time or the quota."""
    return Found(
        kind=Kind.CHANGED,
        key=f"{phase.pk} {key}",
        challenge=phase.challenge_id,
        text=text,
        path=page_of(phase, "submit"),
        recipients=recipients,
    )


def rescored(since: datetime) -> Iterator[Found]:
    for one in Rescoring.objects.filter(applied_at__gt=since).select_related("phase__challenge"):
        teams = Team.objects.order_by().filter(submissions__phase=one.phase_id)
        yield Found(
            kind=Kind.RESCORED,
            key=str(one.pk),
            challenge=one.phase.challenge_id,
            text=f"{name_of(one.phase)} was rescored. Scores and ranks may have changed.",
            path=page_of(one.phase, "leaderboard"),
            recipients=Q(memberships__team__in=teams),
        )


def invited(since: datetime, now: datetime) -> Iterator[Found]:
    """Yield an event for each invitation by username, and for each request to join a team."""
    waiting = Invitation.objects.waiting(now).exclude(kind=Invitation.Kind.LINK).filter(created_at__gt=since)
    for one in waiting.select_related("team__challenge"):
        if one.kind == Invitation.Kind.REQUEST:
            yield for_captain(one.team, f"request {one.pk}", "Someone asked to join your team")
            continue
        yield Found(
            kind=Kind.INVITED,
            key=str(one.pk),
            challenge=one.team.challenge_id,
            text=f"A team in {one.team.challenge.title} invited you to join it.",
            path=reverse("team_invitation", args=[one.team.challenge.slug, one.pk]),
            recipients=Q(pk=one.user_id),
        )


def merges(since: datetime, now: datetime) -> Iterator[Found]:
    """Yield an event for each proposed merge of two teams. Only the captain who decides on the merge is notified."""
    waiting = MergeProposal.objects.filter(created_at__gt=since, expires_at__gt=now)
    for one in waiting.select_related("other__challenge"):
        yield for_captain(one.other, f"merge {one.pk}", "A team proposed to merge with yours")


def given_roles(since: datetime) -> Iterator[Found]:
    """Yield an event for each organizer role that one user has granted to another."""
    for one in Organizer.objects.filter(given_at__gt=since).select_related("challenge"):
        yield Found(
            kind=Kind.ORGANIZES,
            key=f"{one.pk} {one.given_at:%Y%m%d%H%M%S%f}",
            challenge=one.challenge_id,
            text=f"You are now an organizer of {one.challenge.title}, with the role {one.role}.",
            path=reverse("organizers", args=[one.challenge.slug]),
            recipients=Q(pk=one.user_id),
        )


def offered_roles(since: datetime) -> Iterator[Found]:
    """Yield an event for each organizer role that has been offered to a participant."""
    for one in RoleOffer.objects.filter(offered_at__gt=since).select_related("challenge"):
        yield Found(
            kind=Kind.ORGANIZES,
            key=f"offer {one.pk} {one.offered_at:%Y%m%d%H%M%S%f}",
            challenge=one.challenge_id,
            text=f"You were offered the role {one.role} in {one.challenge.title}. If you accept, your team is removed "
            "from its leaderboards.",
            path=reverse("role_offer", args=[one.challenge.slug]),
            recipients=Q(pk=one.user_id),
        )


def unpublished(since: datetime) -> Iterator[Found]:
    """Yield an event for each draft challenge that could not be published at the scheduled time."""
    for one in Publication.objects.filter(failed_at__gt=since).select_related("challenge"):
        yield Found(
            kind=Kind.SCHEDULE,
            key=f"{one.pk} {one.failed_at:%Y%m%d%H%M%S%f}",
            challenge=one.challenge_id,
            text=f"{one.challenge.title} was not published as scheduled. {one.failure}",
            path=reverse("organize", args=[one.challenge.slug]),
            recipients=Q(organizer_roles__challenge=one.challenge_id, organizer_roles__role=Role.OWNER),
        )


def for_captain(team: Team, key: str, text: str) -> Found:
    return Found(
        kind=Kind.ASKED,
        key=key,
        challenge=team.challenge_id,
        text=f"{text} in {team.challenge.title}. As the captain of your team, you can accept or decline.",
        path=reverse("team", args=[team.challenge.slug]),
        recipients=Q(memberships__team=team, memberships__is_captain=True),
    )


def page_of(phase: Phase, route: str) -> str:
    return f"{reverse(route, args=[phase.challenge.slug])}?phase={phase.slug}"


def name_of(phase: Phase) -> str:
    """Return the title of a challenge and, if it differs, the title of the phase, for use in a sentence."""
    title = phase.challenge.title
    return title if phase.title == title else f"{title}, {phase.title},"


def shortened(name: str) -> str:
    """Return a file name, shortened in the middle if it is long.

    >>> len(shortened("a" * 300))
    80
    """
    if len(name) <= FILE_NAME_CHARACTERS:
        return name
    half = FILE_NAME_CHARACTERS // 2
    return f"{name[: half - 1]}…{name[-half:]}"
