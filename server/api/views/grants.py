"""API views that let organizers grant additional submissions to a team and take them back."""

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response
from rest_framework.views import APIView

from server.accounts.models import ApiToken
from server.api.authentication import PersonRequest
from server.api.lookup import organized_phase_at
from server.api.pagination import Pages, list_response
from server.api.schema import COUNTED, PAGE, WITH_A_BODY, refusals
from server.api.serializers.grants import GrantInput, GrantSerializer, TakeBackInput
from server.api.serializers.inputs import validated
from server.challenges.models import Phase, Team
from server.submissions.models import QuotaGrant
from server.submissions.services import grants, quota

CHANGING = refusals("not_found", "change_refused", *COUNTED, *WITH_A_BODY)


def grants_at(request: PersonRequest, slug: str, phase: str, team_id: int) -> tuple[Phase, Team, QuerySet[QuotaGrant]]:
    """Return a phase, a team of its challenge, and the additional submissions granted to the team in this phase.

    Raises Http404 if the phase or the team does not exist.
    """
    found = organized_phase_at(request, slug, phase)
    team = get_object_or_404(Team, pk=team_id, challenge=found.challenge_id)
    return found, team, quota.grants_of(team=team, phase=found)


class Grants(APIView):
    scope = ApiToken.Scope.ORGANIZE
    pagination_class = Pages

    @extend_schema(
        operation_id="list_grants",
        parameters=[PAGE],
        responses={200: GrantSerializer(many=True), **refusals("not_found", *COUNTED)},
    )
    def get(self, request: PersonRequest, slug: str, phase: str, team_id: int) -> Response:
        """List the grants of additional submissions to a team in a phase, oldest first. For organizers."""
        given = grants_at(request, slug, phase, team_id)[2]
        return list_response(given, request, lambda page: GrantSerializer(page, many=True).data)

    @extend_schema(operation_id="grant_submissions", request=GrantInput, responses={201: GrantSerializer, **CHANGING})
    def post(self, request: PersonRequest, slug: str, phase: str, team_id: int) -> Response:
        """Grant additional submissions to a team in a phase, for one day or in total. For organizers."""
        found, team, _ = grants_at(request, slug, phase, team_id)
        given = grants.grant(phase=found, team=team, by=request.user, **validated(GrantInput, request))
        return Response(GrantSerializer(given).data, status=201)


class TakeBack(APIView):
    scope = ApiToken.Scope.ORGANIZE

    @extend_schema(operation_id="take_back_grant", request=TakeBackInput, responses={200: GrantSerializer, **CHANGING})
    def post(self, request: PersonRequest, slug: str, phase: str, team_id: int, grant_id: int) -> Response:
        """Take back the unused additional submissions of a grant. For organizers.

        If none are left, nothing changes, and the request is rejected with the error code `change_refused`.
        """
        given = grants_at(request, slug, phase, team_id)[2]
        found = get_object_or_404(given.select_related("phase__challenge"), pk=grant_id)
        grants.take_back(grant=found, by=request.user, **validated(TakeBackInput, request))
        return Response(GrantSerializer(given.get(pk=grant_id)).data)
