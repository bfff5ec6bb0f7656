"""API views that let organizers manage the ground truths and rescorings of a phase, and export a challenge."""

from pathlib import Path

from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluator.bundle import InvalidBundle
from evaluator.problems import Problem
from server.accounts.models import ApiToken
from server.api.authentication import PersonRequest
from server.api.lookup import organized_challenge_at, organized_phase_at, phase_at
from server.api.pagination import Pages, list_response
from server.api.schema import COUNTED, PAGE, WITH_A_BODY, refusals
from server.api.serializers.inputs import validated
from server.api.serializers.organizing import (
    AddedTruthSerializer,
    ApplyInput,
    BoardsSerializer,
    ChangeLogSerializer,
    NothingInput,
    RescoreInput,
    RescoringSerializer,
    TruthInput,
    TruthSerializer,
)
from server.challenges.models import Phase
from server.errors import Refused
from server.organize.models import Rescoring
from server.organize.services import applying, change_log, exporting, rescoring, truths
from server.submissions.services import admission

READING = refusals("not_found", *COUNTED)
APPLYING = refusals(
    *("not_found", "rescoring_unfinished", "rescoring_loses", "rescoring_outdated", "gate_not_green", "change_refused"),
    *(*COUNTED, *WITH_A_BODY),
)


def latest(phase: Phase) -> Rescoring:
    """Return the open rescoring of a phase or, if there is none, its most recent rescoring.

    A rescoring scores all submissions to the phase again. It is open until it is applied or discarded. Raises Http404
    if the phase has no rescoring.
    """
    found = rescoring.open_rescoring(phase) or phase.rescorings.first()
    if found is None:
        raise Http404
    return found


def rescoring_response(one: Rescoring) -> Response:
    """Return a response with the current state of a rescoring, which scores all submissions to a phase again."""
    return Response(RescoringSerializer(rescoring.reload(one)).data)


class Truths(APIView):
    scope = ApiToken.Scope.ORGANIZE
    parser_classes = (MultiPartParser,)
    pagination_class = Pages

    @extend_schema(
        operation_id="list_truths", parameters=[PAGE], responses={200: TruthSerializer(many=True), **READING}
    )
    def get(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """List all versions of a phase's ground truth, newest first."""
        truths_of_phase = organized_phase_at(request, slug, phase).truths.all()
        return list_response(truths_of_phase, request, lambda page: TruthSerializer(page, many=True).data)

    @extend_schema(
        operation_id="add_truth",
        request={"multipart/form-data": TruthInput},
        responses={201: AddedTruthSerializer, **refusals("not_found", "no_space", *COUNTED, *WITH_A_BODY)},
    )
    def post(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """Add a version of a phase's ground truth.

        The version is checked immediately. Leaderboards do not use it until a rescoring against it is applied.
        """
        found = organized_phase_at(request, slug, phase)
        admission.take_account_slot(request.user)
        sent = validated(TruthInput, request)
        warnings: list[Problem] = []
        try:
            truth = truths.add(
                phase=found,
                path=Path(sent["file"].temporary_file_path()),
                by=request.user,
                warn=warnings.append,
                reveal=sent["reveal"],
            )
        except InvalidBundle as error:
            faults = [problem.as_dict() for problem in error.problems]
            first = error.problems[0].message
            raise Refused("invalid", f"This ground truth cannot be used: {first}", faults=faults) from error
        problems = [warning.as_dict() for warning in warnings]
        return Response({**TruthSerializer(truth).data, "warnings": problems}, status=201)


class Rescore(APIView):
    scope = ApiToken.Scope.ORGANIZE

    @extend_schema(operation_id="read_rescoring", responses={200: RescoringSerializer, **READING})
    def get(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """Return the progress of a phase's most recent rescoring, and its changes to the leaderboards."""
        return rescoring_response(latest(organized_phase_at(request, slug, phase)))

    @extend_schema(operation_id="rescore", request=RescoreInput, responses={200: RescoringSerializer, **APPLYING})
    def post(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """Start a rescoring of all submissions to a phase against a version of the ground truth.

        The leaderboards do not change until the rescoring is applied, unless `preview` is false. A GET request returns
        the progress.
        """
        found = organized_phase_at(request, slug, phase)
        asked = validated(RescoreInput, request)
        truth = rescoring.version_of(found, asked["truth"]) if "truth" in asked else None
        consent = {name: asked[name] for name in ("reveal", "retry")}
        begun = rescoring.start(phase=found, by=request.user, truth=truth, **consent)
        if not asked["preview"]:
            applying.apply(found=begun, by=request.user, confirm=asked["confirm"])
        return rescoring_response(begun)


class Apply(APIView):
    scope = ApiToken.Scope.ORGANIZE

    @extend_schema(operation_id="apply_rescoring", request=ApplyInput, responses={200: RescoringSerializer, **APPLYING})
    def post(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """Apply the open rescoring of a phase. All leaderboards change to the new scores at the same time.

        If private images would become public, an owner must confirm this with the short name of the phase. If no
        rescoring is open, and the most recent rescoring was applied without a reason, the reason in the request is
        saved for it.
        """
        found = organized_phase_at(request, slug, phase)
        given = validated(ApplyInput, request)
        explanation = {name: given.pop(name) for name in ("reason", "signed")}
        begun, version = latest(found), given.pop("truth", None)
        if begun.applied_at is not None and (begun.reason or not explanation["reason"]):
            raise Refused("change_refused", "No rescoring is in progress. Start a rescoring first.")
        if begun.applied_at is None:
            applying.seen_rescoring(found, version)
        change_log.explain(found=begun, by=request.user, **explanation)
        if begun.applied_at is None:
            begun = applying.apply(found=begun, by=request.user, **given)
        return rescoring_response(begun)


class Discard(APIView):
    scope = ApiToken.Scope.ORGANIZE

    @extend_schema(
        operation_id="discard_rescoring",
        request=NothingInput,
        responses={200: BoardsSerializer, **refusals("not_found", *COUNTED, *WITH_A_BODY)},
    )
    def post(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """Discard the open rescoring of a phase. The leaderboards do not change."""
        found = organized_phase_at(request, slug, phase)
        validated(NothingInput, request)
        rescoring.discard(phase=found, by=request.user)
        return Response(BoardsSerializer(Phase.objects.get(pk=found.pk)).data)


class Export(APIView):
    scope = ApiToken.Scope.ORGANIZE

    @extend_schema(
        operation_id="export_challenge",
        request=NothingInput,
        responses={(200, "application/zip"): OpenApiTypes.BINARY, **refusals("not_found", *COUNTED, *WITH_A_BODY)},
    )
    def post(self, request: PersonRequest, slug: str) -> FileResponse:
        """Download a challenge as a bundle. The bundle contains the ground truths and the salts, so keep it secret."""
        challenge = organized_challenge_at(request, slug, archived=True)
        validated(NothingInput, request)
        return exporting.export_response(challenge=challenge, by=request.user)


class Changes(APIView):
    permission_classes = (AllowAny,)
    pagination_class = Pages

    @extend_schema(
        operation_id="list_changes", parameters=[PAGE], responses={200: ChangeLogSerializer(many=True), **READING}
    )
    def get(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """List the changes to the ground truth of a phase, newest first.

        To read a leaderboard as it was before a change, request the leaderboard with the parameter `at`.
        """
        changes = change_log.applied(phase_at(request, slug, phase))
        return list_response(changes, request, lambda page: ChangeLogSerializer(page, many=True).data)
