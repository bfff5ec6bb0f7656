"""Challenges: list, read, join, and what one's team may still submit."""

from typing import Any

from django.db.models import prefetch_related_objects
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from server.accounts.models import ApiToken
from server.api.authentication import PersonRequest
from server.api.lookup import challenge_at, organized_challenge_at, own_team, phase_at
from server.api.pagination import Pages
from server.api.schema import COUNTED, PAGE, WITH_A_BODY, refusals
from server.api.serializers.challenges import (
    ChallengeSerializer,
    DecisionInput,
    DecisionSerializer,
    JoinInput,
    JoinRequestSerializer,
    MembershipSerializer,
    QuotaSerializer,
    StatementLineSerializer,
)
from server.challenges.approval import approve, decline, enter
from server.challenges.models import Challenge, JoinRequest
from server.challenges.services import membership_of
from server.clock import database_now
from server.submissions.services import keeping, quota

JOINING = ("not_found", "not_a_member", "rules_not_accepted", "registration_closed")
MEMBERS_ONLY = ("not_found", "not_a_member", "awaiting_approval")


class ChallengeList(APIView):
    permission_classes = (AllowAny,)
    pagination_class = Pages

    @extend_schema(
        operation_id="list_challenges",
        parameters=[PAGE],
        responses={200: ChallengeSerializer(many=True), **refusals("not_found", *COUNTED)},
    )
    def get(self, request: Request) -> Response:
        """Public challenges, and those you take part in or organize, newest first."""
        pages = Pages()
        listed = Challenge.objects.listed_for(request.user).prefetch_related("phases__truths")
        page = pages.paginate_queryset(listed, request, view=self) or []
        shapes = ChallengeSerializer(page, many=True, context={"now": database_now()})
        return pages.get_paginated_response(shapes.data)


class ChallengeDetail(APIView):
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="read_challenge",
        responses={200: ChallengeSerializer, **refusals("not_found", *COUNTED)},
    )
    def get(self, request: Request, slug: str) -> Response:
        """One challenge with its phases."""
        challenge = challenge_at(request, slug)
        prefetch_related_objects([challenge], "phases__truths")
        return Response(ChallengeSerializer(challenge, context={"now": database_now()}).data)


class Join(APIView):
    @extend_schema(
        operation_id="join_challenge",
        request=JoinInput,
        responses={
            200: MembershipSerializer,
            201: MembershipSerializer,
            202: JoinRequestSerializer,
            **refusals(
                "not_found", "not_a_member", "rules_not_accepted", "registration_closed", *WITH_A_BODY, *COUNTED
            ),
        },
    )
    def post(self, request: PersonRequest, slug: str) -> Response:
        """Take part: accept the rules and become a team of one. A member gets 200 and stays as they are.

        Where organizers approve whoever joins, the answer is 202 until they have.
        """
        challenge = challenge_at(request, slug)
        given = JoinInput(data=request.data)
        given.is_valid(raise_exception=True)
        accepts, team = given.validated_data["accept_rules"], given.validated_data.get("team", "")
        known = membership_of(request.user, challenge)
        joined = known or enter(user=request.user, challenge=challenge, accept_rules=accepts, team_name=team)
        if isinstance(joined, JoinRequest):
            return Response(JoinRequestSerializer(joined).data, status=202)
        return Response(MembershipSerializer(joined).data, status=200 if known else 201)


class JoinRequests(APIView):
    scope = ApiToken.Scope.ORGANIZE
    pagination_class = Pages

    @extend_schema(
        operation_id="list_join_requests",
        parameters=[PAGE],
        responses={200: JoinRequestSerializer(many=True), **refusals("not_found", *COUNTED)},
    )
    def get(self, request: PersonRequest, slug: str) -> Response:
        """Waiting and declined requests to join, oldest first. For organizers."""
        requests, pages = organized_challenge_at(request, slug).join_requests.select_related("user"), Pages()
        page: Any = pages.paginate_queryset(requests, request, view=self) or []
        return pages.get_paginated_response(JoinRequestSerializer(page, many=True).data)


class Decision(APIView):
    scope = ApiToken.Scope.ORGANIZE

    @extend_schema(
        operation_id="decide_join_request",
        request=DecisionInput,
        responses={200: DecisionSerializer, **refusals("not_found", *WITH_A_BODY, *COUNTED)},
    )
    def post(self, request: PersonRequest, slug: str, request_id: int) -> Response:
        """Approve a request to join, or decline it. For organizers."""
        challenge = organized_challenge_at(request, slug)
        given = DecisionInput(data=request.data)
        given.is_valid(raise_exception=True)
        found = get_object_or_404(challenge.join_requests, pk=request_id)
        approved = given.validated_data["approve"]
        (approve if approved else decline)(request=found, by=request.user)
        return Response(DecisionSerializer({"user": found.user.get_username(), "approved": approved}).data)


class Statement(APIView):
    pagination_class = Pages

    @extend_schema(
        operation_id="read_statement",
        parameters=[PAGE],
        responses={
            200: StatementLineSerializer(many=True),
            **refusals(*MEMBERS_ONLY, *COUNTED),
        },
    )
    def get(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """All changes to your team's quota, newest first."""
        found, pages = phase_at(request, slug, phase), Pages()
        lines = quota.statement(team=own_team(request, found), phase=found)
        page: Any = pages.paginate_queryset(lines, request, view=self) or []
        return pages.get_paginated_response(StatementLineSerializer(page, many=True).data)


class Quota(APIView):
    @extend_schema(
        operation_id="read_quota",
        responses={200: QuotaSerializer, **refusals(*MEMBERS_ONLY, *COUNTED)},
    )
    def get(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """How many submissions your team has left in this phase, and when the next one is allowed."""
        found = phase_at(request, slug, phase)
        team = own_team(request, found)
        state = quota.state(team=team, phase=found, now=database_now())
        return Response(QuotaSerializer(state, context={"share": keeping.share_of(team)}).data)
