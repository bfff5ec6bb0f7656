"""API views that let organizers add baselines to a phase, remove them from the leaderboards and put them back."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response
from rest_framework.views import APIView

from server.accounts.models import ApiToken
from server.api.authentication import PersonRequest
from server.api.lookup import organized_phase_at
from server.api.pagination import Pages, list_response
from server.api.schema import COUNTED, PAGE, WITH_A_BODY, refusals
from server.api.serializers.baselines import BaselineInput, BaselineSerializer
from server.api.serializers.inputs import validated
from server.api.serializers.organizing import NothingInput
from server.challenges import disqualification
from server.challenges.models import Phase
from server.clock import database_now
from server.leaderboards.standings import standings
from server.organize.services import own_baselines
from server.submissions.feedback import score_access
from server.submissions.models import Submission
from server.submissions.services import admission

CHANGING = refusals("not_found", *COUNTED, *WITH_A_BODY)


def serialized(submissions: Sequence[Submission], phase: Phase, request: PersonRequest) -> list[dict[str, Any]]:
    """Return the JSON data of baselines for an organizer. `submissions` has the latest submission of each baseline."""
    now = database_now()
    access = score_access(phase, viewer=request.user, now=now, is_organizer=True)
    context = {"access": access, "standings": standings(phase, submissions, now=now)}
    return list(BaselineSerializer(submissions, many=True, context=context).data)


def baseline_at(request: PersonRequest, slug: str, phase: str, team_id: int) -> tuple[Phase, Submission]:
    """Return a phase and a baseline's latest submission to the phase. Raises Http404 if there is no submission."""
    found = organized_phase_at(request, slug, phase)
    return found, latest_of(found, team_id)


def latest_of(phase: Phase, team_id: int) -> Submission:
    submission = next((one for one in own_baselines.latest(phase) if one.team_id == team_id), None)
    if submission is None:
        raise Http404
    return submission


class Baselines(APIView):
    scope = ApiToken.Scope.ORGANIZE
    parser_classes = (MultiPartParser,)
    pagination_class = Pages

    @extend_schema(
        operation_id="list_baselines",
        parameters=[PAGE],
        responses={200: BaselineSerializer(many=True), **refusals("not_found", *COUNTED)},
    )
    def get(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """List the baselines of a phase by name, with the latest submission of each. For organizers.

        The list includes baselines that were removed from the leaderboards.
        """
        found = organized_phase_at(request, slug, phase)
        return list_response(own_baselines.latest(found), request, lambda page: serialized(page, found, request))

    @extend_schema(
        operation_id="add_baseline",
        request={"multipart/form-data": BaselineInput},
        responses={201: BaselineSerializer, **refusals("not_found", "no_space", *COUNTED, *WITH_A_BODY)},
    )
    def post(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """Submit a file for a baseline. It gets a score on the leaderboards, but no rank. For organizers."""
        found = organized_phase_at(request, slug, phase)
        admission.take_account_slot(request.user)
        submission = own_baselines.add(phase=found, by=request.user, **validated(BaselineInput, request))
        return Response(serialized([latest_of(found, submission.team_id)], found, request)[0], status=201)


class RemoveBaseline(APIView):
    scope = ApiToken.Scope.ORGANIZE

    @extend_schema(
        operation_id="remove_baseline", request=NothingInput, responses={200: BaselineSerializer, **CHANGING}
    )
    def post(self, request: PersonRequest, slug: str, phase: str, team_id: int) -> Response:
        """Remove a baseline from all leaderboards of the challenge. For organizers.

        Its files and scores are kept, so that it can be put back.
        """
        found, submission = baseline_at(request, slug, phase, team_id)
        validated(NothingInput, request)
        submission.team = disqualification.remove_baseline(team=submission.team, by=request.user)
        return Response(serialized([submission], found, request)[0])


class PutBackBaseline(APIView):
    scope = ApiToken.Scope.ORGANIZE

    @extend_schema(
        operation_id="put_back_baseline", request=NothingInput, responses={200: BaselineSerializer, **CHANGING}
    )
    def post(self, request: PersonRequest, slug: str, phase: str, team_id: int) -> Response:
        """Put a removed baseline back on the leaderboards. For organizers."""
        found, submission = baseline_at(request, slug, phase, team_id)
        validated(NothingInput, request)
        submission.team = disqualification.put_back_baseline(team=submission.team, by=request.user)
        return Response(serialized([submission], found, request)[0])
