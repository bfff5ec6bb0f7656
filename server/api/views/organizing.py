"""What organizers do to a phase: add a truth, see what it would change, and put it into effect."""

from pathlib import Path
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from server.accounts.models import ApiToken
from server.api.authentication import PersonRequest
from server.api.lookup import organized_phase_at
from server.api.schema import COUNTED, WITH_A_BODY, refusals
from server.api.serializers.inputs import Input
from server.api.serializers.organizing import (
    ApplyInput,
    RescoreInput,
    RescoringSerializer,
    TruthInput,
    TruthSerializer,
)
from server.challenges.models import Phase
from server.errors import Refused
from server.organize.models import Rescoring
from server.organize.services import rescoring, truths
from server.organize.services.bundles import InvalidBundle
from server.submissions.services import admission

READING = refusals("not_found", *COUNTED)
APPLYING = refusals("not_found", "rescoring_unfinished", "rescoring_loses", *COUNTED, *WITH_A_BODY)


def given(kind: type[Input], request: Request) -> dict[str, Any]:
    asked = kind(data=request.data)
    asked.is_valid(raise_exception=True)
    return dict(asked.validated_data)


def begun_of(phase: Phase) -> Rescoring:
    """The rescoring that waits to be applied, else the last one."""
    found = phase.rescorings.select_related("truth", "phase")
    begun = found.filter(applied_at=None).first() or found.first()
    if begun is None:
        raise Http404
    return begun


class Truths(APIView):
    scope = ApiToken.Scope.ORGANIZE
    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="add_truth",
        request={"multipart/form-data": TruthInput},
        responses={201: TruthSerializer, **refusals("not_found", "no_space", *COUNTED, *WITH_A_BODY)},
    )
    def post(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """Add a version of the truth. It is checked now, and not used before a rescoring with it is applied."""
        found = organized_phase_at(request, slug, phase)
        admission.take_account_slot(request.user)
        file = given(TruthInput, request)["file"]
        try:
            truth = truths.add(phase=found, path=Path(file.temporary_file_path()), by=request.user)
        except InvalidBundle as error:
            faults = [problem.as_dict() for problem in error.problems]
            first = error.problems[0].message
            raise Refused("invalid", f"This truth cannot be used: {first}", faults=faults) from error
        return Response(TruthSerializer(truth).data, status=201)


class Rescore(APIView):
    scope = ApiToken.Scope.ORGANIZE

    @extend_schema(operation_id="read_rescoring", responses={200: RescoringSerializer, **READING})
    def get(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """How far the last rescoring is, and what it would change."""
        return Response(RescoringSerializer(begun_of(organized_phase_at(request, slug, phase))).data)

    @extend_schema(operation_id="rescore", request=RescoreInput, responses={200: RescoringSerializer, **APPLYING})
    def post(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """Score everything against the newest truth, beside the boards; again to see how far it is."""
        found = organized_phase_at(request, slug, phase)
        preview = given(RescoreInput, request)["preview"]
        begun = rescoring.start(phase=found, by=request.user)
        if not preview:
            rescoring.apply(rescoring=begun, by=request.user)
        return Response(RescoringSerializer(begun_of(found)).data)


class Apply(APIView):
    scope = ApiToken.Scope.ORGANIZE

    @extend_schema(operation_id="apply_rescoring", request=ApplyInput, responses={200: RescoringSerializer, **APPLYING})
    def post(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """Switch the boards to the new scores, at one instant."""
        found = organized_phase_at(request, slug, phase)
        without = given(ApplyInput, request)["without_unscorable"]
        rescoring.apply(rescoring=begun_of(found), by=request.user, without_unscorable=without)
        return Response(RescoringSerializer(begun_of(found)).data)
