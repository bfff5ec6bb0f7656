"""The front page: the list of challenges."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from server.challenges.models import Challenge, Membership, Team
from server.clock import database_now
from server.leaderboards import queries
from server.pages.challenge_context import default_phase, track_title


@dataclass(frozen=True, slots=True)
class ListedChallenge:
    """A challenge in the list, with the viewer's team and its rank."""

    challenge: Challenge
    tracks: str
    visibility: str  # empty for public challenges
    teams: int
    own_team: str
    rank: int | None


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    now = database_now()
    listed = listed_challenges(request.user, now)
    groups = [
        ("Open challenges", [one for one in listed if is_open(one.challenge, now)]),
        ("Opening later", [one for one in listed if one.challenge.opens_at > now]),
        ("Closed", [one for one in listed if one.challenge.has_closed(now)]),
    ]
    return render(request, "home/home.html", {"groups": [group for group in groups if group[1]], "now": now})


def listed_challenges(user: Any, now: datetime) -> list[ListedChallenge]:
    """Return the challenges that this person can see, by deadline; open ones with the rank of their team."""
    visible = Challenge.objects.listed_for(user)
    teams = Team.objects.filter(challenge=OuterRef("pk"), is_baseline=False).order_by()
    counts = teams.values("challenge").annotate(count=Count("pk")).values("count")
    challenges = (
        visible.annotate(team_count=Coalesce(Subquery(counts), 0))
        .prefetch_related("phases")
        .defer("description", "rules", "data")
        .order_by(F("closes_at").asc(nulls_last=True), "slug")
    )
    memberships = Membership.objects.filter(user=user) if user.is_authenticated else Membership.objects.none()
    own = {one.challenge_id: one.team for one in memberships.select_related("team")}
    phases = {
        one.pk: default_phase(list(one.phases.all()), now) for one in challenges if one.pk in own and is_open(one, now)
    }
    ranks = queries.own_ranks(((phase, own[key].pk) for key, phase in phases.items() if phase), now=now)

    def rank_in(challenge: Challenge) -> int | None:
        phase = phases.get(challenge.pk)
        return ranks.get((phase.pk, own[challenge.pk].pk)) if phase else None

    return [
        ListedChallenge(
            challenge=challenge,
            tracks=", ".join(dict.fromkeys(track_title(phase.track) for phase in challenge.phases.all())),
            visibility="" if challenge.visibility == Challenge.Visibility.PUBLIC else challenge.visibility,
            teams=challenge.team_count,
            own_team=own[challenge.pk].name if challenge.pk in own else "",
            rank=rank_in(challenge),
        )
        for challenge in challenges
    ]


def is_open(challenge: Challenge, now: datetime) -> bool:
    return challenge.opens_at <= now and not challenge.has_closed(now)
