"""API views for challenges, memberships and quota."""

from pathlib import Path
from typing import Any

from django.db.models import prefetch_related_objects
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import SAFE_METHODS, AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluator.bundle import InvalidBundle
from server.accounts.models import ApiToken
from server.api.authentication import PersonRequest
from server.api.lookup import challenge_at, organized_challenge_at, own_team, phase_at
from server.api.pagination import Pages, list_response
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
from server.api.serializers.inputs import validated
from server.api.serializers.organizing import BundleInput, ImportedSerializer
from server.challenges.approval import approve, decline, enter
from server.challenges.models import Challenge, JoinRequest
from server.challenges.reading import membership_of
from server.clock import database_now
from server.errors import Refused
from server.organize.services import bundle_uploads
from server.organize.services.consent import Consent
from server.submissions.services import admission, quota, retention

JOINING = ("not_found", "not_a_member", "rules_not_accepted", "registration_closed")
MEMBERS_ONLY = ("not_found", "not_a_member", "awaiting_approval")


class ChallengeList(APIView):
    parser_classes = (MultiPartParser,)
    pagination_class = Pages

    def get_permissions(self) -> Any:
        return [AllowAny()] if self.request.method in SAFE_METHODS else super().get_permissions()

    @property
    def scope(self) -> str:
        return ApiToken.Scope.READ if self.request.method in SAFE_METHODS else ApiToken.Scope.ORGANIZE

    @extend_schema(
        operation_id="list_challenges",
        parameters=[PAGE],
        responses={200: ChallengeSerializer(many=True), **refusals("not_found", *COUNTED)},
    )
    def get(self, request: Request) -> Response:
        """List public challenges, and those that you have joined or organize, newest first."""
        listed = Challenge.objects.listed_for(request.user).prefetch_related("phases__truths")
        context = {"now": database_now()}
        return list_response(listed, request, lambda page: ChallengeSerializer(page, many=True, context=context).data)

    @extend_schema(
        operation_id="import_challenge",
        request={"multipart/form-data": BundleInput},
        responses={201: ImportedSerializer, **refusals("no_space", *COUNTED, *WITH_A_BODY)},
    )
    def post(self, request: PersonRequest) -> Response:
        """Import a bundle, which creates a challenge or changes an existing one. For organizers and staff.

        If the bundle has errors, nothing is imported, and `faults` lists all errors.
        """
        bundle_uploads.require_may_import(request.user)
        admission.take_account_slot(request.user)
        given = validated(BundleInput, request)
        consent = Consent(reveal=given["reveal"], force=given["force"])
        file = given["file"]
        try:
            imported = bundle_uploads.import_upload(
                path=Path(file.temporary_file_path()),
                name=file.name,
                by=request.user,
                strict=given["strict"],
                consent=consent,
            )
        except InvalidBundle as error:
            raise Refused(
                "invalid",
                f"{error}. Nothing was imported. The first error: {error.problems[0].message}",
                faults=[problem.as_dict() for problem in error.problems],
                warnings=[problem.as_dict() for problem in error.warnings],
            ) from error
        return Response(ImportedSerializer(imported).data, status=201)


class ChallengeDetail(APIView):
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="read_challenge",
        responses={200: ChallengeSerializer, **refusals("not_found", *COUNTED)},
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return a challenge with its phases."""
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
            **refusals(*JOINING, *WITH_A_BODY, *COUNTED),
        },
    )
    def post(self, request: PersonRequest, slug: str) -> Response:
        """Accept the rules of a challenge and join it with a new team.

        If you are already a member, nothing changes, and the status is 200. If the organizers have to approve
        new members, the status is 202 until they have approved your request.
        """
        challenge = challenge_at(request, slug)
        given = validated(JoinInput, request)
        known = membership_of(request.user, challenge)
        joined = known or enter(
            user=request.user,
            challenge=challenge,
            accept_rules=given["accept_rules"],
            team_name=given.get("team", ""),
        )
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
        """List the open and declined requests to join a challenge, oldest first. For organizers."""
        requests = organized_challenge_at(request, slug).join_requests.select_related("user")
        return list_response(requests, request, lambda page: JoinRequestSerializer(page, many=True).data)


class Decision(APIView):
    scope = ApiToken.Scope.ORGANIZE

    @extend_schema(
        operation_id="decide_join_request",
        request=DecisionInput,
        responses={200: DecisionSerializer, **refusals("not_found", *WITH_A_BODY, *COUNTED)},
    )
    def post(self, request: PersonRequest, slug: str, request_id: int) -> Response:
        """Approve or decline a request to join a challenge. For organizers."""
        challenge = organized_challenge_at(request, slug)
        approved = validated(DecisionInput, request)["approve"]
        found = get_object_or_404(challenge.join_requests, pk=request_id)
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
        """List all changes to your team's quota in a phase, newest first."""
        found = phase_at(request, slug, phase)
        changes = quota.statement(team=own_team(request, found), phase=found)
        return list_response(changes, request, lambda page: StatementLineSerializer(page, many=True).data)


class Quota(APIView):
    @extend_schema(
        operation_id="read_quota",
        responses={200: QuotaSerializer, **refusals(*MEMBERS_ONLY, *COUNTED)},
    )
    def get(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """Return how many submissions your team has left in a phase, and when you can submit next."""
        found = phase_at(request, slug, phase)
        team = own_team(request, found)
        state = quota.state(team=team, phase=found, now=database_now())
        return Response(QuotaSerializer(state, context={"share": retention.storage_use(team)}).data)
