"""API views for the signed results of a phase, and for the public key that verifies them."""

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from server.api.lookup import read_phase_at
from server.api.renderers import Csv
from server.api.schema import COUNTED, refusals
from server.api.serializers.results import ResultsQuery, SignedResultsSerializer, SigningKeySerializer
from server.organize.services.results import download
from server.organize.services.signing_keys import earlier_keys, public_key
from server.submissions.feedback import score_access

FORMAT = OpenApiParameter("format", enum=["json", "csv"], default="json", description="only `json` is signed")


class Results(APIView):
    permission_classes = (AllowAny,)
    renderer_classes = (JSONRenderer, Csv)

    @extend_schema(
        operation_id="read_results",
        parameters=[ResultsQuery, FORMAT],
        responses={
            (200, "application/json"): SignedResultsSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
            **refusals("not_found", "results_not_final", *COUNTED),
        },
    )
    def get(self, request: Request, slug: str, phase: str) -> HttpResponseBase:
        """Download the results of a phase, signed by the server.

        Until the phase is over, only organizers can download them. Results that are not final can be downloaded only
        if `preliminary` is true. `podium verify` checks the file. The signature covers the exact bytes of the file, so
        keep the file unchanged.
        """
        found, read = read_phase_at(request, slug, phase)
        access = score_access(found, viewer=request.user, now=read.now, is_organizer=read.is_organizer)
        is_csv = request.accepted_renderer.format == Csv.format
        query = ResultsQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        preliminary = query.validated_data["preliminary"]
        return download(request, found, access=access, now=read.now, preliminary=preliminary, is_csv=is_csv)


class SigningKey(APIView):
    permission_classes = (AllowAny,)

    @extend_schema(operation_id="read_signing_key", responses={200: SigningKeySerializer, **refusals(*COUNTED)})
    def get(self, request: Request) -> Response:
        """Return the public key with which `podium verify --key` checks the signed results of this server."""
        return Response({"algorithm": "Ed25519", "public_key": public_key(), "earlier_keys": earlier_keys()})
