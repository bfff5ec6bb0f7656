"""Finds the events about which people are notified, with one function for each source. It writes nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.db.models.functions import Coalesce
from django.urls import reverse

from server.challenges.models import Membership, Organizer, Phase, Team
from server.clock import utc_text
from server.notices.models import Announcement, Kind
from server.organize.models import Rescoring
from server.submissions.models import Status, Submission
from server.teams.models import Invitation, MergeProposal

SLOW = timedelta(minutes=2)  # if scoring was faster, the person probably still has the page of the submission open
WARNING = timedelta(hours=24)
FILE_NAME_CHARACTERS = 80
ENDINGS = {
    Status.SCORED: (Kind.SCORED, "{file} was scored."),
    Status.REJECTED: (Kind.REJECTED, "{file} was rejected, because it has defects. Fix them and submit again."),
    Status.FAILED: (Kind.FAILED, "{file} could not be scored. Its page explains why and what you can do."),
}


@dataclass(frozen=True, slots=True)
class Found:
    """An event with its recipients: the members of a team, all members of a challenge, or one person."""

    kind: Kind
    key: str
    challenge: int
    text: str
    path: str
    recipients: Q


def found_between(since: datetime, now: datetime) -> Iterator[Found]:
    """Yield the events in an interval of time, including events that are already stored."""
    yield from ended(since)
    yield from announced(since)
    yield from closing(now)
    yield from rescored(since)
    yield from invited(since, now)
    yield from merges(since, now)
    yield from given_roles(since)


def ended(since: datetime) -> Iterator[Found]:
    """Yield an event for each submission that ended, unless it was scored quickly or cancelled."""
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
        )


def closing(now: datetime) -> Iterator[Found]:
    """Yield an event for each open phase that closes within `WARNING`, and another one if its end has changed."""
    phases = Phase.objects.alias(end=Coalesce("closes_at", "challenge__closes_at"))
    for phase in phases.filter(end__gt=now, end__lte=now + WARNING).select_related("challenge"):
        end = phase.closing
        if end is None or not phase.has_opened(now):
            continue
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
            yield for_captain(one.team, f"request {one.pk}", "Somebody asks to join your team")
            continue
        yield Found(
            kind=Kind.INVITED,
            key=str(one.pk),
            challenge=one.team.challenge_id,
            text=f"A team of {one.team.challenge.title} invites you to join it.",
            path=reverse("team_invitation", args=[one.team.challenge.slug, one.pk]),
            recipients=Q(pk=one.user_id),
        )


def merges(since: datetime, now: datetime) -> Iterator[Found]:
    """Yield an event for each proposed merge. The captain of the other team decides on it."""
    waiting = MergeProposal.objects.filter(created_at__gt=since, expires_at__gt=now)
    for one in waiting.select_related("other__challenge"):
        yield for_captain(one.other, f"merge {one.pk}", "A team proposes to merge with yours")


def given_roles(since: datetime) -> Iterator[Found]:
    """Yield an event for each role of an organizer that another person gave."""
    for one in Organizer.objects.filter(given_at__gt=since).select_related("challenge"):
        yield Found(
            kind=Kind.ORGANIZES,
            key=f"{one.pk} {one.given_at:%Y%m%d%H%M%S%f}",
            challenge=one.challenge_id,
            text=f"You are now {one.role} of {one.challenge.title}: you help to organize it.",
            path=reverse("organizers", args=[one.challenge.slug]),
            recipients=Q(pk=one.user_id),
        )


def for_captain(team: Team, key: str, text: str) -> Found:
    return Found(
        kind=Kind.ASKED,
        key=key,
        challenge=team.challenge_id,
        text=f"{text} in {team.challenge.title}. You decide as the captain of your team.",
        path=reverse("team", args=[team.challenge.slug]),
        recipients=Q(memberships__team=team, memberships__is_captain=True),
    )


def page_of(phase: Phase, route: str) -> str:
    return f"{reverse(route, args=[phase.challenge.slug])}?phase={phase.slug}"


def name_of(phase: Phase) -> str:
    """Return the titles of a phase and its challenge."""
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
