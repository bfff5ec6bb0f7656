"""The front page: what Podium is, which challenges there are, where to go."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from server.challenges.models import Challenge, Membership
from server.clock import database_now
from server.leaderboards import queries
from server.pages import formats, place


@dataclass(frozen=True, slots=True)
class Line:
    """One challenge in the list: its track and who the person is in it."""

    challenge: Challenge
    tracks: str
    teams: int
    own_team: str
    rank: int | None


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    now = database_now()
    lines = read_lines(request.user, now)
    groups = [
        ("Open challenges", [line for line in lines if is_open(line.challenge, now)]),
        ("Opening later", [line for line in lines if line.challenge.opens_at > now]),
        ("Closed", [line for line in lines if line.challenge.has_closed(now)]),
    ]
    return render(request, "home.html", {"groups": [group for group in groups if group[1]], "now": now})


def read_lines(user: Any, now: datetime) -> list[Line]:
    """Every challenge a person sees, the next deadline first; of the open ones where their team stands."""
    listed = Challenge.objects.filter(pk__in=Challenge.objects.listed_for(user).values("pk"))
    challenges = (
        listed.annotate(team_count=Count("teams", filter=Q(teams__is_baseline=False)))
        .prefetch_related("phases")
        .defer("description", "rules", "data")
        .order_by(F("closes_at").asc(nulls_last=True), "slug")
    )
    memberships = Membership.objects.filter(user=user) if user.is_authenticated else Membership.objects.none()
    own = {one.challenge_id: one.team for one in memberships.select_related("team")}
    phases = {
        one.pk: place.choose(list(one.phases.all()), None, now)
        for one in challenges
        if one.pk in own and is_open(one, now)
    }
    ranks = queries.public_ranks(filter(None, phases.values()), now=now) if own else {}

    def rank_in(challenge: Challenge) -> int | None:
        phase = phases.get(challenge.pk)
        return ranks.get((phase.pk, own[challenge.pk].pk)) if phase else None

    return [
        Line(
            challenge=challenge,
            tracks=", ".join(dict.fromkeys(formats.track_title(phase.track) for phase in challenge.phases.all())),
            teams=challenge.team_count,
            own_team=own[challenge.pk].name if challenge.pk in own else "",
            rank=rank_in(challenge),
        )
        for challenge in challenges
    ]


def is_open(challenge: Challenge, now: datetime) -> bool:
    return challenge.opens_at <= now and not challenge.has_closed(now)
