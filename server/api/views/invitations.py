"""API views for invitations to teams and requests to join a team."""

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response
from rest_framework.views import APIView

from server.api.authentication import PersonRequest
from server.api.lookup import challenge_at, own_membership, team_named
from server.api.pagination import Pages, list_response
from server.api.schema import COUNTED, PAGE, WITH_A_BODY, refusals
from server.api.serializers.challenges import MembershipSerializer
from server.api.serializers.inputs import validated
from server.api.serializers.teams import (
    AnswerInput,
    AskInput,
    ClosedSerializer,
    InvitationSerializer,
    InviteInput,
    LinkInput,
    NewInvitationSerializer,
)
from server.challenges.models import Challenge
from server.clock import database_now
from server.teams.models import Invitation
from server.teams.services import invitations

JOINING = ("not_found", "not_a_member", "rules_not_accepted", "registration_closed", "change_refused")
BODY = (*WITH_A_BODY, *COUNTED)


class TeamInvitations(APIView):
    @extend_schema(
        operation_id="invite",
        request=InviteInput,
        responses={
            201: NewInvitationSerializer,
            **refusals("not_found", "not_a_member", "awaiting_approval", "change_refused", *BODY),
        },
    )
    def post(self, request: PersonRequest, slug: str) -> Response:
        """Invite a person to your team. Without a username, a single-use invitation link is created."""
        team = own_membership(request, challenge_at(request, slug)).team
        user = validated(InviteInput, request).get("user")
        if user is not None:
            found, token = invitations.invite(team=team, by=request.user, username=user), None
        else:
            found, token = invitations.invite_by_link(team=team, by=request.user)
        return Response(NewInvitationSerializer.data_of(found, token), status=201)


class OwnInvitations(APIView):
    pagination_class = Pages

    @extend_schema(
        operation_id="list_invitations",
        parameters=[PAGE],
        responses={200: InvitationSerializer(many=True), **refusals("not_found", *COUNTED)},
    )
    def get(self, request: PersonRequest, slug: str) -> Response:
        """List the invitations that you have received and your own requests to join a team, oldest first."""
        own = waiting_in(challenge_at(request, slug)).filter(user=request.user)
        return list_response(own, request, lambda page: InvitationSerializer(page, many=True).data)

    @extend_schema(
        operation_id="request_to_join_team",
        request=AskInput,
        responses={201: InvitationSerializer, **refusals(*JOINING, *BODY)},
    )
    def post(self, request: PersonRequest, slug: str) -> Response:
        """Request to join a team. The captain of the team decides."""
        challenge, given = challenge_at(request, slug), validated(AskInput, request)
        team = team_named(challenge, given["team"])
        found = invitations.ask(user=request.user, team=team, accept_rules=given["accept_rules"])
        return Response(InvitationSerializer(found).data, status=201)


class OneInvitation(APIView):
    @extend_schema(
        operation_id="answer_invitation",
        request=AnswerInput,
        responses={200: ClosedSerializer, **refusals(*JOINING, *BODY)},
    )
    def post(self, request: PersonRequest, slug: str, invitation_id: int) -> Response:
        """Accept or decline an invitation that you have received or, as the captain, a request to join.

        If `accept` is false, this also withdraws your own request or, as the captain, an invitation.
        """
        found = get_object_or_404(waiting_in(challenge_at(request, slug)), pk=invitation_id)
        is_captain = found.team.memberships.filter(user=request.user, is_captain=True).exists()
        if found.user != request.user and not is_captain:
            raise Http404
        given = validated(AnswerInput, request)
        if given["accept"]:
            invitations.accept(invitation=found, by=request.user, accept_rules=given["accept_rules"])
        else:
            invitations.close(invitation=found, by=request.user)
        return Response(ClosedSerializer({"accepted": given["accept"], "team": found.team.name}).data)


class LinkedInvitation(APIView):
    @extend_schema(
        operation_id="accept_invitation_link",
        request=LinkInput,
        responses={200: MembershipSerializer, **refusals(*JOINING, *BODY)},
    )
    def post(self, request: PersonRequest) -> Response:
        """Accept an invitation to a team that was received as a link."""
        member = invitations.accept_link(user=request.user, **validated(LinkInput, request))
        return Response(MembershipSerializer(member).data)


def waiting_in(challenge: Challenge) -> QuerySet[Invitation]:
    found = Invitation.objects.waiting(database_now()).filter(team__challenge=challenge)
    return found.select_related("team__challenge", "user")
