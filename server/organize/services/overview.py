"""Reads an organizer's overview: the challenges, and the state, submissions and next date of each phase."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db.models import Count, F, Prefetch, QuerySet

from server.challenges.gate import may_open
from server.challenges.models import Challenge, Phase, Team, Truth
from server.clock import midnight
from server.submissions.models import Status, Submission


class PhaseState(StrEnum):
    """Whether a phase accepts submissions, depending on its dates and on whether organizers have paused it."""

    UPCOMING = "opens later"
    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class NextDate:
    """An upcoming date of a phase, and what happens on that date."""

    text: str
    moment: datetime


@dataclass(frozen=True, slots=True)
class OrganizedPhase:
    """A phase with its submission counts. `today` counts submissions received since midnight (UTC).

    `is_closed_by_gate` is true if the phase has not ended, but accepts no submissions because its ground truth has not
    passed the gate (a series of checks).
    """

    phase: Phase
    state: PhaseState
    is_closed_by_gate: bool
    today: int
    waiting: int
    failed: int
    next_date: NextDate | None


@dataclass(frozen=True, slots=True)
class OrganizedChallenge:
    """A challenge with its number of teams. Baselines and merged teams are not counted."""

    challenge: Challenge
    teams: int
    phases: list[OrganizedPhase]


def organized_challenges(user: Any) -> QuerySet[Challenge]:
    """Return the challenges in which a user may act as an organizer, ordered by their closing dates."""
    found = Challenge.objects.organized_by(user).defer("description", "rules", "data")
    return found.order_by(F("closes_at").asc(nulls_last=True), "slug")


def locked_challenges(user: Any) -> QuerySet[Challenge]:
    """Return the challenges in which an organizer cannot act before turning on two-factor authentication."""
    own = Challenge.objects.filter(organizers=user.pk)
    return own.exclude(pk__in=Challenge.objects.organized_by(user).order_by().values("pk"))


def with_phases(challenges: Sequence[Challenge], *, now: datetime) -> list[OrganizedChallenge]:
    """Return challenges with their phases. The number of queries does not depend on the number of challenges."""
    keys = [one.pk for one in challenges]
    playing = Team.objects.filter(challenge__in=keys, is_baseline=False, merged_into=None).order_by()
    teams = dict(playing.values_list("challenge").annotate(Count("pk")))
    phases = {key: list[OrganizedPhase]() for key in keys}
    for one in described(Phase.objects.filter(challenge__in=keys), {one.pk: one for one in challenges}, now=now):
        phases[one.phase.challenge_id].append(one)
    return [OrganizedChallenge(one, teams.get(one.pk, 0), phases[one.pk]) for one in challenges]


def described(phases: QuerySet[Phase], challenges: dict[int, Challenge], *, now: datetime) -> list[OrganizedPhase]:
    """Return phases with their submission counts. `challenges` contains the challenge of each phase."""
    submissions = Submission.objects.filter(phase__in=phases.order_by().values("pk")).order_by()
    unfinished = submissions.filter(status__in=(Status.QUEUED, Status.RUNNING))
    waiting = dict(unfinished.values_list("phase").annotate(Count("pk")))
    failed = dict(submissions.filter(status=Status.FAILED).values_list("phase").annotate(Count("pk")))
    today = dict(submissions.filter(received_at__gte=midnight(now)).values_list("phase").annotate(Count("pk")))
    found = []
    active = Prefetch("truths", Truth.objects.filter(active=True))
    for phase in phases.prefetch_related(active):
        phase.challenge = challenges[phase.challenge_id]
        numbers = {"today": today.get(phase.pk, 0), "waiting": waiting.get(phase.pk, 0)}
        state, date = state_of(phase, now), next_date(phase, now)
        is_closed = state != PhaseState.CLOSED and not may_open(phase)
        found.append(OrganizedPhase(phase, state, is_closed, failed=failed.get(phase.pk, 0), next_date=date, **numbers))
    return found


def state_of(phase: Phase, now: datetime) -> PhaseState:
    if not phase.has_opened(now):
        return PhaseState.UPCOMING
    if phase.has_closed(now):
        return PhaseState.CLOSED
    return PhaseState.PAUSED if phase.is_paused else PhaseState.OPEN


def next_date(phase: Phase, now: datetime) -> NextDate | None:
    """Return the next date of a phase or its challenge, or None if all dates have passed."""
    challenge = phase.challenge
    dates = (
        ("opens", phase.opening),
        ("registration ends", challenge.join_until),
        ("deadline for team changes", challenge.merge_until),
        ("leaderboard freezes", phase.freeze_at),
        ("closes", phase.closing),
        ("last extension ends", phase.extended_until),
    )
    coming = [NextDate(text, moment) for text, moment in dates if moment is not None and moment > now]
    return min(coming, key=lambda one: one.moment, default=None)
