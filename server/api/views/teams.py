"""API views for the user's own team with its merges, and for the public data of all teams."""

from typing import Any

from django.db import transaction
from django.db.models import Q
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from server.api.authentication import PersonRequest
from server.api.lookup import challenge_at, own_membership, read_challenge_at, team_named
from server.api.schema import COUNTED, WITH_A_BODY, refusals
from server.api.serializers.inputs import validated
from server.api.serializers.teams import (
    ClosedSerializer,
    ConfirmInput,
    MergePreviewSerializer,
    MergeSerializer,
    OwnTeamSerializer,
    ProposeInput,
    PublicTeamSerializer,
    TeamInput,
)
from server.challenges.models import Membership, Team
from server.clock import database_now
from server.leaderboards.team_entries import entries_of_team, has_been_shown
from server.teams.models import Invitation, MergeProposal, TeamProfile
from server.teams.services import members, merging, profiles

MEMBERS = ("not_found", "not_a_member", "awaiting_approval", *COUNTED)
CHANGES = (*MEMBERS, "change_refused", *WITH_A_BODY)
PROFILE = ("method", "paper_url", "code_url")


def team_json(membership: Membership) -> dict[str, Any]:
    """Return the team of a member as a dict with the fields of `OwnTeamSerializer`."""
    team, now = membership.team, database_now()
    proposals = MergeProposal.objects.filter(Q(team=team) | Q(other=team), expires_at__gt=now)
    shown = {
        "id": team.pk,
        "name": team.name,
        "captain": membership.is_captain,
        "members": team.memberships.select_related("user"),
        "invitations": Invitation.objects.waiting(now).filter(team=team).select_related("user", "team"),
        "merges": proposals.select_related("team", "other"),
        **profile_of(team),
    }
    return dict(OwnTeamSerializer(shown).data)


def profile_of(team: Team) -> dict[str, str]:
    found = TeamProfile.objects.filter(team=team).first() or TeamProfile()
    return {name: getattr(found, name) for name in PROFILE}


class OwnTeam(APIView):
    @extend_schema(operation_id="read_team", responses={200: OwnTeamSerializer, **refusals(*MEMBERS)})
    def get(self, request: PersonRequest, slug: str) -> Response:
        """Return your team: members, invitations, requests to join, and proposed merges."""
        return Response(team_json(own_membership(request, challenge_at(request, slug))))

    @extend_schema(
        operation_id="change_team", request=TeamInput, responses={200: OwnTeamSerializer, **refusals(*CHANGES)}
    )
    @transaction.atomic
    def patch(self, request: PersonRequest, slug: str) -> Response:
        """Change your team: its name, captain, and public page.

        Members who are not the captain can change only `shown`, which shows or hides their name on the public page.
        """
        challenge = challenge_at(request, slug)
        own, given = own_membership(request, challenge), validated(TeamInput, request)
        # A new name changes leaderboards, which are locked before any audit entry is written; see `audit.record`.
        if "name" in given:
            profiles.rename(team=own.team, by=request.user, name=given["name"])
        if "shown" in given:
            members.show(team=own.team, by=request.user, shown=given["shown"])
        if not given.keys().isdisjoint(PROFILE):
            values = profile_of(own.team) | {name: given[name] for name in PROFILE if name in given}
            profiles.describe(team=own.team, by=request.user, **values)
        if "captain" in given:
            member = member_named(own.team, given["captain"])
            members.hand_over(team=own.team, user=member.user, by=request.user)
        return Response(team_json(own_membership(request, challenge)))


def member_named(team: Team, username: str) -> Membership:
    return get_object_or_404(team.memberships.select_related("user"), user__username__iexact=username)


class TeamMember(APIView):
    @extend_schema(operation_id="remove_member", responses={204: None, **refusals(*CHANGES)})
    def delete(self, request: PersonRequest, slug: str, username: str) -> Response:
        """Leave your team or, as the captain, remove another member.

        To leave the team, use your own username. A person who leaves a team that has submitted can only return to that
        team.
        """
        team = own_membership(request, challenge_at(request, slug)).team
        member = member_named(team, username)
        if member.user == request.user:
            members.leave(team=team, by=request.user)
        else:
            members.remove(team=team, user=member.user, by=request.user)
        return Response(status=204)


class Merges(APIView):
    @extend_schema(
        operation_id="propose_merge", request=ProposeInput, responses={201: MergeSerializer, **refusals(*CHANGES)}
    )
    def post(self, request: PersonRequest, slug: str) -> Response:
        """Propose to merge another team into yours, as the captain. The captain of the other team decides."""
        challenge = challenge_at(request, slug)
        own = own_membership(request, challenge)
        other = team_named(challenge, validated(ProposeInput, request)["team"])
        return Response(MergeSerializer(merging.propose(team=own.team, other=other, by=request.user)).data, status=201)


class OneMerge(APIView):
    @extend_schema(operation_id="preview_merge", responses={200: MergePreviewSerializer, **refusals(*MEMBERS)})
    def get(self, request: PersonRequest, slug: str, merge_id: int) -> Response:
        """Return a proposed merge that involves your team, and its effects on members, quota and final submissions."""
        own = own_membership(request, challenge_at(request, slug))
        found = proposal_at(own, merge_id)
        preview = merging.preview(found.team, found.other, for_other=own.is_captain and own.team == found.other)
        shown = {name: getattr(found, name) for name in ("id", "team", "other", "created_at", "expires_at")}
        shown |= {"members": preview.size, "use": preview.use, "reasons": preview.reasons}
        return Response(MergePreviewSerializer(shown).data)

    @extend_schema(
        operation_id="decide_merge", request=ConfirmInput, responses={200: ClosedSerializer, **refusals(*CHANGES)}
    )
    def post(self, request: PersonRequest, slug: str, merge_id: int) -> Response:
        """Confirm a proposed merge, or decline or withdraw the proposal.

        Only the captain of the other team can confirm a merge. This cannot be undone.
        """
        own = own_membership(request, challenge_at(request, slug))
        found, confirmed = proposal_at(own, merge_id), validated(ConfirmInput, request)["confirm"]
        if confirmed:
            merging.confirm(proposal=found, by=request.user)
        else:
            merging.close(proposal=found, by=request.user)
        return Response(ClosedSerializer({"accepted": confirmed, "team": found.team.name}).data)


def proposal_at(own: Membership, merge_id: int) -> MergeProposal:
    proposals = MergeProposal.objects.filter(Q(team=own.team) | Q(other=own.team), expires_at__gt=database_now())
    return get_object_or_404(proposals.select_related("team__challenge", "other__challenge"), pk=merge_id)


class PublicTeam(APIView):
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="read_public_team", responses={200: PublicTeamSerializer, **refusals("not_found", *COUNTED)}
    )
    def get(self, request: Request, slug: str, team_id: int) -> Response:
        """Return the public data of a team that is or was on a leaderboard."""
        read = read_challenge_at(request, slug)
        viewer: dict[str, Any] = {"viewer": request.user, "is_organizer": read.is_organizer, "now": read.now}
        team = get_object_or_404(read.challenge.teams, pk=team_id)
        people = list(Membership.objects.filter(team=team).select_related("user"))
        is_own = any(one.user_id == request.user.pk for one in people)
        if not (is_own or read.is_organizer or has_been_shown(team, read.phases, **viewer)):
            raise Http404
        fields = ("id", "name", "is_baseline", "merged_into_id")
        shown = {
            **{name: getattr(team, name) for name in fields},
            "members": [one.user.get_username() for one in people if one.is_shown],
            "members_not_named": sum(not one.is_shown for one in people),
            **profile_of(team),
            "results": entries_of_team(team, read.phases, **viewer),
        }
        return Response(PublicTeamSerializer(shown).data)
