"""The front page: the list of challenges, and invitations to teams."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, FilteredRelation, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from server.challenges.models import Challenge, Phase
from server.challenges.team_counts import team_counts
from server.challenges.visibility import Viewer
from server.clock import DatabaseNow, database_now
from server.compiled_queries import compiled_query, set_related
from server.leaderboards.present_ranks import own_ranks
from server.organize.services import bundle_uploads
from server.pages.challenge_context import default_phase, track_title
from server.teams.models import Invitation


@dataclass(frozen=True, slots=True)
class ListedChallenge:
    """A challenge on the front page, with the viewer's team and its rank.

    `visibility` is empty for a public challenge.
    """

    challenge: Challenge
    tracks: str
    visibility: str
    teams: int
    own_team: str
    rank: int | None


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    challenges = read_challenges(request.user)
    now = challenges[0].now if challenges else database_now()
    listed = listed_challenges(challenges, now)
    groups = [
        ("Open challenges", [one for one in listed if is_open(one.challenge, now)]),
        ("Opening later", [one for one in listed if one.challenge.opens_at > now]),
        ("Closed", [one for one in listed if one.challenge.has_closed(now)]),
    ]
    context = {
        "now": now,
        "may_import": bundle_uploads.may_import(request.user),
        "groups": [group for group in groups if group[1]],
        "invitations": invitations_of(user=request.user.pk, now=now) if request.user.is_authenticated else [],
    }
    return render(request, "home/home.html", context)


@compiled_query
def invitations_of(*, user: int, now: datetime) -> QuerySet[Invitation]:
    """Return the open invitations to teams that a user has received by username, not by link."""
    waiting = Invitation.objects.waiting(now).filter(user=user, kind=Invitation.Kind.PERSON)
    return waiting.select_related("team__challenge")


def read_challenges(user: Any) -> list[Any]:
    """Return the challenges on a user's front page with their phases, sorted by deadline."""
    challenges = challenges_with_teams(user=user.pk, is_staff=user.is_staff)
    set_related(challenges, "phases", phases_of(challenges=[one.pk for one in challenges]), by="challenge")
    return challenges


def listed_challenges(challenges: list[Any], now: datetime) -> list[ListedChallenge]:
    """Return the rows in the list of challenges. Rows of open challenges include the rank of the user's team."""
    # The query sets the attribute `own` only for challenges in which the user has a team.
    own = {one.pk: one.own.team for one in challenges if hasattr(one, "own")}
    joined = [one for one in challenges if one.pk in own and is_open(one, now)]
    phases = {one.pk: default_phase(list(one.phases.all()), now) for one in joined}
    teams = team_counts(one.pk for one in challenges)
    ranks = own_ranks([(phase, own[key].pk) for key, phase in phases.items() if phase], now=now)

    def rank_in(challenge: Challenge) -> int | None:
        phase = phases.get(challenge.pk)
        return ranks.get((phase.pk, own[challenge.pk].pk)) if phase else None

    return [
        ListedChallenge(
            challenge=challenge,
            tracks=", ".join(dict.fromkeys(track_title(phase.track) for phase in challenge.phases.all())),
            visibility="" if challenge.visibility == Challenge.Visibility.PUBLIC else challenge.visibility,
            teams=teams[challenge.pk],
            own_team=own[challenge.pk].name if challenge.pk in own else "",
            rank=rank_in(challenge),
        )
        for challenge in challenges
    ]


@compiled_query
def challenges_with_teams(*, user: int | None, is_staff: bool) -> QuerySet[Any]:
    """Return the challenges on a user's front page, sorted by deadline.

    Each challenge has two more attributes: `own` is the user's membership with its team, if there is one, and `now` is
    the current time according to the database.
    """
    listed = Challenge.objects.listed_for(Viewer(user, is_staff)).defer("description", "rules", "data")
    if user is not None:
        own = FilteredRelation("memberships", condition=Q(memberships__user=user))
        listed = listed.annotate(own=own).select_related("own__team")  # type: ignore[misc]  # `own` is no field
    return listed.annotate(now=DatabaseNow()).order_by(F("closes_at").asc(nulls_last=True), "slug")


@compiled_query
def phases_of(*, challenges: list[int]) -> QuerySet[Phase]:
    return Phase.objects.filter(challenge__in=challenges)


def is_open(challenge: Challenge, now: datetime) -> bool:
    return challenge.opens_at <= now and not challenge.has_closed(now)
